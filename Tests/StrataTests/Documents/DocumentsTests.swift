import Foundation
import Testing

/// Every Swift example of README, the articles and the doc comments compiles, as it stands there.
@Suite struct DocumentsTests {
    @Test func everyExampleOfThePagesCompiles() throws {
        let pages = try Documents.pages()
        #expect(pages.count > 15)
        let sources = try pages.map { page in
            try ExampleSource(
                name: Documents.typeName(of: page), path: page.path(percentEncoded: false),
                blocks: CodeBlock.blocks(ofPage: Documents.text(page)).filter { !$0.isManifest })
        }
        try expectCompiles(sources)
    }

    @Test func everyExampleOfTheDocCommentsCompiles() throws {
        let files = try Documents.sourceFiles()
        let sources = try files.compactMap { file -> ExampleSource? in
            let blocks = CodeBlock.blocks(ofSource: try Documents.text(file))
            guard !blocks.isEmpty else { return nil }
            return ExampleSource(
                name: Documents.typeName(of: file), path: file.path(percentEncoded: false), blocks: blocks)
        }
        #expect(sources.count > 30)
        try expectCompiles(sources)
    }

    @Test func everyManifestCompiles() throws {
        let manifests = try Documents.pages().flatMap { page in
            CodeBlock.blocks(ofPage: try Documents.text(page)).filter(\.isManifest)
        }
        #expect(!manifests.isEmpty)
        for manifest in manifests { #expect(try Compiler().output(ofManifest: manifest.text) == "") }
    }

    /// Proves that the tests above could fail, and that they name the line.
    @Test func anExampleThatDoesNotCompileIsNamed() throws {
        let page = "# Page\n\n```swift\nlet movie = Movie(context: context)\nmovie.titel = \"Alien\"\n```\n"
        let source = ExampleSource(name: "Page", path: "/Page.md", blocks: CodeBlock.blocks(ofPage: page))
        let output = try Compiler().output(of: [("Prelude", ExamplePrelude.source), ("Page", source.text)])
        #expect(output.contains("/Page.md:5:7: error: value of type 'Movie' has no member 'titel'"), "\(output)")
    }

    /// What the cookbook and the first pages show is run by the suite, not only compiled.
    @Test(arguments: [
        ("README.md", "ReadmeTests"), ("Sources/Strata/Strata.docc/GettingStarted.md", "GettingStartedTests"),
        ("Sources/Strata/Strata.docc/Cookbook.md", "CookbookTests"),
        ("Sources/Strata/Strata.docc/Tutorial.md", "TutorialTests"),
    ])
    func everyExampleStandsInATestThatRunsIt(page: String, suite: String) throws {
        let blocks = CodeBlock.blocks(ofPage: try Documents.text(Documents.root.appending(path: page)))
        let test = try Documents.text(
            Documents.root.appending(path: "Tests/StrataTests/Documents/\(suite).swift"))
        let text = test.filter { !$0.isWhitespace }
        #expect(!blocks.isEmpty)
        for block in blocks where !block.isManifest {
            for part in Self.parts(block.lines) {
                let found = text.contains(part.filter { !$0.isWhitespace })
                #expect(found, "\(page):\(block.line) is not in \(suite).swift:\n\(part)")
            }
        }
    }

    /// docc checks the links of the articles; README is no part of its catalog.
    @Test func everyLinkOfReadmeLeadsToAFile() throws {
        let text = try Documents.text(Documents.root.appending(path: "README.md"))
        let targets = text.matches(of: /\]\(([^)#\s]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
        #expect(targets.count > 5)
        for target in targets {
            let path = Documents.root.appending(path: target).path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: path), "README.md links to \(target), which does not exist.")
        }
    }

    /// Imports and types stand apart from the statements in a test file, so an example is looked for in parts.
    private static func parts(_ lines: [String]) -> [String] {
        let kept = lines.filter { !$0.hasPrefix("import ") }
        var parts: [[String]] = [[]]
        var depth = 0
        for line in kept {
            if depth == 0, line.hasPrefix("@Entity") || line.hasPrefix("enum ") { parts.append([]) }
            parts[parts.count - 1].append(line)
            let isType = parts.last?.first.map { $0.hasPrefix("@Entity") || $0.hasPrefix("enum ") } ?? false
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            if isType, depth == 0 { parts.append([]) }
        }
        return parts.map { $0.joined(separator: "\n") }.filter { !$0.allSatisfy(\.isWhitespace) }
    }

    private func expectCompiles(
        _ sources: [ExampleSource], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let files = sources.map { (name: $0.name, text: $0.text) }
        let output = try Compiler().output(of: [("Prelude", ExamplePrelude.source)] + files)
        #expect(output == "", sourceLocation: sourceLocation)
    }
}

/// The documents of the repository.
enum Documents {
    static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    static func pages() throws -> [URL] {
        let articles = try FileManager.default.contentsOfDirectory(
            at: root.appending(path: "Sources/Strata/Strata.docc"), includingPropertiesForKeys: nil)
        return [root.appending(path: "README.md")]
            + articles.filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
    }

    static func sourceFiles() throws -> [URL] {
        let sources = root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path(percentEncoded: false))
        return files.filter { $0.hasSuffix(".swift") }.sorted().map { sources.appending(path: $0) }
    }

    static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// A Swift name for the examples of a document.
    static func typeName(of file: URL) -> String {
        let parent = file.deletingLastPathComponent().lastPathComponent
        let name = file.deletingPathExtension().lastPathComponent
        return "Of_" + "\(parent)_\(name)".map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    }
}

extension CodeBlock {
    /// Whether it is the manifest of a package.
    var isManifest: Bool { lines.contains { $0.hasPrefix("import PackageDescription") } }
}
