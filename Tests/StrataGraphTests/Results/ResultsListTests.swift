@testable import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// The list behind results, many chunks long, beside a plain array.
@Suite struct ResultsListTests {
    @Test(arguments: RandomTesting.seeds)
    func aListOfChunksIsWhatAnArrayIs(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var next: UInt64 = 1
        func newID() -> ObjectID {
            defer { next += 1 }
            return ObjectID(entity: EntityID(rawValue: 1), row: next)
        }
        var plain = (0..<Int.random(in: 0...6000, using: &random)).map { _ in newID() }
        var list = IdentifierList(plain)
        for _ in 0..<60 {
            let share = [1, 3, 40, 4000].randomElement(using: &random) ?? 1
            let removed = plain.indices.filter { _ in Int.random(in: 0..<max(1, 4000 / share), using: &random) == 0 }
            let staying = plain.count - removed.count
            let insertions = (0..<Int.random(in: 0...share, using: &random))
                .map { _ in Int.random(in: 0...staying, using: &random) }.sorted()
                .map { IdentifierList.Inserted(gap: $0, id: newID()) }
            list = list.applying(removing: removed, inserting: insertions)
            for place in removed.reversed() { plain.remove(at: place) }
            for (number, insertion) in insertions.enumerated() {
                plain.insert(insertion.id, at: insertion.gap + number)
            }
            guard Array(list) == plain, list.count == plain.count else {
                Issue.record("seed \(seed): \(removed.count) removed, \(insertions.count) inserted")
                return
            }
            if let place = plain.indices.randomElement(using: &random) { #expect(list[place] == plain[place]) }
        }
    }

    /// What is told of a random change of a long list in sections, applied as the standard library does.
    @Test(arguments: RandomTesting.seeds)
    func aChangeOfALongListAppliesToIt(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ids = (1...3000).map { ObjectID(entity: EntityID(rawValue: 1), row: UInt64($0)) }
        var keys = Dictionary(
            uniqueKeysWithValues: ids.prefix(2000).map { ($0, Int.random(in: 0..<500, using: &random)) })
        func sorted() -> [ObjectID] { keys.keys.sorted { (keys[$0] ?? 0, $0) < (keys[$1] ?? 0, $1) } }
        func sections(_ list: [ObjectID]) -> SectionList {
            var sections = SectionList()
            for (place, id) in list.enumerated() {
                let name = "\((keys[id] ?? 0) / 7)"
                if sections.names.last != name {
                    sections.names.append(name)
                    sections.ends.append(place)
                }
                sections.ends[sections.ends.count - 1] = place + 1
            }
            return sections
        }
        for _ in 0..<20 {
            let old = sorted()
            let before = ResultsState(list: IdentifierList(old), sections: sections(old))
            let touched = Set(
                (0..<Int.random(in: 1...200, using: &random)).compactMap { _ in ids.randomElement(using: &random) })
            for id in touched { keys[id] = Bool.random(using: &random) ? Int.random(in: 0..<500, using: &random) : nil }
            let new = sorted()
            let places = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
            var placed: [ChangeBuilder.Placed] = []
            for (place, id) in new.enumerated() where touched.contains(id) {
                placed.append(
                    .init(
                        id: id, gap: place - placed.count, section: "\((keys[id] ?? 0) / 7)", old: places[id]))
            }
            let removed = old.enumerated().filter { touched.contains($0.element) }
                .map { ResultsChange.Item(id: $0.element, index: $0.offset) }
            let change = ChangeBuilder(
                before: before, isSectioned: true, removed: removed, placed: placed, updated: touched,
                stayingUpdates: []
            ).build()
            #expect(Array(change.after.list) == new)
            #expect(change.after.sections == sections(new))
            let difference = FetchedResultsDifference(change)
            #expect(old.applying(difference.collectionDifference) == new)
            for update in change.updates { #expect(old[update.old] == update.id && new[update.new] == update.id) }
            #expect(
                touched.intersection(new).count == change.insertions.count + change.moves.count + change.updates.count)
        }
    }
}
