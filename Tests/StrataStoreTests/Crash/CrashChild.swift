import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// The process that works; it prints thread and number of each piece of work that is done.
final class CrashChild {
    private let process = Process()
    private let output = Pipe()
    private var pending: [UInt8] = []

    init(_ store: URL, _ durability: StoreDurability, _ work: String) throws {
        process.executableURL = BuiltProgram("store-crash-child").url
        process.arguments = [store.path(percentEncoded: false), durability.rawValue, work]
        process.standardOutput = output
        process.environment = ["SWIFT_BACKTRACE": "enable=no"]
        try process.run()
    }

    /// The next acknowledged number; nil when the process has ended by itself.
    func acknowledgement() -> (thread: Int, number: Int)? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let numbers = String(decoding: pending[..<end], as: UTF8.self).split(separator: " ").compactMap {
                    Int($0)
                }
                pending.removeSubrange(...end)
                return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
            }
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { return nil }
            pending += bytes
        }
    }

    /// Kills it and returns what it acknowledged since.
    func kill() -> [(thread: Int, number: Int)] {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        var lines: [(thread: Int, number: Int)] = []
        while let line = acknowledgement() { lines.append(line) }
        return lines
    }
}

extension Store {
    /// The numbers of the saves of each thread of a `CrashChild`, in the order of the log.
    func savesByThread() throws -> [Int: [Int]] {
        var numbers: [Int: [Int]] = [:]
        for transaction in try transactions(limit: .max) {
            guard let thread = transaction.metadata["t"].flatMap({ Int($0) }),
                let number = transaction.metadata["n"].flatMap({ Int($0) })
            else { continue }
            numbers[thread, default: []].append(number)
        }
        return numbers
    }
}
