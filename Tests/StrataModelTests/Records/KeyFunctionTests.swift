import Foundation
import StrataTestSupport
import Testing

@testable import StrataModel

/// Parts of dates beside Foundation's calendar, and buckets of numbers.
@Suite struct KeyFunctionTests {
    @Test(arguments: [
        "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia",
        "America/Sao_Paulo", "Africa/Casablanca",
    ])
    func partsOfDatesAreThoseOfTheCalendar(zone name: String) throws {
        let rules = try #require(ZoneRules(named: name))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: name))
        var generator = SeededGenerator(seed: 31)
        var moments = (0..<400).map { _ in Double.random(in: -3.18e9...3.12e9, using: &generator) }
        // Around changes of the offset, to the second.
        moments += rules.starts.dropFirst().suffix(40).flatMap { [Double($0) - 1, Double($0), Double($0) - 0.5] }
        for moment in moments {
            let date = Date(timeIntervalSinceReferenceDate: moment)
            let wanted = calendar.dateComponents([.year, .month, .day, .hour], from: date)
            let found = CalendarPart.allCases.map { $0.value(of: moment, in: rules).map(Int.init) }
            #expect(found == [wanted.year, wanted.month, wanted.day, wanted.hour], "\(moment)")
        }
        let read = try JSONDecoder().decode(ZoneRules.self, from: JSONEncoder().encode(rules))
        #expect(read == rules)
    }

    @Test func datesOutsideTheCalendarHaveNoParts() throws {
        let rules = try #require(ZoneRules(named: "UTC"))
        for moment in [Double.nan, .infinity, -.infinity, 1e300, -1e14] {
            #expect(CalendarPart.year.value(of: moment, in: rules) == nil)
        }
        #expect(CalendarPart.year.value(of: -978_307_200, in: rules) == 1970)
        // The beginning of an era, and 29 February of the leap year 0.
        #expect(CalendarPart.month.value(of: -730_791 * 86_400, in: rules) == 3)
        #expect(CalendarPart.day.value(of: -730_791 * 86_400 - 1, in: rules) == 29)
        #expect(ZoneRules(named: "Nowhere") == nil)
    }

    @Test func bucketsBeginBelowTheirNumbers() throws {
        func key(_ value: AttributeValue, _ width: Double, _ type: AttributeType) throws -> AttributeValue {
            try #require(KeyFunction(.bucket(width: width), type, [:])).key(of: value)
        }
        #expect(try key(.integer(17), 10, .integer16) == .integer(10))
        #expect(try key(.integer(-1), 10, .integer64) == .integer(-10))
        #expect(try key(.integer(.min), 10, .integer64) == .integer(.min))
        #expect(try key(.double(-0.1), 0.25, .double) == .double(-0.25))
        #expect(try key(.double(.infinity), 2, .double) == .double(.infinity))
        #expect(try key(.float(0.7), 0.1, .float) == .double((0.7 / 0.1).rounded(.down) * 0.1))
        #expect(try key(.decimal(-7), 0.5, .decimal) == .decimal(-7))
        #expect(try key(.decimal(-7), 5, .decimal) == .decimal(-10))
        #expect(
            try key(.decimal(Decimal(string: "12.34") ?? 0), 0.1, .decimal) == .decimal(Decimal(string: "12.3") ?? 0))
        #expect(try key(.null, 5, .decimal) == .null)
        // At the ends of what numbers hold.
        let greatest = Double.greatestFiniteMagnitude
        #expect(try key(.double(greatest), 0.1, .double) == .double(greatest))
        #expect(try key(.decimal(Decimal(string: "1e-100") ?? 0), 0.3, .decimal) == .decimal(0))
    }
}
