import Foundation
import StrataModel
import StrataTestSupport
import Testing

/// Keys of one element over one attribute type, from values and from rows.
struct KeyFixture {
    let type: AttributeType
    let codec: IndexKeyCodec
    let layout: RowLayout

    init(_ type: AttributeType, isAscending: Bool = true, folding: StringFolding = []) throws {
        self.type = type
        layout = RowFixtures.layout([(1, .attribute(type))])
        let kind = try #require(KeyKind(SlotKind(.attribute(type), allowsExternalStorage: false)))
        codec = IndexKeyCodec(elements: [.init(slot: 0, kind: kind, isAscending: isAscending, folding: folding)])
    }

    func key(_ value: AttributeValue) throws -> [UInt8] {
        var writer = ByteWriter()
        _ = try codec.append([value], to: &writer)
        return writer.array
    }

    func rowKey(_ value: AttributeValue) throws -> [UInt8] {
        try RowFixtures.image(layout, [value]).read(layout) { row in
            var writer = ByteWriter()
            _ = try codec.append(row, to: &writer)
            return writer.array
        }
    }
}

/// Random values of each type, including values at which codecs often fail.
enum RandomValues {
    static func value(_ type: AttributeType, using random: inout SeededGenerator) -> AttributeValue {
        switch type {
        case .boolean: .boolean(Bool.random(using: &random))
        case .integer16: .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
        case .integer32: .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
        case .integer64: .integer(integer(using: &random))
        case .double: .double(double(using: &random))
        case .float: .float(Float(double(using: &random)))
        case .date: .date(Date(timeIntervalSinceReferenceDate: double(using: &random)))
        case .decimal: .decimal(decimal(using: &random))
        case .string: .string(text(using: &random))
        case .uri: .url(URL(string: "http://a/\(UInt8.random(in: 0...255, using: &random))") ?? URL(filePath: "/"))
        case .uuid: .uuid(uuid(using: &random))
        case .binaryData: .data(data(using: &random))
        case .objectID: .objectID(ObjectID(rawValue: UInt64.random(in: 1 ... .max, using: &random)))
        default: .null
        }
    }

    static func integer(using random: inout SeededGenerator) -> Int64 {
        let edges: [Int64] = [.min, .min + 1, -1, 0, 1, 2, 3, 1 << 53, 1 << 53 + 1, .max - 1, .max]
        return Bool.random(using: &random)
            ? edges.randomElement(using: &random) ?? 0
            : Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...62, using: &random)
    }

    static func double(using random: inout SeededGenerator) -> Double {
        let edges = [
            -Double.infinity, -.greatestFiniteMagnitude, -2.5, -1, -.leastNonzeroMagnitude, -0.0, 0,
            .leastNonzeroMagnitude, 1, 2, 2.5, 3, 9_007_199_254_740_992, 9.3e18, .greatestFiniteMagnitude, .infinity,
        ]
        if Bool.random(using: &random) { return edges.randomElement(using: &random) ?? 0 }
        let value = Double(bitPattern: random.next())
        return value.isNaN ? 0.5 : value
    }

    static func decimal(using random: inout SeededGenerator) -> Decimal {
        let digits = Int.random(in: 1...38, using: &random)
        let mantissa = (0..<digits).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
        let sign = Bool.random(using: &random) ? "-" : ""
        let exponent = [0, 0, -1, -2, 1, Int.random(in: -60...60, using: &random)].randomElement(using: &random) ?? 0
        return Decimal(string: "\(sign)\(mantissa)e\(exponent - (exponent == 0 ? digits / 2 : 0))") ?? 0
    }

    static func text(using random: inout SeededGenerator) -> String {
        let scalars: [Unicode.Scalar] = [
            "\0", "\u{1}", "a", "A", "b", "e", "é", "\u{301}", "\u{323}", "ß", "\u{7F}", "日", "\u{FFFF}", "\u{1F600}",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a")
        }
        return text
    }

    static func data(using random: inout SeededGenerator) -> Data {
        let count = Int.random(in: 0...4, using: &random)
        return Data((0..<count).map { _ in [0, 1, 0xFE, 0xFF].randomElement(using: &random) ?? 0 })
    }

    static func uuid(using random: inout SeededGenerator) -> UUID {
        let (high, low) = (random.next(), random.next())
        return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// The order that keys must have; nil if the types differ.
func isBelow(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.null, .null): false
    case (.null, _): true
    case (_, .null): false
    case (.boolean(let left), .boolean(let right)): !left && right
    case (.integer(let left), .integer(let right)): left < right
    case (.float(let left), .float(let right)): left < right
    case (.double(let left), .double(let right)): left < right
    case (.date(let left), .date(let right)): left < right
    case (.decimal(let left), .decimal(let right)): left < right
    case (.string(let left), .string(let right)): left < right
    case (.url(let left), .url(let right)): left.absoluteString < right.absoluteString
    case (.uuid(let left), .uuid(let right)): left.uuidString < right.uuidString
    case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
    case (.objectID(let left), .objectID(let right)): left < right
    default: false
    }
}

