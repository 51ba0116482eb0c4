import Foundation
import Testing

@Suite struct FileFormatPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Scripts/format-page.py writes the page from the comments at the head of these files.
    @Test(arguments: [
        "StoreTables", "StoreHeader", "EventRecord", "MaintenanceRecord", "Bookmarks", "StoreMetadata",
        "TransactionRecord", "RowLayout", "StoredRow", "ValueCodec", "KeyEncoding", "RebuildMark", "PageSums",
        "EncryptedValue", "SubjectID", "SubjectKeyDirectory", "CanonicalForm", "EncryptionRecord",
    ])
    func thePageOfTheFormatIsWhatTheCodecsSay(name: String) throws {
        let sources = FileManager.default.enumerator(
            at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        let file = try #require(
            sources?.lazy.compactMap { $0 as? URL }.first { $0.lastPathComponent == "\(name).swift" })
        let page = try String(
            contentsOf: Self.root.appending(path: "Sources/Strata/Strata.docc/FileFormat.md"), encoding: .utf8)
        let source = try String(contentsOf: file, encoding: .utf8)
        let head = source.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("//") }
            .map { $0.dropFirst($0.hasPrefix("// ") ? 3 : 2) }
        #expect(head.count > 3)
        #expect(page.contains(head.joined(separator: "\n")), "Run Scripts/format-page.py.")
    }
}
