import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A writer is killed at random moments; afterwards every save it acknowledged is there, none is there by half, and the
/// views are what the log says.
@Suite(.serialized) struct CrashTests {
    /// 20 kills, or as many as STRATA_KILLS says.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 20
    }

    @Test(arguments: [StoreDurability.full, .relaxed])
    func aKilledWriterLosesNothingItAcknowledged(durability: StoreDurability) throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "strata-crash-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: directory) }
        var generator = SeededGenerator(seed: 7)
        var acknowledged = 0
        for round in 0..<Self.kills / 2 {
            let child = try CrashChild(directory, durability)
            let saves = Int.random(in: 1...12, using: &generator)
            for _ in 0..<saves { acknowledged = try #require(child.acknowledgement(), "round \(round)") }
            usleep(UInt32.random(in: 0...4_000, using: &generator))
            acknowledged = max(acknowledged, child.kill())
            try check(directory, acknowledged, "round \(round)")
        }
    }

    private func check(_ directory: URL, _ acknowledged: Int, _ round: String) throws {
        let store = try Store.open(.directory(directory), model: nil)
        defer { store.close() }
        let numbers = try store.transactions(limit: .max).compactMap { $0.metadata["n"].flatMap { Int($0) } }
        #expect(numbers == Array(1...max(1, numbers.count)), "\(round): the saves are not in order and whole")
        #expect(numbers.count >= acknowledged, "\(round): save \(acknowledged) was acknowledged and is gone")
        #expect(numbers.count <= acknowledged + 1, "\(round): more saves than were begun")
        let report = try store.verify()
        #expect(report.isSound, "\(round): \(report.problems.map(\.description))")
        _ = try store.sweepBlobs()
        #expect(try store.verify().isSound, "\(round): after sweeping")
    }
}

/// The process that saves; it prints the number of each save that has returned.
private final class CrashChild {
    private let process = Process()
    private let output = Pipe()
    private var pending: [UInt8] = []

    init(_ store: URL, _ durability: StoreDurability) throws {
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(component: "store-crash-child")
        process.arguments = [store.path(percentEncoded: false), durability.rawValue]
        process.standardOutput = output
        process.environment = ["SWIFT_BACKTRACE": "enable=no"]
        try process.run()
    }

    /// The next acknowledged number; nil when the process has ended by itself.
    func acknowledgement() -> Int? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let number = Int(String(decoding: pending[..<end], as: UTF8.self))
                pending.removeSubrange(...end)
                return number
            }
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { return nil }
            pending += bytes
        }
    }

    /// Kills it and returns the last number it acknowledged since, or 0.
    func kill() -> Int {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        var last = 0
        while let number = acknowledgement() { last = number }
        return last
    }
}
