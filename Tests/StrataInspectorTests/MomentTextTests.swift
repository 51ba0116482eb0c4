import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataInspector

/// Moments are shown to the nearest millisecond.
@Suite struct MomentTextTests {
    @Test(arguments: RandomTesting.seeds) func aMomentIsShownToTheNearestMillisecond(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // From the year 1 to 9999, and milliseconds of each.
        for _ in 0..<2000 {
            let whole = Double.random(in: -63_113_904_000..<252_423_993_600, using: &generator).rounded(.down)
            let milliseconds = Int.random(in: 0..<1000, using: &generator)
            let moment = Date(timeIntervalSinceReferenceDate: whole + Double(milliseconds) / 1000)
            let digits = String(1000 + milliseconds).dropFirst()
            #expect(ValueText.moment(moment).hasSuffix(".\(digits)Z"), "\(whole) \(milliseconds)")
            let any = moment + Double.random(in: 0..<0.001, using: &generator)
            let read = try #require(Date(iso8601Text: ValueText.moment(any)))
            #expect(abs(read.timeIntervalSince(any)) <= 0.000_55, "\(any.timeIntervalSinceReferenceDate)")
        }
    }

    @Test func theLastMillisecondStaysInItsYear() {
        let end = Date(timeIntervalSince1970: 253_402_300_799.9998)
        #expect(ValueText.moment(end) == "9999-12-31T23:59:59.999Z")
        #expect(ValueText.moment(Date(timeIntervalSince1970: 0.9996)) == "1970-01-01T00:00:01.000Z")
        #expect(ValueText.moment(Date(timeIntervalSince1970: -0.0004)) == "1970-01-01T00:00:00.000Z")
    }
}
