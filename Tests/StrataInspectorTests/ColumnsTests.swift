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
}
