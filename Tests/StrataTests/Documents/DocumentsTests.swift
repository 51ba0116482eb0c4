import Foundation
import Strata
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

    /// No example escapes the tests above: every block is Swift and is compiled, or holds no Swift.
    @Test func everyBlockIsSwiftOrHoldsNone() throws {
        let blocks =
            try Documents.everyPage().flatMap { page in
                CodeBlock.all(ofPage: try Documents.text(page)).map { (page, $0) }
            }
            + Documents.sourceFiles().flatMap { file in
                CodeBlock.all(ofSource: try Documents.text(file)).map { (file, $0) }
            }
        #expect(blocks.count > 150)
        let compiled = Set(try Documents.pages() + Documents.sourceFiles())
        for (file, block) in blocks {
            let location = "\(file.lastPathComponent):\(block.line)"
            #expect(block.isWellFormed, "\(location) has a fence that is indented, or none at the end.")
            #expect(["swift", "text", ""].contains(block.language), "\(location) is \(block.language).")
            if block.language == "swift" {
                #expect(compiled.contains(file), "\(location) is not compiled.")
            } else {
                #expect(!block.looksLikeSwift, "\(location) looks like Swift.")
            }
        }
    }

    @Test(arguments: [
        ("```\nlet a = 1\n```\n", "", true, true), ("```text\na\n```", "text", true, false),
        ("  ```swift\na\n  ```", "swift", false, false), ("```swift\na\n", "swift", false, false),
        ("~~~swift\na\n~~~", "swift", false, false), ("```\n@Entity class A\n```", "", true, true),
    ])
    func blocksThatEscapeAreSeen(page: String, language: String, isWellFormed: Bool, isSwift: Bool) throws {
        let block = try #require(CodeBlock.all(ofPage: page).first)
        #expect(block.language == language && block.isWellFormed == isWellFormed && block.looksLikeSwift == isSwift)
        let comments = page.split(separator: "\n").map { "    /// \($0)" }.joined(separator: "\n")
        let same = try #require(CodeBlock.all(ofSource: comments).first)
        #expect(same.language == language && same.isWellFormed == isWellFormed && same.lines.first == block.lines.first)
    }

    /// Every option in the tables of the article on entities compiles as it stands there.
    @Test func everyOptionOfTheTablesCompiles() throws {
        let page = Documents.root.appending(path: "Sources/Strata/Strata.docc/DeclaringEntities.md")
        let options = OptionTable.options(try Documents.text(page))
        #expect(options.count > 30)
        let output = try Compiler().output(of: [("Options", OptionTable.source(options, page))])
        #expect(output == "")
    }

    /// The message that the article on the format language shows is the one that the parser gives.
    @Test func theErrorOfTheFormatLanguageIsTheOneShown() throws {
        let page = Documents.root.appending(path: "Sources/Strata/Strata.docc/FormatLanguage.md")
        let shown = try #require(CodeBlock.all(ofPage: try Documents.text(page)).first { $0.language == "" })
        let format = try #require(shown.lines.dropFirst().first)
        let error = #expect(throws: StrataError.self) { try FetchPredicate(format: format) }
        #expect(error?.message.contains(shown.text) == true, "\(error?.message ?? "")")
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

    /// The recipes of an article are run by the suite, too.
    @Test(arguments: ["A row for each tag", "What no aggregate says"])
    func everyRecipeForViewsStandsInATestThatRunsIt(heading: String) throws {
        let page = try Documents.text(Documents.root.appending(path: "Sources/Strata/Strata.docc/ViewsOfYourOwn.md"))
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix(heading) })
        let test = try Documents.text(
            Documents.root.appending(path: "Tests/StrataTests/Documents/ViewRecipesTests.swift"))
        let text = test.filter { !$0.isWhitespace }
        let blocks = CodeBlock.blocks(ofPage: section)
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(text.contains(block.text.filter { !$0.isWhitespace }), "\(block.text)") }
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

    /// The pages, and the documents for people who work on Strata.
    static func everyPage() throws -> [URL] {
        let others = try ["", "Benchmarks", "Examples"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                at: folder.isEmpty ? root : root.appending(path: folder), includingPropertiesForKeys: nil)
        }
        let known = try pages()
        let paths = Set(known.map(\.standardizedFileURL.path))
        return known
            + others.filter { $0.pathExtension == "md" && !paths.contains($0.standardizedFileURL.path) }
            .sorted { $0.path < $1.path }
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
