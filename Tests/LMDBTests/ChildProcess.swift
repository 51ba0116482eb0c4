import Foundation
import Glibc
import Testing

/// Another process that uses a store: the `lmdb-child` program beside the tests.
final class ChildProcess {
    private let process = Process()
    private let output = Pipe()
    private var pending: [UInt8] = []

    init(_ command: String, _ store: TemporaryStore, _ number: Int? = nil) throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = products.appendingPathComponent("lmdb-child")
        process.arguments = [command, store.path] + (number.map { ["\($0)"] } ?? [])
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.environment = ["SWIFT_BACKTRACE": "enable=no"]
        try process.run()
    }

    deinit {
        if process.isRunning { kill() }
    }

    var processID: Int32 { process.processIdentifier }

    /// The next line it prints, or nil at the end of its output.
    func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return line
            }
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { return nil }
            pending += bytes
        }
    }

    /// All remaining lines.
    func lines() -> [String] {
        var lines: [String] = []
        while let next = line() { lines.append(next) }
        process.waitUntilExit()
        return lines
    }

    /// Whether a signal ended it.
    var wasSignalled: Bool {
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal
    }

    var hasEnded: Bool { !process.isRunning }

    func stop() { Glibc.kill(processID, SIGSTOP) }

    func resume() { Glibc.kill(processID, SIGCONT) }

    func kill() {
        Glibc.kill(processID, SIGKILL)
        process.waitUntilExit()
    }
}
