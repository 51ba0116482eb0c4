import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

@Suite struct SubjectFilterTests {
    private static func subjects(_ count: Int, seed: UInt64) -> Set<SubjectID> {
        var random = SeededGenerator(seed: seed)
        var subjects: Set<SubjectID> = []
        while subjects.count < count {
            let words = [random.next(), random.next()]
            subjects.insert(words.withUnsafeBytes { SubjectID($0) })
        }
        return subjects
    }

    @Test(arguments: [1, 1000, 50_000]) func whatIsInItIsSuspectedAndLittleElse(count: Int) {
        let inside = Self.subjects(count, seed: 1)
        var filter = SubjectFilter(capacity: count)
        for subject in inside { filter.insert(subject) }
        for subject in inside.prefix(500) { filter.insert(subject) }
        #expect(filter.suspects(among: inside) == inside)
        #expect(!filter.isFull && filter.count <= count && filter.count >= count - count / 1000)
        let others = Self.subjects(20_000, seed: 2)
        // One of 2,000 is allowed for.
        #expect(filter.suspects(among: others).count <= 40)
    }

    @Test func itSaysWhenMoreAreInItThanItIsMadeFor() {
        var filter = SubjectFilter(capacity: 2000)
        for subject in Self.subjects(3000, seed: 3) { filter.insert(subject) }
        #expect(filter.isFull)
    }
}
