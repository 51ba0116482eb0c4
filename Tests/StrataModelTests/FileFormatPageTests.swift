import Foundation
import Testing

@Suite struct FileFormatPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// Scripts/format-page.py writes the page from its introduction and the first comments of the files that it lists.
    @Test func thePageOfTheFormatIsWhatItsScriptWrites() throws {
        let script = try text("Scripts/format-page.py")
        let quoted = script.split(separator: "\"\"\"", omittingEmptySubsequences: false)
        try #require(quoted.count > 3)
        var parts = [String(quoted[3])]
        let sources = try #require(
            FileManager.default.enumerator(at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil))
        let files = Dictionary(
            sources.lazy.compactMap { $0 as? URL }.map { ($0.lastPathComponent, $0) }
        ) { one, _ in one }
        for section in script.matches(of: /\n    \("([^"]+)", "([^"]+)"\),/) {
            let file = try #require(files["\(section.2).swift"])
            let source = try String(contentsOf: file, encoding: .utf8)
            let head = source.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("//") }
                .map { $0.dropFirst($0.hasPrefix("// ") ? 3 : 2) }
            #expect(!head.isEmpty, "\(section.2)")
            parts.append("## \(section.1)\n\n```text\n\(head.joined(separator: "\n"))\n```\n")
        }
        #expect(parts.count > 30)
        let page = try text("Sources/Strata/Strata.docc/FileFormat.md")
        #expect(page == parts.joined(separator: "\n"), "Run Scripts/format-page.py.")
    }
}
