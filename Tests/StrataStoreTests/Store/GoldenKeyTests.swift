import Foundation
import StrataModel
import Testing

@testable import StrataStore

/// Keys and small values of the tables, byte for byte. The bytes were worked out from the layout at the head of
/// `StoreTables.swift`, `StatisticsRecord.swift` and `KeyEncoding.swift`.
struct GoldenKeyTests {
    private let owner = ObjectID(entity: EntityID(rawValue: 3), row: 5)
    private let member = ObjectID(entity: EntityID(rawValue: 4), row: 6)
    private let relationship = PropertyID(rawValue: 9)

    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test func goldenBytesOfLinkKeys() {
        func key(_ position: Int64?, _ relationship: PropertyID) -> String {
            StoreKey.withLink(relationship, owner: owner, position: position, member: member) { hex($0) }
        }
        #expect(key(nil, relationship) == "00000009" + "0003000000000005" + "0004000000000006")
        #expect(key(2, relationship) == "00000009" + "0003000000000005" + "8000000000000002" + "0004000000000006")
        #expect(key(-1, relationship) == "00000009" + "0003000000000005" + "7fffffffffffffff" + "0004000000000006")
        #expect(key(nil, relationship.hiddenInverse) == "80000009" + "0003000000000005" + "0004000000000006")
        #expect(
            StoreKey.withLinkPrefix(relationship, owner: owner) { hex($0) } == "00000009" + "0003000000000005")
    }

    @Test func goldenBytesOfAPair() throws {
        let pair = PairKey(property: relationship, source: owner, target: member)
        StoreKey.withPair(pair) { key in
            #expect(hex(key) == "00000009" + "0003000000000005" + "0004000000000006")
            #expect(StoreKey.pair(key) == pair)
        }
        let state = PairState(
            revision: EventNumber(rawValue: 41), positions: PairPositions(inSource: -1, inTarget: 2))
        try state.withBytes { (bytes: UnsafeRawBufferPointer) throws in
            #expect(hex(bytes) == "2900000000000000" + "ffffffffffffffff" + "0200000000000000")
            #expect(try PairState(bytes) == state)
            #expect(throws: CorruptRecord.self) { try PairState(UnsafeRawBufferPointer(rebasing: bytes[..<23])) }
        }
    }

    @Test func goldenBytesOfCounters() throws {
        let digest = Data(0..<32)
        for (key, bytes) in [
            (CounterKey.entity(EntityID(rawValue: 3)), "0003"),
            (.members(relationship, owner: owner), "00000009" + "0003000000000005"),
            (CounterKey(blob: BlobReference(digest: digest, sizeInBytes: 7)), hex(digest)),
        ] {
            #expect(key.withBytes { hex($0) } == bytes)
        }
        let value: [UInt8] = [0x2C, 1, 0, 0, 0, 0, 0, 0]
        #expect(try value.withUnsafeBytes { try CounterKey.value($0) } == 300)
        #expect(throws: CorruptRecord.self) { try value.dropLast().withUnsafeBytes { _ = try CounterKey.value($0) } }
    }

    @Test func goldenBytesOfStatistics() {
        let statistics = IndexStatistics(
            rows: 1000, share: 0.5, groupSizes: [4, 1], sample: [[0x01, 0x61, 0x00, 0x01], []])
        let bytes = StatisticsRecord.encoded(statistics)
        #expect(
            hex(bytes)
                == "01" + "e803000000000000" + "000000000000e03f" + "02" + "0000000000001040" + "000000000000f03f"
                + "02" + "0401610001" + "00")
        #expect(bytes.withUnsafeBytes { StatisticsRecord.decoded($0) } == statistics)
        for count in bytes.indices {
            #expect(bytes[..<count].withUnsafeBytes { StatisticsRecord.decoded($0) } == nil, "cut at \(count)")
        }
    }

    /// Index 1; "ÉA" without case; 1979 descending; object 5 of entity 1.
    @Test func goldenBytesOfAnIndexKeyWithTwoElements() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "year", type: .integer32, isOptional: true)),
                ],
                indexes: [
                    FetchIndexDescription(
                        name: "byTitle",
                        elements: [.init("title", folding: .caseInsensitive), .init("year", isAscending: false)])
                ])
        ])
        let fixture = try StoreFixture(model: model)
        let entity = try fixture.entity("Movie")
        let index = try #require(entity.indexes.first)
        let id = ObjectID(entity: entity.id, row: 5)
        func key(_ year: AttributeValue) throws -> String {
            let image = try fixture.image("Movie", ["title": .string("ÉA"), "year": year])
            var writer = ByteWriter()
            let reader = try RowReader(image.unsafeBytes, layout: entity.layout)
            let isIn = try withExtendedLifetime(image) {
                try IndexKeys.write(index, of: entity, reader, entity.layout, id, fixture.schema, into: &writer)
            }
            #expect(isIn)
            return hex(writer.array)
        }
        #expect(
            try key(.integer(1979)) == "00000001" + "01c3a9610001" + "fe7ffffffffffff844" + "0001000000000005")
        #expect(try key(.null) == "00000001" + "01c3a9610001" + "ff" + "0001000000000005")
    }
}
