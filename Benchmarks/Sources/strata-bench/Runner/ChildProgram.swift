import Foundation

/// This program once more, as a process with nothing in memory.
enum ChildProgram {
    /// Runs a subcommand and reads what it prints.
    static func run<Result: Decodable>(_ arguments: [String]) throws -> Result {
        let process = Process()
        process.executableURL = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError("\(arguments[0]) failed in its process.") }
        return try JSONDecoder().decode(Result.self, from: output)
    }

    static func answer<Result: Encodable>(_ result: Result) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }
}
