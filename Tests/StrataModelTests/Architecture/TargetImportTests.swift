import Foundation
import Testing

/// A target of `Package.swift`, as `swift package dump-package` describes it.
struct DescribedTarget: Decodable {
    let name: String
    let type: String
    let path: String?
    /// Each has the kind as its only key (`byName`, `target`, `product`), and the name first in its value.
    private let dependencies: [[String: [Part?]]]

    /// A name, or the condition of a dependency, which nothing here asks about.
    private enum Part: Decodable {
        case name(String)
        case other

        init(from decoder: any Decoder) throws {
            let text = try? decoder.singleValueContainer().decode(String.self)
            self = text.map(Part.name) ?? .other
        }
    }

    var dependencyNames: Set<String> {
        Set(
            dependencies.flatMap(\.values).compactMap { parts in
                if case .name(let name)?? = parts.first { name } else { nil }
            })
    }

    var folder: String {
        path ?? ["test": "Tests/", "plugin": "Plugins/"][type, default: "Sources/"] + name
    }
}

/// SwiftPM builds a target after its dependencies. One that imports a module which it does not name as a dependency may be
/// built first: then a clean build fails now and then, and one that is repeated does not.
@Suite struct TargetImportTests {
    private struct Manifest: Decodable {
        let targets: [DescribedTarget]
    }

    /// The modules that a source imports. Lines that are indented are text of a test.
    private static func imports(of source: String) -> Set<String> {
        let line = /(?:@\w+ +)*(?:(?:package|public|internal|private|fileprivate) +)?import +(\w+)/
        return Set(source.split(separator: "\n").compactMap { $0.prefixMatch(of: line).map { String($0.1) } })
    }

    @Test func everyTargetNamesTheModulesItImports() throws {
        let targets = try Self.describedTargets()
        let names = Set(targets.map(\.name))
        var importCount = 0
        for target in targets where target.type != "system" {
            let folder = LayerTests.root.appending(path: target.folder)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
            for path in paths where path.hasSuffix(".swift") {
                let source = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                let imports = Self.imports(of: source).intersection(names)
                importCount += imports.count
                for module in imports.subtracting(target.dependencyNames).subtracting([target.name]).sorted() {
                    Issue.record("\(target.folder)/\(path) imports \(module), which \(target.name) does not name")
                }
            }
        }
        #expect(importCount > 100)
    }

    @Test func everyFormOfImportIsRead() {
        let source = """
            import LMDB
            @testable import Locking
            package import StrataModel
            @preconcurrency public import StrataStore
                import Strata
            // import CLMDB
            """
        #expect(Self.imports(of: source) == ["LMDB", "Locking", "StrataModel", "StrataStore"])
    }

    /// A directory of its own for what SwiftPM writes: the package's may be locked by the run of this test.
    private static func describedTargets() throws -> [DescribedTarget] {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "targets-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swift", "package", "--package-path", root, "--scratch-path", scratch.path(percentEncoded: false),
            "dump-package",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try JSONDecoder().decode(Manifest.self, from: bytes).targets
    }

    private static var root: String { LayerTests.root.path(percentEncoded: false) }
}
