import Foundation
import StrataTestSupport
import Testing

/// Runs the built program.
enum Tool {
    struct Result: Equatable {
        var output: String
        var error: String
        var exitCode: Int32
    }

    static let program = BuiltProgram("strata")

    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Result {
        try run(arguments, environment: environment)
    }

    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Result {
        let result = try program.run(arguments, environment: environment)
        return Result(output: result.output, error: result.error, exitCode: result.exitCode)
    }

    /// Runs a line of shell in which `$strata` is the program.
    static func shell(_ line: String) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", line]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["strata": program.url.path(percentEncoded: false)]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(output: String(decoding: bytes, as: UTF8.self), error: "", exitCode: process.terminationStatus)
    }
}
