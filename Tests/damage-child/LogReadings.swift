import Foundation
import StrataModel
import StrataStore

/// The log of a store, and what verifying the store finds.
struct LogReadings {
    private(set) var parts: [String: String] = [:]

    init(_ directory: URL) throws {
        var options = StoreOptions()
        options.isReadOnly = true
        let location = StoreLocation.directory(directory)
        let store = try Store.open(location, model: nil, options: options)
        defer { store.close() }
        var number: UInt64 = 1
        while true {
            do {
                guard let record = try store.transaction(TransactionNumber(rawValue: number)) else { break }
                var events = 0
                // Each event is held against its checksum.
                try store.events(from: record.firstEvent, through: record.lastEvent) { _ in
                    events += 1
                    return true
                }
                let digest = record.digest.map { String($0, radix: 16) }.joined()
                parts["transaction \(number)"] = "\(events) \(digest)"
            } catch {
                parts["transaction \(number)"] = "error \(error)"
            }
            number += 1
        }
        let report = try store.verify(.full)
        for problem in report.problems {
            parts["problem \(problem.kind.rawValue) \(problem.location)"] = "\(problem)"
        }
    }
}
