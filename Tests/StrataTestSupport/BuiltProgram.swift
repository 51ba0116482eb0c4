public import Foundation

/// A program of this package, run as a user would run it.
public struct BuiltProgram: Sendable {
    public struct Result: Equatable, Sendable {
        public var output: String
        public var error: String
        public var exitCode: Int32

        public init(output: String, error: String, exitCode: Int32) {
            self.output = output
            self.error = error
            self.exitCode = exitCode
        }
    }

    public let url: URL

    /// The program of this name in the folder `STRATA_PROGRAMS`, which has those of another build, or else the one that
    /// was built with the tests.
    public init(_ name: String) {
        let bundle = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let others = ProcessInfo.processInfo.environment["STRATA_PROGRAMS"].map { URL(filePath: $0) }
        let directories = [
            others ?? bundle, bundle, Bundle.main.bundleURL,
            Bundle.main.executableURL?.deletingLastPathComponent() ?? bundle,
        ]
        url =
            directories.map { $0.appending(component: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
            ?? bundle.appending(component: name)
    }

    /// Runs it to its end, which comes by SIGKILL when it takes longer than it may; `error` says so.
    public func run(
        _ arguments: [String], environment: [String: String] = [:], limit: Duration? = nil
    ) throws -> Result {
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        let error = Pipe()
        process.standardOutput = output
        process.standardError = error
        let begun = ContinuousClock.now
        try process.run()
        let number = process.processIdentifier
        let end = DispatchWorkItem { kill(number, SIGKILL) }
        if let limit { DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: end) }
        defer { end.cancel() }
        // Both at once: a program that fills the one while the other is read would wait for ever.
        let rest = Later(error.fileHandleForReading)
        let outputBytes = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorBytes = rest.bytes()
        process.waitUntilExit()
        let isKilled = process.terminationReason != .exit && process.terminationStatus == SIGKILL
        let reason = limit.flatMap { isKilled && begun.duration(to: .now) >= $0 ? "It took longer than \($0).\n" : nil }
        return Result(
            output: String(decoding: outputBytes, as: UTF8.self),
            error: (reason ?? "") + String(decoding: errorBytes, as: UTF8.self),
            exitCode: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
    }
}

/// What a pipe holds, read on a thread of its own.
///
/// `data` is written by that thread before it signals, and read after.
public final class Later: @unchecked Sendable {
    private var data = Data()
    private let done = DispatchSemaphore(value: 0)

    public init(_ handle: FileHandle) {
        Thread.detachNewThread { [self] in
            // What cannot be read is missed by the test that compares it.
            data = (try? handle.readToEnd()) ?? Data()
            done.signal()
        }
    }

    /// Waits for the end of it. Once.
    public func bytes() -> Data {
        done.wait()
        return data
    }
}
