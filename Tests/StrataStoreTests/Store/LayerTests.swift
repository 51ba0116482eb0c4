import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// What layers are made of: the table of objects and the sorted keys.
struct LayerTests {
    private static let property = PropertyID(rawValue: 7)

    private func bytes(_ value: AttributeValue) throws -> [UInt8] {
        var writer = ByteWriter()
        try ValueCodec.encode(value, into: &writer)
        return writer.array
    }

    /// Beside a dictionary that is told the same.
    @Test(arguments: RandomTesting.seeds) func objectsAreFoundWhateverTheirNumbers(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var rows = LayerRows()
        var expected: [ObjectID: [PropertyID: AttributeValue]?] = [:]
        if Bool.random(using: &random) { rows.reserve(100) }
        for _ in 0..<3000 {
            // Close together, far apart, and equal in their low bits.
            let row = UInt64.random(in: 0..<600, using: &random) << [0, 20, 33].randomElement(using: &random)!
            let id = ObjectID(entity: EntityID(rawValue: UInt16.random(in: 1...3, using: &random)), row: row)
            #expect(rows.contains(id) == (expected[id] != nil))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                rows.setAbsent(id)
                expected[id] = .some(nil)
            case 1:
                let index = rows.beginDelta(of: id, revision: .zero)
                expected[id] = .some([:])
                #expect(!rows.hasValue(Self.property, at: index))
            default:
                let index = rows.delta(of: id, revision: .zero)
                #expect((index == nil) == (expected[id].map { $0 == nil } ?? false))
                guard let index else { continue }
                let property = PropertyID(rawValue: UInt32.random(in: 1...4, using: &random))
                var values = expected[id].flatMap { $0 } ?? [:]
                #expect(rows.hasValue(property, at: index) == (values[property] != nil))
                if values[property] == nil {
                    let value = AttributeValue.integer(Int64.random(in: 0..<9, using: &random))
                    values[property] = value
                    try bytes(value).withUnsafeBytes { rows.add($0, of: property, at: index) }
                }
                expected[id] = .some(values)
            }
        }
        #expect(rows.count == expected.count && Set(rows.ids) == Set(expected.keys))
        for (id, values) in expected {
            switch (try rows.state(of: id), values) {
            case (.absent?, nil): break
            case (.delta(let delta)?, let values?):
                let found = delta.values.map { ($0.property, $0.value) }
                #expect(found.count == values.count && found.allSatisfy { values[$0.0] == $0.1 })
            default: Issue.record("seed \(seed): \(id) is something else")
            }
        }
    }

    @Test func aWholeRowIsNotMadeAbsentByItsReturn() throws {
        let fixture = try StoreFixture()
        var rows = LayerRows()
        let entity = try fixture.entity("Movie")
        let (one, two) = (ObjectID(entity: entity.id, row: 1), ObjectID(entity: entity.id, row: 2))
        let image = try fixture.image("Movie", ["title": .string("A")])
        rows.setRow(one, image, entity.layout, revision: EventNumber(rawValue: 3))
        for id in [one, two] { rows.setAbsent(unlessWhole: id) }
        guard case .row(_, _, let revision)? = try rows.state(of: one), revision.rawValue == 3 else {
            Issue.record("The row is gone.")
            return
        }
        guard case .absent? = try rows.state(of: two) else {
            Issue.record("It is there.")
            return
        }
    }

    /// Many keys are sorted by their first words, then by what follows; as few are, by comparing.
    @Test(arguments: [10, 511, 512, 4000], [1, 3, 200]) func keysComeInOrder(count: Int, words: UInt64) {
        var random = SeededGenerator(seed: UInt64(count) ^ words)
        var builder = SortedKeys.Builder()
        var keys: [[UInt8]] = []
        for _ in 0..<count {
            let word = UInt64.random(in: 0..<words, using: &random) &* 0x0101_0000_0001_0001
            var key: [UInt8] = [1, 2, 3]
            withUnsafeBytes(of: word.bigEndian) { key += $0 }
            key += (0..<Int.random(in: 0...3, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random) }
            keys.append(key)
            key.withUnsafeBytes { builder.append($0) }
        }
        let sorted = builder.finish()
        keys.sort { $0.lexicographicallyPrecedes($1) }
        #expect((0..<sorted.count).map { sorted.withKey($0) { Array($0) } } == keys)
    }

    /// A reader whose snapshot is older than the layers others have made meanwhile makes its own.
    @Test func aReaderOfAnOlderHeadDoesNotUseLayersOfANewerOne() throws {
        let fixture = try StoreFixture()
        let id = try fixture.insert("Movie", ["title": .string("A")])
        let then = try fixture.store.head()
        try fixture.update(id, ["title": .string("B")])
        let file = fixture.store.file
        try file.read { transaction, older, histories in
            try fixture.update(id, ["rating": .double(3)])
            // Makes the layers of `then` above the newest head.
            #expect(try fixture.values(id, at: then)?["title"] == .string("A"))
            let lag = LagLayers()
            let newer = try file.read { newerTransaction, newest, _ in
                try lag.layers(at: then, head: newest, newerTransaction, file, histories)
            }
            let own = try lag.layers(at: then, head: older, transaction, file, histories)
            #expect(newer.count == 1 && own.count == 1 && newer[0] !== own[0])
            guard case .delta(let delta)? = try own[0].state(of: id) else {
                Issue.record("No delta.")
                return
            }
            #expect(delta.values.count == 1 && delta.values.first?.value == .string("A"))
        }
    }
}
