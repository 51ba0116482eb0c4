import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// The table of a batch's rows beside a dictionary.
@Suite struct WrittenRowsTests {
    @Test(arguments: RandomTesting.seeds) func rowsAreFoundAsTheyWereNotedLast(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var rows = WrittenRows()
        for round in 0..<3 {
            var known: [ObjectID: Int] = [:]
            for number in 0..<[5, 3_000, 60][round] {
                let id = Self.id(&random)
                let size = Bool.random(using: &random) ? number : -1
                rows.note(id, size < 0 ? .removed : .written(offset: number * 3, size: size))
                known[id] = size
            }
            for (id, size) in known {
                let found = Self.size(rows, id)
                #expect(found == size)
            }
            for _ in 0..<1_000 {
                let id = Self.id(&random)
                let found = Self.size(rows, id)
                #expect(found == known[id])
            }
            rows.removeAll()
            for id in known.keys {
                let found = Self.size(rows, id)
                #expect(found == nil)
            }
        }
    }

    /// -1 for a row that was removed.
    private static func size(_ rows: borrowing WrittenRows, _ id: ObjectID) -> Int? {
        switch rows[id] {
        case .removed?: return -1
        case .written(let offset, let size)?:
            #expect(offset == size * 3)
            return size
        case nil: return nil
        }
    }

    /// Ids close together, in blocks as leases give them, and of several entities.
    private static func id(_ random: inout SeededGenerator) -> ObjectID {
        let lease = UInt64.random(in: 0...3, using: &random) << 20
        return ObjectID(
            entity: EntityID(rawValue: UInt16.random(in: 1...3, using: &random)),
            row: lease + UInt64.random(in: 1...2_000, using: &random))
    }
}
