import Foundation

/// Runs this program, or another build of it, in a process of its own, with nothing in memory.
enum ChildProgram {
    /// Runs a subcommand and decodes the JSON that it prints.
    ///
    /// - Parameter program: another build; nil for this one.
    static func run<Result: Decodable>(_ arguments: [String], of program: URL? = nil) throws -> Result {
        let process = Process()
        process.executableURL = program ?? Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        if program != nil { process.standardError = FileHandle.nullDevice }
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchError("\(arguments.joined(separator: " ")) failed in its process.")
        }
        return try JSONDecoder().decode(Result.self, from: output)
    }

    static func answer<Result: Encodable>(_ result: Result) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }
}
