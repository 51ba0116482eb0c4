import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataInspector

/// The widths of columns in a narrow terminal.
@Suite struct ColumnsTests {
    @Test func columnsThatFitKeepTheirWidths() {
        #expect(ColumnWidths.fitting([5, 20, 30], isFirm: [false, false, false], into: 55) == [5, 20, 30])
    }

    @Test func longColumnsShareWhatShortOnesLeave() {
        #expect(ColumnWidths.fitting([5, 40, 60], isFirm: [false, false, false], into: 55) == [5, 25, 25])
        #expect(ColumnWidths.fitting([60, 60, 60], isFirm: [false, false, false], into: 60) == [20, 20, 20])
        #expect(ColumnWidths.fitting([60, 12, 60], isFirm: [false, false, false], into: 60) == [24, 12, 24])
    }

    @Test func firmColumnsAreCutLast() {
        #expect(ColumnWidths.fitting([24, 40, 40], isFirm: [true, false, false], into: 50) == [24, 13, 13])
        #expect(ColumnWidths.fitting([24, 24, 40], isFirm: [true, true, false], into: 40) == [17, 17, 6])
        #expect(ColumnWidths.fitting([40, 40], isFirm: [true, true], into: 2) == [6, 6])
    }

    @Test func aTableInATerminalOfSixtyColumnsFits() throws {
        let store = try FilmStore()
        let result = try Tool.onTerminal(
            ["query", store.path, "Film", "--columns", "title, studio, genres.label, title AS again, studio.country"],
            .output, environment: ["NO_COLOR": "1"], width: 60)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 6 && lines.allSatisfy { $0.count <= 60 }, "\(result)")
        #expect(lines[0].contains("title") && lines[0].contains("again") && lines[0].contains("genres"), "\(result)")
    }

    /// Names of one width in columns have different numbers of characters, scalars and bytes.
    @Test func columnsOfAnyScriptAreAligned() throws {
        let store = try NamedThings([
            "漢字", "e\u{301}e\u{301}e\u{301}e\u{301}", "👩🏽‍🚀🇩🇪", "שלום", "한국", "ｶﾞｶﾞ", "abcd", "a\u{200B}bcd",
        ])
        let result = try Tool.run("query", store.path, "Thing", "--columns", "name, number", "--sort", "number")
        let rows = result.output.split(separator: "\n").dropFirst().dropLast()
        #expect(rows.count == 8)
        for (row, name) in zip(rows, store.names) {
            let rest = row.dropFirst(name.count)
            #expect(row.hasPrefix(name) && rest.allSatisfy { $0 == " " || $0.isNumber } && rest.count == 8, "\(row)")
        }
    }

    @Test func wideTextIsCutToItsColumns() throws {
        let store = try NamedThings([
            String(repeating: "漢字", count: 30), String(repeating: "👩🏽‍🚀", count: 40), "x\u{1B}[2J\u{202E}y",
        ])
        let result = try Tool.onTerminal(
            ["query", store.path, "Thing", "--columns", "name, name AS again, number"], .output,
            environment: ["NO_COLOR": "1"], width: 41)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 5, "\(result)")
        for line in lines.dropLast() {
            #expect(TextWidth.of(line) <= 41 && line.unicodeScalars.allSatisfy { !$0.drivesTerminal }, "\(line)")
        }
        for line in lines.dropLast().dropFirst() { #expect(TextWidth.of(line) == 41, "\(line)") }
    }

    /// Names that people give are cut before dates and numbers are.
    @Test func listingsOfNamesFitIntoTheTerminal() throws {
        let store = try NamedThings([])
        let long = String(repeating: "release 漢字 ", count: 9) + "1"
        #expect(try Tool.run("tag", store.path, long).exitCode == 0)
        #expect(try Tool.run("tag", store.path, "a").exitCode == 0)
        let result = try Tool.onTerminal(["tag", store.path], .output, environment: ["NO_COLOR": "1"], width: 60)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { (40...60).contains(TextWidth.of($0)) }, "\(result)")
        #expect(lines.dropFirst().allSatisfy { $0.hasSuffix("Z") } && result.output.contains("…"), "\(result)")
        // A program reads whole names.
        #expect(try Tool.run("tag", store.path).output.contains(long))
    }

    @Test func aValueIsCutBetweenCharacters() {
        func shown(_ text: String, _ limit: Int) -> String { ValueText.plain(.string(text), limit: limit) { "\($0)" } }
        #expect(shown("ab👩🏽‍🚀", 4) == "ab…" && shown("ab👩🏽‍🚀c", 6) == "ab👩🏽‍🚀…" && shown("ab👩🏽‍🚀", 6) == "ab👩🏽‍🚀")
        #expect(shown("e\u{301}e\u{301}", 3) == "e\u{301}…" && shown("abc", 3) == "abc" && shown("abcd", 3) == "abc…")
        // A single character can be of any length.
        #expect(shown("a" + String(repeating: "\u{301}", count: 1000), 5) == "a\u{301}\u{301}\u{301}\u{301}…")
        #expect(shown("\u{2028}", 5) == "\\u{2028}")
    }
}

/// A store of objects with these names.
private final class NamedThings {
    let names: [String]
    let path: String
    private let directory: URL

    init(_ names: [String]) throws {
        self.names = names
        directory = FileManager.default.temporaryDirectory.appending(component: "things-\(UUID().uuidString).strata")
        path = directory.path(percentEncoded: false)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Thing",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "number", type: .integer64)),
                ])
        ])
        let store = try Store.open(.directory(directory), model: model, options: StoreOptions())
        defer { store.close() }
        let context = try PersistentContainer(over: store).newBackgroundContext()
        for (number, name) in names.enumerated() {
            let thing = try context.insertNewObject(forEntityName: "Thing")
            try thing.setValue(name, forKey: "name")
            try thing.setValue(Int64(number), forKey: "number")
        }
        try context.save()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
