import Foundation
import Testing

@Suite struct FileFormatPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The page is written by Scripts/format-page.py from these heads.
    @Test(arguments: [
        "StrataStore/Views/StoreTables.swift", "StrataStore/Log/StoreHeader.swift", "StrataModel/Log/EventRecord.swift",
        "StrataModel/Log/MaintenanceRecord.swift", "StrataStore/History/Bookmarks.swift",
        "StrataModel/Log/TransactionRecord.swift", "StrataModel/Row/RowLayout.swift", "StrataModel/Row/StoredRow.swift",
        "StrataModel/Value/ValueCodec.swift", "StrataModel/Keys/KeyEncoding.swift",
        "StrataStore/Verify/RebuildMark.swift",
    ])
    func thePageOfTheFormatIsWhatTheCodecsSay(file: String) throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Sources/Strata/Strata.docc/FileFormat.md"), encoding: .utf8)
        let source = try String(contentsOf: Self.root.appending(path: "Sources/\(file)"), encoding: .utf8)
        let head = source.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("//") }
            .map { $0.dropFirst($0.hasPrefix("// ") ? 3 : 2) }
        #expect(head.count > 3)
        #expect(page.contains(head.joined(separator: "\n")), "Run Scripts/format-page.py.")
    }
}