struct KeyTests {
    static let types: [AttributeType] = [
        .boolean, .integer16, .integer32, .integer64, .double, .float, .date, .decimal, .string, .uri, .uuid,
        .binaryData, .objectID,
    ]

    @Test(arguments: types) func keysAreOrderedAsTheirValues(type: AttributeType) throws {
        let ascending = try KeyFixture(type)
        let descending = try KeyFixture(type, isAscending: false)
        var random = SeededGenerator(seed: UInt64(type.rawValue))
        for round in 0..<400 {
            let left = round % 50 == 0 ? .null : RandomValues.value(type, using: &random)
            let right = round % 70 == 0 ? .null : RandomValues.value(type, using: &random)
            let (leftKey, rightKey) = (try ascending.key(left), try ascending.key(right))
            #expect(leftKey.lexicographicallyPrecedes(rightKey) == isBelow(left, right), "\(left) and \(right)")
            #expect(rightKey.lexicographicallyPrecedes(leftKey) == isBelow(right, left), "\(left) and \(right)")
            #expect(try descending.key(left) == leftKey.map { ~$0 })
            #expect(try ascending.rowKey(left) == leftKey)
            #expect(try descending.rowKey(left) == leftKey.map { ~$0 })
        }
    }

    @Test func goldenBytesOfEveryKind() throws {
        func hex(_ type: AttributeType, _ value: AttributeValue) throws -> String {
            try KeyFixture(type).key(value).hex
        }
        #expect(try hex(.string, .null) == "00")
        #expect(try hex(.boolean, .boolean(true)) == "018000000000000001")
        #expect(try hex(.integer16, .integer(-2)) == "017ffffffffffffffe")
        #expect(try hex(.double, .double(1)) == "01bff0000000000000")
        #expect(try hex(.double, .double(-1)) == "01400fffffffffffff")
        #expect(try hex(.float, .float(-0.0)) == "018000000000000000")
        #expect(try hex(.double, .double(-.nan)) == "01fff8000000000000")
        #expect(try hex(.double, .double(.infinity)) == "01fff0000000000000")
        #expect(try hex(.date, .date(Date(timeIntervalSinceReferenceDate: 1))) == "01bff0000000000000")
        #expect(try hex(.decimal, .decimal(0)) == "0102")
        #expect(try hex(.decimal, .decimal(.nan)) == "0104")
        #expect(try hex(.decimal, .decimal(Decimal(string: "123.40") ?? 0)) == "010380030d2300")
        #expect(try hex(.decimal, .decimal(Decimal(string: "-123.40") ?? 0)) == "01017ffcf2dcff")
        #expect(try hex(.decimal, .decimal(5)) == "010380013300")
        #expect(try hex(.string, .string("a\0é")) == "016100ffc3a90001")
        #expect(try hex(.uri, .url(URL(string: "a:b") ?? URL(filePath: "/"))) == "01613a620001")
        #expect(try hex(.uuid, .uuid(RowFixtures.uuid)) == "01000102030405060708090a0b0c0d0e0f")
        #expect(try hex(.binaryData, .data(Data([0, 255]))) == "0100ffff0001")
        #expect(try hex(.objectID, .objectID(ObjectID(rawValue: 0x0102))) == "010000000000000102")
        #expect(try KeyFixture(.string, isAscending: false).key(.string("a")).hex == "fe9efffe")
        #expect(try KeyFixture(.string, folding: .caseInsensitive).key(.string("ÉA")).hex == "01c3a9610001")
    }

