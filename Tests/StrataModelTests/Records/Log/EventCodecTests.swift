import Foundation
import StrataModel
import Testing

/// Records of the log, byte for byte. The expected bytes follow from the layout at the head of each codec's file.
struct EventCodecTests {
    private static let source = ObjectID(entity: EntityID(rawValue: 3), row: 5)
    private static let target = ObjectID(entity: EntityID(rawValue: 4), row: 6)
    private static let pair = PairKey(property: PropertyID(rawValue: 9), source: source, target: target)
    private static let positions = PairPositions(inSource: -1, inTarget: 2)
    private static let change = PropertyChange(
        property: PropertyID(rawValue: 7), before: .previous, after: .value(.integer(1)))

    /// Object, transaction 17, previous event 16; then payload length, digest 00…0f and salt 10…1f.
    private static let onObject = "05000000000003001100000000000000" + "1000000000000000"
    private static let onNothing = "00000000000000001100000000000000" + "1000000000000000"
    private static let seal = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    private static let pairBytes =
        "09000000" + "0500000000000300" + "0600000000000400" + "ffffffffffffffff0200000000000000"

    private struct Example: Sendable {
        let kind: EventKind
        var flags: EventFlags = []
        let write: @Sendable (inout ByteWriter) throws -> Void
        let hex: String
    }

    private static let examples = [
        Example(
            kind: .inserted, write: { for byte: UInt8 in 1...3 { $0.append(byte) } },
            hex: "010100006af4738f" + onObject + "0300000000000000" + seal + "010203"),
        Example(
            kind: .updated, write: { try $0.append(changes: [change]) },
            hex: "01020000e1d9c852" + onObject + "1000000000000000" + seal + "0100070000000f030100000000000000"),
        Example(
            kind: .deleted, write: { try $0.append(lastValues: [(change.property, change.after)]) },
            hex: "010300008502ab9d" + onObject + "1000000000000000" + seal + "01010007000000030100000000000000"),
        Example(
            kind: .linked, write: { $0.append(pair: PairEvent(key: pair, positions: positions)) },
            hex: "01040000ee87d84e" + onObject + "2400000000000000" + seal + pairBytes),
        Example(
            kind: .unlinked, write: { $0.append(pair: PairEvent(key: pair, positions: positions)) },
            hex: "01050000d710c64f" + onObject + "2400000000000000" + seal + pairBytes),
        Example(
            kind: .moved,
            write: {
                let after = PairPositions(inSource: 3, inTarget: 4)
                $0.append(pair: PairEvent(key: pair, positions: after, positionsBefore: positions))
            },
            hex: "0106000085802d46" + onObject + "3400000000000000" + seal + pairBytes
                + "03000000000000000400000000000000"),
        Example(
            kind: .modelInstalled,
            write: {
                $0.append(littleEndian: UInt32(2))
                for byte in "{}".utf8 { $0.append(byte) }
            }, hex: "01070000f72865d8" + onNothing + "0600000000000000" + seal + "020000007b7d"),
        Example(
            kind: .maintenance, flags: .skippable, write: { _ in },
            hex: "01080100c31c05ff" + onNothing + "0000000000000000" + seal),
    ]

