import Foundation
import StrataModel
import StrataTestSupport
import Testing

/// Dates in ISO 8601, read from text and written.
@Suite struct DateTextTests {
    @Test(arguments: [
        ("2001-01-01", 0), ("2001-01-02", 86_400), ("2000-02-29", -26_524_800), ("2001-01-01T00:00Z", 0),
        ("2001-01-01 00:00:05", 5), ("2001-01-01T00:00:05.25Z", 5.25), ("2001-01-01T02:00:00+02:00", 0),
        ("2001-01-01T02:00:00+0200", 0), ("2000-12-31T19:00:00-05", 0), ("2000-12-31T23:59:59.5Z", -0.5),
        ("2001-01-01T00:00:00,5", 0.5), ("0001-01-01", -63_113_904_000), ("0000-01-01", -63_145_526_400),
        ("9999-12-31T23:59:59Z", 252_423_993_599), ("2001-01-01T23:59:60Z", 86_400),
    ])
    func textIsReadAsTheMomentItNames(text: String, seconds: Double) {
        #expect(Date(iso8601Text: text)?.timeIntervalSinceReferenceDate == seconds, "\(text)")
    }

    @Test(arguments: [
        "", "2001", "2001-1-1", "2001-13-01", "2001-02-29", "1900-02-29", "2001-01-01T", "2001-01-01T24:00:00",
        "2001-01-01T10", "2001-01-01T10:60", "2001-01-01T10:00:61", "2001-01-01T10:00:00.", "2001-01-01X",
        " 2001-01-01",
        "2001-01-01T10:00:00+", "2001-01-01T10:00:00+2", "2001-01-01T10:00:00+02:", "2001-01-01 10:00:00 UTC",
        "yesterday",
        "2001/01/01", "２００１-01-01", "20010-01-01", "2001-00-10", "2001-01-00",
    ])
    func otherTextIsNoDate(text: String) { #expect(Date(iso8601Text: text) == nil, "\(text)") }

    @Test func everyDayIsThatOfTheCalendar() throws {
        var generator = SeededGenerator(seed: 8601)
        for _ in 0..<2_000 {
            let seconds = Double(Int64.random(in: -12_000_000_000..<250_000_000_000, using: &generator))
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(Date(iso8601Text: date.formatted(.iso8601)) == date)
        }
    }

    // MARK: Migrations

    private static let date = AttributeDescription(name: "time", type: .date)
    private static let string = AttributeDescription(name: "time", type: .string)

    @Test(arguments: [
        "2026-11-21T10:00:00Z", "2026-11-21T10:00:00.250Z", "2026-11-21T10:00:00.123456Z", "1500-03-01T00:00:00Z",
        "0001-01-01T00:00:00.001Z",
    ])
    func aMigrationToTextKeepsEveryDigit(text: String) throws {
        let value = AttributeValue.date(try #require(Date(iso8601Text: text)))
        #expect(value.converted(from: Self.date, to: Self.string) == .string(text))
        #expect(AttributeValue.string(text).converted(from: Self.string, to: Self.date) == value)
    }

    @Test func aMigrationToTextCanBeTakenBack() {
        var generator = SeededGenerator(seed: 8602)
        for _ in 0..<2_000 {
            let seconds = Double.random(in: -63_000_000_000..<250_000_000_000, using: &generator)
            let value = AttributeValue.date(Date(timeIntervalSinceReferenceDate: seconds))
            let text = value.converted(from: Self.date, to: Self.string)
            #expect(text?.converted(from: Self.string, to: Self.date) == value, "\(seconds)")
        }
    }

    @Test(arguments: [1e15, -1e15, .infinity, .nan]) func aDateThatTextCannotNameIsNotMigrated(seconds: Double) {
        let value = AttributeValue.date(Date(timeIntervalSinceReferenceDate: seconds))
        #expect(value.converted(from: Self.date, to: Self.string) == nil)
    }
}
