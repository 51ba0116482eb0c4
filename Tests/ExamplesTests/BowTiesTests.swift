import Foundation
import StrataTestSupport
import Testing

/// BowTies: the first story, as `make demo` tells it.
@Suite struct BowTiesTests {
    @Test func theStoryIsToldTwice() throws {
        let run = ExampleRun("BowTies")
        let first = try run.tell()
        #expect(first[1] == ["7 ties imported.", "A second import finds them: 0 imported."])
        #expect(first[2]?[0].hasSuffix("rating 4.0") == true)
        #expect(first[5]?[0] == "Refused with code 1610: rating is too large.")
        #expect(first[5]?.contains("key:    rating") == true && first[5]?.contains("value:  6.0") == true)
        #expect(first[8]?.contains("verify: sound") == true)
        #expect(first[8]?.contains { $0.hasSuffix("byte for byte equal: yes") } == true)
        let second = try run.tell()
        #expect(second[1]?[0] == "The ties are there from an earlier run: none imported.")
        #expect(try run.strata("verify").exitCode == 0)
    }
}
