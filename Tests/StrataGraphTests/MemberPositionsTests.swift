import StrataTestSupport
import Testing

@testable import StrataGraph

@Suite struct MemberPositionsTests {
    /// Inserts in front of the index, as a list of members does, and says how many others moved.
    private func insert(at index: Int, in positions: inout [Int64]) -> Int {
        var moved = 0
        if index < positions.count, MemberPositions.room(at: index, in: positions) == nil {
            let spread = MemberPositions.spread(positions, at: index)
            for (offset, position) in spread.positions.enumerated() where positions[spread.first + offset] != position {
                positions[spread.first + offset] = position
                moved += 1
            }
        }
        let position =
            index < positions.count
            ? MemberPositions.room(at: index, in: positions) : positions.last.map(MemberPositions.after) ?? 0
        positions.insert(position ?? .min, at: index)
        return moved
    }

    private func isAscending(_ positions: [Int64]) -> Bool { zip(positions, positions.dropFirst()).allSatisfy(<) }

    @Test(arguments: [1, 500, 999]) func insertingAtOnePlaceMovesFewOthers(_ place: Int) {
        var positions = (0..<1_000).map { Int64($0) * MemberPositions.gap }
        var moved = 0
        for _ in 0..<5_000 { moved += insert(at: place, in: &positions) }
        #expect(isAscending(positions))
        // To give all members new positions each time would have moved some 500,000.
        #expect(moved < 50_000)
    }

    @Test func aFewInsertionsMoveNeighboursOnly() {
        var positions = (0..<1_000).map { Int64($0) * MemberPositions.gap }
        let before = positions
        for _ in 0..<40 { _ = insert(at: 500, in: &positions) }
        #expect(isAscending(positions))
        #expect(positions.prefix(490) == before.prefix(490) && positions.suffix(490) == before.suffix(490))
    }

    @Test(arguments: 1...20) func anyInsertionsKeepTheOrder(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var positions: [Int64] = []
        for _ in 0..<2_000 {
            let isCrowded = Bool.random(using: &random)
            let spot = isCrowded ? positions.count / 2 : Int.random(in: 0...positions.count, using: &random)
            _ = insert(at: spot, in: &positions)
        }
        #expect(isAscending(positions))
    }

    @Test func positionsOfADamagedFileOverflowNowhere() {
        let lists: [[Int64]] = [
            [.min, .max], [.min, .min, .min], [.max, .max, .max], [.min, .min + 1, .max - 1, .max], [.max, .min, 0],
            [0, 0, 0, 0, 0, 0],
        ]
        for list in lists {
            for index in list.indices {
                var positions = list
                _ = insert(at: index, in: &positions)
                #expect(positions.count == list.count + 1)
            }
            #expect(list.map(MemberPositions.after).allSatisfy { $0 >= .min + MemberPositions.gap })
        }
        var equal: [Int64] = [7, 7, 7, 7]
        _ = insert(at: 2, in: &equal)
        #expect(isAscending(equal))
    }
}
