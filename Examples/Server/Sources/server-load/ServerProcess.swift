import Foundation
import Synchronization

/// The server as a process, which can be killed and started again on the same port and store.
final class ServerProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let storeURL: URL
    private let webhook: String
    private let state = Mutex(State())

    private struct State {
        var process: Process?
        var port = 0
    }

    init(storeURL: URL, webhook: String) {
        self.storeURL = storeURL
        self.webhook = webhook
    }

    var address: String { "http://127.0.0.1:\(state.withLock(\.port))" }

    /// Starts the server, and returns when it listens.
    ///
    /// - Throws: a failure if it ends instead.
    func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(component: "letseat-server")
        process.arguments = [
            "--store", storeURL.path(percentEncoded: false), "--port", "\(state.withLock(\.port))", "--webhook",
            webhook,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        state.withLock { $0.process = process }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = line.split(separator: ":").last.flatMap({ Int($0.filter(\.isNumber)) }) else {
            throw Failure(description: "The server does not listen: \(line)")
        }
        state.withLock { $0.port = port }
    }

    /// Kills it where it is.
    func kill() {
        guard let process = state.withLock(\.process), process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Has it end what it has begun.
    ///
    /// - Returns: its status.
    func end() -> Int32 {
        guard let process = state.withLock(\.process) else { return 0 }
        process.terminate()
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }
}
