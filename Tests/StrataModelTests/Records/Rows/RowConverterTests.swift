import Foundation
import StrataModel
import Testing

struct RowConverterTests {
    private func convert(
        _ values: [AttributeValue], _ old: RowLayout, _ new: RowLayout, _ defaults: [UInt32: AttributeValue] = [:]
    ) throws -> [AttributeValue] {
        let bornDefaults = Dictionary(uniqueKeysWithValues: defaults.map { (PropertyID(rawValue: $0), $1) })
        let converter = try RowConverter(from: old, to: new, bornDefaults: bornDefaults)
        let image = try RowFixtures.image(old, values).bytes.withUnsafeBytes { try converter.convert($0) }
        return try image.read(new) { row throws in
            try row.validate()
            var values: [AttributeValue] = []
            for slot in 0..<row.slotCount { values.append(try row.value(slot)) }
            return values
        }
    }

    @Test func propertiesAreMatchedByNumber() throws {
        let old = RowFixtures.layout(
            version: 1, [(1, .attribute(.string)), (2, .attribute(.integer16)), (3, .attribute(.string)), (4, .toOne)])
        let new = RowFixtures.layout(
            version: 2,
            [
                (5, .attribute(.integer32)), (4, .toOne), (3, .attribute(.string)), (6, .attribute(.string)),
                (1, .attribute(.string)), (7, .attribute(.date)), (8, .toMany),
            ])
        let target = AttributeValue.objectID(ObjectID(rawValue: 99))
        let values = try convert(
            [.string("one"), .integer(2), .string("three"), target], old, new, [5: .integer(5), 6: .string("born")])
        #expect(values == [.integer(5), target, .string("three"), .string("born"), .string("one"), .null, .null])
    }

    @Test func nilStaysNilWhereTheOldRowHadTheProperty() throws {
        let old = RowFixtures.layout(version: 1, [(1, .attribute(.string)), (2, .attribute(.integer16))])
        let new = RowFixtures.layout(version: 2, [(1, .attribute(.string)), (2, .attribute(.integer64))])
        #expect(try convert([.null, .null], old, new, [1: .string("x"), 2: .integer(1)]) == [.null, .null])
    }

    @Test func everyKindIsCopied() throws {
        let old = RowFixtures.everyKind
        #expect(try convert(RowFixtures.values, old, old) == RowFixtures.values)
    }

    @Test func aTransientPropertyThatBecomesStoredReadsItsDefault() throws {
        let old = RowFixtures.layout(version: 1, [(1, .attribute(.string, isTransient: true))])
        let new = RowFixtures.layout(version: 2, [(1, .attribute(.string))])
        #expect(try convert([.null], old, new, [1: .string("born")]) == [.string("born")])
    }

    @Test func numbersAreWidened() throws {
        let cases: [(AttributeType, AttributeValue, AttributeType, AttributeValue)] = [
            (.boolean, .boolean(true), .integer16, .integer(1)), (.boolean, .boolean(true), .integer64, .integer(1)),
            (.integer16, .integer(-7), .integer32, .integer(-7)), (.integer16, .integer(-7), .integer64, .integer(-7)),
            (.integer32, .integer(.init(Int32.min)), .integer64, .integer(.init(Int32.min))),
            (.integer16, .integer(-7), .float, .float(-7)), (.integer32, .integer(7), .double, .double(7)),
            (.float, .float(0.5), .double, .double(0.5)),
            (.integer64, .integer(.min), .decimal, .decimal(Decimal(Int64.min))),
            (.integer16, .integer(100), .decimal, .decimal(100)),
        ]
        for (from, value, to, expected) in cases {
            let old = RowFixtures.layout(version: 1, [(1, .attribute(from))])
            let new = RowFixtures.layout(version: 2, [(1, .attribute(to)), (2, .attribute(to))])
            // The second property had a default of the narrower type when it was added.
            #expect(try convert([value], old, new, [2: value]) == [expected, expected], "\(from) to \(to)")
        }
    }

    @Test func dataMayMoveOutOfTheRow() throws {
        let old = RowFixtures.layout(version: 1, [(1, .attribute(.binaryData))])
        let new = RowFixtures.layout(version: 2, [(1, .attribute(.binaryData, isExternal: true))])
        #expect(try convert([.data(Data([1]))], old, new) == [.data(Data([1]))])
        #expect(throws: UnconvertibleSlot.self) { try RowConverter(from: new, to: old, bornDefaults: [:]) }
    }

    @Test func otherTypesAreRefused() throws {
        let old = RowFixtures.layout(version: 1, [(1, .attribute(.integer64))])
        for type in [AttributeType.integer32, .double, .string, .boolean, .date] {
            let new = RowFixtures.layout(version: 2, [(1, .attribute(type))])
            let error = #expect(throws: UnconvertibleSlot.self) {
                try RowConverter(from: old, to: new, bornDefaults: [:])
            }
            #expect(error?.propertyID.rawValue == 1 && error?.from == .integer64)
        }
    }
}