    private func encode(_ example: Example) throws -> [UInt8] {
        var payload = ByteWriter()
        try example.write(&payload)
        let hasObject = example.kind != .modelInstalled && example.kind != .maintenance
        let header = EventHeader(
            kind: example.kind, flags: example.flags, object: hasObject ? Self.source : ObjectID(rawValue: 0),
            transaction: TransactionNumber(rawValue: 17), previous: EventNumber(rawValue: 16),
            payloadSize: payload.count)
        var bytes = [UInt8](repeating: 0, count: EventHeader.size) + payload.array
        bytes.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { header.encode(into: base) }
            for byte in 0..<32 { bytes[EventHeader.digestOffset + byte] = UInt8(byte) }
            EventHeader.seal(bytes)
        }
        return bytes
    }

    @Test func goldenBytesOfEveryKindOfEvent() throws {
        for example in Self.examples { #expect(try encode(example).hex == example.hex, "\(example.kind)") }
        #expect(Set(Self.examples.map(\.kind)) == Set(EventKind.allCases))
    }

    @Test func eventsReadBackAsTheyWereWritten() throws {
        for example in Self.examples {
            try encode(example).withUnsafeBytes { bytes throws in
                let event = try EventView(bytes)
                #expect(event.header.kind == example.kind && event.header.flags == example.flags)
                #expect(event.header.transaction.rawValue == 17 && event.header.previous.rawValue == 16)
                switch example.kind {
                case .inserted: #expect(Array(event.payload) == [1, 2, 3])
                case .updated: #expect(try event.changes() == [Self.change])
                case .deleted:
                    guard case .values(let values) = try event.deleted() else { return #expect(Bool(false)) }
                    #expect(values.map(\.property) == [Self.change.property])
                    #expect(values.map(\.value) == [Self.change.after])
                case .linked, .unlinked:
                    #expect(try event.pair() == PairEvent(key: Self.pair, positions: Self.positions))
                case .moved:
                    let moved = try event.pair()
                    #expect(moved.positionsBefore == Self.positions && moved.positions.inTarget == 4)
                case .modelInstalled:
                    let installed = try event.installedModel()
                    #expect(installed.version.rawValue == 2 && installed.record == Data("{}".utf8))
                case .maintenance: #expect(event.payload.isEmpty)
                }
            }
        }
    }

    /// A reader that is far behind skips values without decoding them.
    @Test func imagesFromBeforeAnUpdateAreFoundWithoutDecoding() throws {
        let values: [AttributeValue] = [
            .null, .boolean(true), .boolean(false), .integer(-7), .float(1.5), .double(2.5), .decimal(3.25),
            .string("vier"), .date(Date(timeIntervalSinceReferenceDate: 5)), .uuid(UUID()),
            .url(try #require(URL(string: "strata:6"))), .data(Data([7, 8])),
            .blob(BlobReference(digest: Data(repeating: 9, count: 32), sizeInBytes: 10)), .objectID(Self.target),
            .composite(["a": .integer(1), "b": .composite(["c": .string("d"), "e": .null])]), .composite([:]),
        ]
        var changes = values.enumerated().map { number, value in
            PropertyChange(
                property: PropertyID(rawValue: UInt32(number)), before: .value(value),
                after: .value(values[values.count - 1 - number]))
        }
        changes.append(Self.change)
        let bytes = try encode(
            Example(kind: .updated, write: { [changes] in try $0.append(changes: changes) }, hex: ""))
        var found: [(property: PropertyID, value: RecordedValue)] = []
        try bytes.withUnsafeBytes { bytes in
            try EventView(bytes).forEachBeforeImage { property, image in
                guard let image else { return found.append((property, .previous)) }
                var reader = ByteReader(image)
                found.append((property, .value(try ValueCodec.decode(&reader))))
                #expect(reader.isAtEnd)
            }
        }
        #expect(found.map(\.property) == changes.map(\.property))
        #expect(found.map(\.value) == changes.map(\.before))
    }

    @Test func damagedEventsAreRefused() throws {
        for example in Self.examples {
            let bytes = try encode(example)
            for count in bytes.indices {
                #expect(throws: CorruptRecord.self) {
                    try Array(bytes[..<count]).withUnsafeBytes { _ = try EventView($0) }
                }
            }
            for offset in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[offset] ^= 1 << UInt8(bit)
                    #expect(throws: CorruptRecord.self, "\(example.kind), bit \(bit) of byte \(offset)") {
                        try damaged.withUnsafeBytes { _ = try EventView($0) }
                    }
                }
            }
        }
    }

    // MARK: Transactions

    private static let record = TransactionRecord(
        number: TransactionNumber(rawValue: 17), digest: Array(0..<32),
        id: UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
        firstEvent: EventNumber(rawValue: 40), eventCount: 2, modelVersion: ModelVersion(rawValue: 3),
        microseconds: -5, processID: 99, author: "Ann", contextName: nil, processName: "",
        metadata: ["b": "ü", "a": "1"],
        touched: [
            .init(
                entity: EntityID(rawValue: 3), kinds: 0x0A,
                properties: [PropertyID(rawValue: 7), PropertyID(rawValue: 9)])
        ])

    @Test func goldenBytesOfATransaction() throws {
        let bytes = Self.record.encoded()
        #expect(
            bytes.hex
                == "01000000b843c4bd" + Self.seal + "000102030405060708090a0b0c0d0e0f"
                + "2800000000000000" + "02000000" + "03000000" + "fbffffffffffffff" + "63000000"
                + "03000000416e6e" + "ffffffff" + "00000000"
                + "0200" + "0100000061" + "0100000031" + "0100000062" + "02000000c3bc"
                + "0100" + "03000a0200" + "07000000" + "09000000")
        try bytes.withUnsafeBytes { bytes throws in
            #expect(try TransactionRecord(bytes, number: Self.record.number) == Self.record)
        }
    }

    @Test func damagedTransactionsAreRefused() throws {
        let bytes = Self.record.encoded()
        func read(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes { _ = try TransactionRecord($0, number: Self.record.number) }
        }
        for count in bytes.indices { #expect(throws: CorruptRecord.self) { try read(Array(bytes[..<count])) } }
        for offset in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[offset] ^= 1 << UInt8(bit)
                #expect(throws: CorruptRecord.self, "bit \(bit) of byte \(offset)") { try read(damaged) }
            }
        }
    }
}
