import Foundation
import StrataModel
import StrataStore

/// The log of a store, and what verifying the store finds.
struct LogReadings {
    let path: String

    func printAll() throws {
        var options = StoreOptions()
        options.isReadOnly = true
        let location = StoreLocation.directory(URL(filePath: path, directoryHint: .isDirectory))
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
                Output.line("transaction \(number)\t\(events) \(digest)")
            } catch {
                Output.line("transaction \(number)\terror \(error)")
            }
            number += 1
        }
        let report = try store.verify(.full)
        for problem in report.problems {
            Output.line("problem \(problem.kind.rawValue) \(problem.location)\t\(problem)")
        }
    }
}
