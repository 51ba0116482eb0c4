import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A process that saves notes to a store with a shared log until it is killed.
struct RaceNode {
    private let process: Process
    /// A file, because a pipe that nobody reads would stop the process.
    private let output: URL
    /// The same moment by the clock of a history and by that of the processes, in nanoseconds.
    private static let start = (instant: ContinuousClock.now, time: DispatchTime.now().uptimeNanoseconds)

    /// - Parameters:
    ///   - timeout: how long the process tries to reach the log.
    ///   - launcher: a program that starts the process, with its arguments.
    init(
        _ folder: URL, _ address: String, _ lineage: String, timeout: Duration? = nil, through launcher: [String] = []
    ) throws {
        _ = Self.start
        process = Process()
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "race-child").path(percentEncoded: false)
        var words = launcher + [program, folder.path(percentEncoded: false), "0", "100000", address, lineage]
        if let timeout { words.append("\(Int(timeout / .milliseconds(1)))") }
        process.executableURL = URL(filePath: words.removeFirst())
        process.arguments = words
        output = folder.deletingLastPathComponent().appending(path: "output-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
    }

    /// Kills the process, and notes what it has begun, saved and seen.
    func kill(_ number: Int, _ history: inout SharedHistory) {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let text = String(decoding: (try? Data(contentsOf: output)) ?? Data(), as: UTF8.self)
        let end = ContinuousClock.now
        var open: [String: ContinuousClock.Instant] = [:]
        for line in text.split(separator: "\n").map({ $0.split(separator: " ").map(String.init) }) {
            switch (line.first, line.count) {
            case ("begin", 3): open[line[2]] = instant(line[1])
            case ("saved", 3):
                guard let begin = open.removeValue(forKey: line[2]) else { continue }
                history.saves.append(
                    .init(author: line[2], node: number, begin: begin, end: instant(line[1]), outcome: .acknowledged))
            case ("looks", 5):
                guard let transaction = UInt64(line[3]), line[4].count == 64 else { continue }
                history.looks.append(
                    .init(
                        node: number, begin: instant(line[1]), end: instant(line[2]), transaction: transaction,
                        digest: Self.bytes(line[4])))
            default: continue
            }
        }
        for (author, begin) in open {
            history.saves.append(.init(author: author, node: number, begin: begin, end: end, outcome: .unknown))
        }
    }

    private func instant(_ text: String) -> ContinuousClock.Instant {
        Self.start.instant + .nanoseconds(Int64(UInt64(text) ?? 0) - Int64(Self.start.time))
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}

extension SharedHistory {
    /// Opens the stores of processes that have ended, verifies each, and takes the log and what all show at its end.
    mutating func takeEnd(of folders: [URL], _ log: PersistentStoreLog) throws {
        let stores = try folders.map { try RaceWorld.container(at: .url($0), log: log) }
        defer { for store in stores { store.close() } }
        for store in stores {
            try store.catchUp()
            #expect(try store.verify().isSound)
        }
        try take(try log.connection.connect().readAll())
        ends = try stores.map { try $0.store.logPosition().digest }
        views = try stores.map { "\(try RaceWorld.state($0.newBackgroundContext()))" }
    }
}
