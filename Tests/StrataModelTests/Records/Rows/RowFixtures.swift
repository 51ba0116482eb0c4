import Foundation
import StrataModel

/// Makes layouts and rows without a model.
enum RowFixtures {
    /// A property as `layout` takes it: number and kind.
    enum Property {
        case attribute(AttributeType, isExternal: Bool = false, isTransient: Bool = false)
        case toOne
        case toMany
        case position
    }

    static func layout(
        entity: UInt16 = 7, version: UInt32 = 1, _ properties: [(UInt32, Property)]
    ) -> RowLayout {
        RowLayout(
            entityID: EntityID(rawValue: entity), version: ModelVersion(rawValue: version),
            properties: properties.enumerated().map { slot, property in
                PropertySchema(
                    id: PropertyID(rawValue: property.0), slot: slot, name: "p\(property.0)", kind: kind(property.1))
            })
    }

    private static func kind(_ property: Property) -> PropertySchema.Kind {
        switch property {
        case .attribute(let type, let isExternal, let isTransient):
            .attribute(
                AttributeDescription(
                    name: "a", type: type, isTransient: isTransient, allowsExternalBinaryDataStorage: isExternal))
        case .toOne: .relationship(relationship(isToMany: false))
        case .toMany: .relationship(relationship(isToMany: true))
        case .position: .position(of: PropertyID(rawValue: 1))
        }
    }

    private static func relationship(isToMany: Bool) -> RelationshipSchema {
        RelationshipSchema(
            description: RelationshipDescription(name: "r", destinationEntityName: "E", isToMany: isToMany),
            destination: EntityID(rawValue: 7), destinations: [EntityID(rawValue: 7)], inverse: nil,
            isInverseToMany: false, isInverseOrdered: false,
            truth: isToMany ? .inverseSlot : .slot, position: nil, positionSlot: nil)
    }

    /// One slot of every kind, in an order that makes offsets differ from slots; slot numbers below.
    static let everyKind = layout([
        (101, .attribute(.boolean)), (102, .attribute(.integer16)), (103, .attribute(.integer32)),
        (104, .attribute(.integer64)), (105, .attribute(.float)), (106, .attribute(.double)),
        (107, .attribute(.date)), (108, .attribute(.decimal)), (109, .attribute(.uuid)),
        (110, .attribute(.objectID)), (111, .toOne), (112, .position), (113, .attribute(.string)),
        (114, .attribute(.uri)), (115, .attribute(.binaryData)), (116, .attribute(.transformable)),
        (117, .attribute(.binaryData, isExternal: true)), (118, .attribute(.composite)), (119, .toMany),
        (120, .attribute(.string, isTransient: true)), (121, .attribute(.undefined)),
    ])

    static let uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    static let blob = BlobReference(digest: Data(0..<32), sizeInBytes: 5_000_000_000)

    /// A value for each slot of `everyKind`; null for properties that rows do not hold.
    static let values: [AttributeValue] = [
        .boolean(true), .integer(-2), .integer(70_000), .integer(.min), .float(1.5), .double(-0.0),
        .date(Date(timeIntervalSinceReferenceDate: 0.25)), .decimal(Decimal(string: "-12.50") ?? 0), .uuid(uuid),
        .objectID(ObjectID(rawValue: 0x0007_0000_0000_0009)), .objectID(ObjectID(rawValue: 0x0008_0000_0000_0001)),
        .integer(1 << 40), .string("Zoë"), .url(URL(string: "http://a.b/c") ?? URL(filePath: "/")),
        .data(Data([1, 0, 2])), .data(Data()), .blob(blob),
        .composite(["b": .integer(1), "a": .composite(["x": .string("y")])]), .null, .null, .double(2),
    ]

    static func image(_ layout: RowLayout = everyKind, _ values: [AttributeValue] = values) throws -> RowImage {
        var builder = RowBuilder(layout)
        for (slot, value) in values.enumerated() where value != .null { try builder.set(slot, value) }
        return try builder.finish()
    }
}

extension [UInt8] {
    /// Bytes as hexadecimal digits without spaces.
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// A generator of random numbers that are the same for the same seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension RowImage {
    /// Like `withReader`, for bodies that throw anything.
    func read<Result>(_ layout: RowLayout, _ body: (RowReader) throws -> Result) throws -> Result {
        try bytes.withUnsafeBytes { try body(RowReader($0, layout: layout)) }
    }
}
