import Foundation
import Testing

/// Runs the compiler over source files with the modules and the macros of this build.
struct Compiler {
    /// An error at the line of the source that it is about; for an expansion that is the line of the attribute, and 0
    /// for one in an expansion of an expansion, of which the compiler does not say it.
    struct Failure {
        let line: Int
        let text: String
    }

    private let products: URL
    private let root: URL
    private let scratch: URL

    init() {
        products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        scratch = FileManager.default.temporaryDirectory.appending(path: "strata-compile-\(UUID().uuidString)")
    }

    /// How far a source is taken.
    enum Stage: String {
        case types = "-typecheck"
        /// Values are followed through the code too, from one isolation to another.
        case flow = "-emit-sil"
    }

    /// The errors in `source`, which may import the modules that `libraries` are, by name.
    func failures(
        in source: String, libraries: [(name: String, source: String)] = [], options: [String] = [],
        stage: Stage = .types
    ) throws -> [Failure] {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        for library in libraries {
            let file = try write(library.source, as: library.name)
            let output = scratch.appending(path: "\(library.name).swiftmodule").path(percentEncoded: false)
            let arguments = ["-emit-module", "-module-name", library.name, "-o", output]
            let failures = try run(arguments + options, over: file)
            if !failures.isEmpty { return failures }
        }
        let output = stage == .flow ? ["-o", scratch.appending(path: "Client.sil").path(percentEncoded: false)] : []
        return try run([stage.rawValue] + output + options, over: write(source, as: "Client"))
    }

    /// What the compiler says of several files of one module: errors and their notes; nothing if all is well.
    func output(of files: [(name: String, text: String)]) throws -> String {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let product = scratch.appending(path: "All.sil").path(percentEncoded: false)
        let paths = try files.map { try write($0.text, as: $0.name).path(percentEncoded: false) }
        return try output(
            common + ["-module-name", "Examples", "-suppress-warnings", "-wmo", "-emit-sil", "-o", product] + paths)
    }

    /// What the compiler says of a package's manifest.
    func output(ofManifest text: String) throws -> String {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let library = try librariesOfToolchain().appending(path: "pm/ManifestAPI").path(percentEncoded: false)
        let file = try write(text, as: "Package").path(percentEncoded: false)
        return try output([
            "-typecheck", "-suppress-warnings", "-package-description-version", "6.2", "-I", library, file,
        ])
    }

    private func output(_ arguments: [String]) throws -> String {
        let (output, status) = try compile(arguments)
        return output.isEmpty && status != 0 ? "The compiler failed." : output
    }

    /// The toolchain's `usr/lib/swift`, as the compiler names it.
    private func librariesOfToolchain() throws -> URL {
        struct Target: Decodable {
            struct Paths: Decodable { let runtimeResourcePath: String }
            let paths: Paths
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swiftc", "-print-target-info"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let description = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let target = try JSONDecoder().decode(Target.self, from: description)
        return URL(filePath: target.paths.runtimeResourcePath, directoryHint: .isDirectory)
    }

    private func write(_ source: String, as name: String) throws -> URL {
        let file = scratch.appending(path: "\(name).swift")
        try Data(source.utf8).write(to: file)
        return file
    }

    private func run(_ arguments: [String], over file: URL) throws -> [Failure] {
        let (output, status) = try compile(common + arguments + [file.path(percentEncoded: false)])
        let failures = Self.failures(in: output, about: file.lastPathComponent)
        // A compiler that failed for another reason has proved nothing.
        if failures.isEmpty, status != 0 { Issue.record("The compiler failed: \(output)") }
        return failures
    }

    private func compile(_ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swiftc"] + arguments
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (output, process.terminationStatus)
    }

    private var common: [String] {
        let plugin = products.appending(path: "StrataMacros-tool").path(percentEncoded: false)
        let modules = products.appending(path: "Modules", directoryHint: .isDirectory).path(percentEncoded: false)
        let moduleMap = root.appending(path: "Sources/CLMDB/module.modulemap").path(percentEncoded: false)
        let checksumMap = products.appending(path: "CChecksum.build/module.modulemap").path(percentEncoded: false)
        return [
            "-swift-version", "6", "-parse-as-library", "-diagnostic-style", "llvm", "-I", modules, "-I",
            scratch.path(percentEncoded: false), "-load-plugin-executable", "\(plugin)#StrataMacros", "-Xcc",
            "-fmodule-map-file=\(moduleMap)", "-Xcc", "-fmodule-map-file=\(checksumMap)",
        ]
    }

    /// Reads `path:line:column: kind: text`. What an error in an expansion is about, a note that follows it says.
    private static func failures(in output: String, about file: String) -> [Failure] {
        var failures: [Failure] = []
        var pending: String?
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 4).map(String.init)
            guard parts.count == 5, let number = Int(parts[1]), Int(parts[2]) != nil else { continue }
            let isHere = parts[0].hasSuffix("/\(file)")
            if parts[3] == " error" {
                if let text = pending { failures.append(Failure(line: 0, text: text)) }
                if isHere { failures.append(Failure(line: number, text: parts[4])) }
                pending = isHere ? nil : parts[4]
            } else if isHere, let text = pending, parts[4].contains("in expansion of macro") {
                failures.append(Failure(line: number, text: text))
                pending = nil
            }
        }
        if let text = pending { failures.append(Failure(line: 0, text: text)) }
        return failures
    }
}

/// Checks that the lines of `source` that end in `// refused` have errors, and no others.
func expectRefusals(
    in source: String, options: [String] = [], stage: Compiler.Stage = .types,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let failures = try Compiler().failures(in: source, options: options, stage: stage)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let marked = lines.indices.filter { lines[$0].hasSuffix("// refused") }.map { $0 + 1 }
    #expect(!marked.isEmpty, sourceLocation: sourceLocation)
    #expect(Set(failures.map(\.line)) == Set(marked), "\(failures)", sourceLocation: sourceLocation)
}
