import Foundation
import Testing

/// Runs the built program.
enum Tool {
    struct Result: Equatable {
        var output: String
        var error: String
        var exitCode: Int32
    }

    /// Beside the tests themselves.
    private static var program: URL {
        let bundle = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [
            bundle, Bundle.main.bundleURL, Bundle.main.executableURL?.deletingLastPathComponent() ?? bundle,
        ]
        return candidates.map { $0.appending(component: "strata") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
            ?? bundle.appending(component: "strata")
    }

    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Result {
        try run(arguments, environment: environment)
    }

    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Result {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        let error = Pipe()
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let errorBytes = try error.fileHandleForReading.readToEnd() ?? Data()
        let outputBytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            output: String(decoding: outputBytes, as: UTF8.self), error: String(decoding: errorBytes, as: UTF8.self),
            exitCode: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
    }

    /// Runs a line of shell in which `$strata` is the program.
    static func shell(_ line: String) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", line]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["strata": program.path(percentEncoded: false)]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(output: String(decoding: bytes, as: UTF8.self), error: "", exitCode: process.terminationStatus)
    }
}