    @Test func wideningANumberKeepsItsKeys() throws {
        #expect(try KeyFixture(.integer16).rowKey(.integer(-7)) == KeyFixture(.integer64).rowKey(.integer(-7)))
        #expect(try KeyFixture(.boolean).rowKey(.boolean(true)) == KeyFixture(.integer16).rowKey(.integer(1)))
        #expect(try KeyFixture(.float).rowKey(.float(0.1)) == KeyFixture(.double).rowKey(.double(Double(Float(0.1)))))
    }

    @Test func decimalsAreOrderedExactly() throws {
        let fixture = try KeyFixture(.decimal)
        let texts = [
            "-340282366920938463463374607431768211455", "-10", "-9.99999999999999999999", "-1e-30", "0", "1e-100",
            "0.1", "0.11", "0.2", "1", "1.00000000000000000000000000000000001", "9", "10", "99", "100", "101", "1e100",
        ]
        let keys = try texts.map { try fixture.key(.decimal(#require(Decimal(string: $0)))) }
        for (left, right) in zip(keys, keys.dropFirst()) {
            #expect(left.lexicographicallyPrecedes(right))
        }
    }

    @Test func foldedKeysAreEqualWhereTextsAre() throws {
        let plain = try KeyFixture(.string)
        let both = try KeyFixture(.string, folding: [.caseInsensitive, .diacriticInsensitive])
        #expect(try plain.key(.string("e\u{301}")) == plain.key(.string("é")))
        #expect(try plain.key(.string("É")) != plain.key(.string("é")))
        #expect(try both.rowKey(.string("ÉTÉ")) == both.key(.string("ete")))
        var random = SeededGenerator(seed: 4)
        for _ in 0..<400 {
            let value = RandomValues.value(.string, using: &random)
            #expect(try both.rowKey(value) == both.key(value))
        }
    }

    @Test func textBeyondASCIIIsOrderedAsStringsAre() throws {
        let fixture = try KeyFixture(.string)
        let words = ["", "Zebra", "apfel", "zebra", "Äpfel", "äpfel", "Ωmega", "Жук", "日本", "🙂"]
        let keys = try words.map { try fixture.key(.string($0)) }
        #expect(words == words.sorted())
        for (left, right) in zip(keys, keys.dropFirst()) {
            #expect(left.lexicographicallyPrecedes(right))
        }
    }

    @Test func wrongKindsAreRefused() throws {
        #expect(throws: UncomparableKey(element: 0)) { try KeyFixture(.string).key(.integer(1)) }
        #expect(throws: UncomparableKey(element: 0)) { try KeyFixture(.integer64).key(.string("1")) }
        #expect(throws: UncomparableKey(element: 0)) { try KeyFixture(.binaryData).key(.blob(RowFixtures.blob)) }
    }
}

struct CompoundKeyTests {
    private let layout = RowFixtures.layout([
        (1, .attribute(.string)), (2, .attribute(.integer32)), (3, .toOne), (4, .attribute(.composite)),
    ])
    private let codec = IndexKeyCodec(elements: [
        .init(slot: 0, kind: .text), .init(slot: 1, kind: .integer, isAscending: false),
        .init(slot: 2, kind: .objectID),
    ])

    private func key(_ values: [AttributeValue], _ codec: IndexKeyCodec) throws -> (bytes: [UInt8], fit: KeyFit) {
        let padded = values + [AttributeValue](repeating: .null, count: layout.slotCount - values.count)
        return try RowFixtures.image(layout, padded).read(layout) { row in
            var writer = ByteWriter()
            let fit = try codec.append(row, to: &writer)
            return (writer.array, fit)
        }
    }

    @Test func elementsAreComparedOneAfterTheOther() throws {
        var random = SeededGenerator(seed: 5)
        func row() -> [AttributeValue] {
            [
                Int.random(in: 0..<4, using: &random) == 0 ? .null : .string(RandomValues.text(using: &random)),
                Int.random(in: 0..<4, using: &random) == 0 ? .null : .integer(.random(in: -2...2, using: &random)),
                .objectID(ObjectID(rawValue: .random(in: 1...3, using: &random))),
            ]
        }
        for _ in 0..<500 {
            let (left, right) = (row(), row())
            let expected =
                if left[0] != right[0] {
                    isBelow(left[0], right[0])
                } else if left[1] != right[1] {
                    isBelow(right[1], left[1])
                } else {
                    isBelow(left[2], right[2])
                }
            let (leftKey, rightKey) = (try key(left, codec), try key(right, codec))
            #expect(leftKey.bytes.lexicographicallyPrecedes(rightKey.bytes) == expected, "\(left) and \(right)")
            #expect(leftKey.fit == .whole)
            #expect(leftKey.bytes == rightKey.bytes || !rightKey.bytes.starts(with: leftKey.bytes))
            var writer = ByteWriter()
            _ = try codec.append(left, to: &writer)
            let bytes = writer.array
            #expect(bytes == leftKey.bytes)
        }
    }

    @Test func longKeysAreCut() throws {
        let long = String(repeating: "x", count: 600)
        let (bytes, fit) = try key([.string(long), .integer(1)], codec)
        #expect(fit == .cut && bytes.count == IndexKeyCodec.maximumLength)
        #expect(bytes == [1] + Array(long.utf8.prefix(498)))
        // There are 1 and 2 bytes around the text, and twice 9 after it.
        let target = AttributeValue.objectID(ObjectID(rawValue: 1))
        #expect(try key([.string(String(repeating: "x", count: 478)), .integer(1), target], codec).fit == .whole)
        #expect(try key([.string(String(repeating: "x", count: 479)), .integer(1), target], codec).fit == .cut)
        let accented = String(repeating: "é", count: 300)
        var values: [[UInt8]] = []
        for text in [accented, accented + "a"] { values.append(try key([.string(text)], codec).bytes) }
        #expect(values[0] == values[1])
    }

    @Test func longTextIsNotFoldedToItsEnd() throws {
        let text = "É" + String(repeating: "é", count: 2_000_000)
        // Measured in turn, so that neither a busy machine nor a sanitizer affects the result.
        let whole = processorTime { _ = TextFolding.fold(text, [.caseInsensitive, .diacriticInsensitive]) }
        var fit = KeyFit.whole
        let cut = try processorTime { fit = try key([.string(text)], codec).fit }
        #expect(fit == .cut && cut < whole / 2, "\(cut) s for the key, \(whole) s for the whole text")
    }

    @Test func elementsOfCompositesHaveKeys() throws {
        let nested = IndexKeyCodec(elements: [
            .init(slot: 3, kind: .text, path: ["address", "city"], folding: .caseInsensitive)
        ])
        func row(_ value: AttributeValue) -> [AttributeValue] { [.null, .null, .null, value] }
        let berlin = AttributeValue.composite(["address": .composite(["city": .string("Berlin")])])
        #expect(try key(row(berlin), nested).bytes == [1] + Array("berlin".utf8) + [0, 1])
        #expect(try key(row(.composite(["address": .null])), nested).bytes == [0])
        #expect(try key(row(.null), nested).bytes == [0])
        let wrong = AttributeValue.composite(["address": .composite(["city": .integer(1)])])
        #expect(throws: CorruptRecord.self) { try key(row(wrong), nested) }
    }

    @Test func nilElementsAreSeen() throws {
        func hasNull(_ values: [AttributeValue]) throws -> Bool {
            try RowFixtures.image(layout, values + [.null]).read(layout) { try codec.hasNull($0) }
        }
        let target = AttributeValue.objectID(ObjectID(rawValue: 1))
        #expect(try hasNull([.string(""), .integer(1), .null]))
        #expect(try !hasNull([.string(""), .integer(1), target]))
    }
}
