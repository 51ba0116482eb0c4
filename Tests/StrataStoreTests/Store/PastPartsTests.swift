import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// The past in parts that moments share shows what was there.
struct PastPartsTests {
    @Test func partsMeetAndHaveCommonEnds() {
        func ends(_ first: UInt64, _ last: UInt64) -> [UInt64] { PastParts.bounds(first, last, 160).map(\.end) }
        #expect(ends(3, 427) == [10, 160, 320, 427])
        #expect(ends(160, 320) == [170, 320] && ends(319, 320) == [320] && ends(5, 5).isEmpty)
        for last in [1, 9, 80, 81, 1000, 123_456] as [UInt64] {
            for first in [0, 1, last / 3, last - 1] where first < last {
                let parts = PastParts.bounds(first, last, 10)
                #expect(parts.first?.start == first && parts.last?.end == last && parts.count <= 10)
                #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.end == $1.start })
            }
        }
    }

    /// Every state is looked at again in a random order, while more is saved.
    @Test(arguments: RandomTesting.seeds) func everyMomentShowsWhatItShowedAsTheNewest(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var options = StoreOptions()
        options.pastPartSize = 32
        let fixture = try StoreFixture(options: options)
        var movies = [try fixture.insert("Movie", ["title": .string("first")])]
        let owners = try ["A", "B"].map { try fixture.insert("Owner", ["name": .string($0)]) }
        let tags = try ["x", "y"].map { try fixture.insert("Tag", ["label": .string($0)]) }
        var pairs: Set<[ObjectID]> = []
        var states: [(EventNumber, StateDump)] = []
        for number in 0..<60 {
            let movie = try #require(movies.randomElement(using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: movies.append(try fixture.insert("Movie", ["title": .string("\(number)"), "year": .integer(7)]))
            case 1 where movies.count > 1 && !pairs.contains { $0[0] == movie }:
                try fixture.delete(movie)
                movies.removeAll { $0 == movie }
            case 2: try fixture.update(movie, ["owner": .objectID(try #require(owners.randomElement(using: &random)))])
            case 3:
                let tag = try #require(tags.randomElement(using: &random))
                if pairs.insert([movie, tag]).inserted {
                    try fixture.link(movie, "tags", tag)
                } else {
                    pairs.remove([movie, tag])
                    try fixture.unlink(movie, "tags", tag)
                }
            default: try fixture.update(movie, ["rating": .double(Double(number)), "title": .string("t\(number % 5)")])
            }
            let head = try fixture.store.head()
            states.append((head, try StateDump(fixture.store, at: head)))
            let (then, state) = try #require(states.randomElement(using: &random))
            #expect(try StateDump(fixture.store, at: then) == state, "seed \(seed), \(then) at \(head)")
        }
        for (then, state) in states.shuffled(using: &random) {
            #expect(try StateDump(fixture.store, at: then) == state, "seed \(seed), \(then)")
        }
    }
}
