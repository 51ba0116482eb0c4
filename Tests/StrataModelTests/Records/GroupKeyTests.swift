import Foundation
import StrataTestSupport
import Testing

@testable import StrataModel

@Suite struct GroupKeyTests {
    private struct Case {
        let type: AttributeType?
        let kind: KeyKind
        let values: [AttributeValue]

        init(_ type: AttributeType?, _ kind: KeyKind, _ values: [AttributeValue]) {
            self.type = type
            self.kind = kind
            self.values = values
        }
    }

    private var cases: [Case] {
        let decimals = [
            "-99999999999999999999999999999999999999", "-123.45", "-0.001", "0", "0.5", "1", "10", "12.3",
            "123456789012345678901234567890.12345678", "340282366920938463463374607431768211455",
        ].map { AttributeValue.decimal(Decimal(string: $0) ?? .nan) }
        let dates = [-1.5, 9].map { AttributeValue.date(Date(timeIntervalSinceReferenceDate: $0)) }
        let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        let long = String(repeating: "x", count: 2000)
        var cases = [Case(.boolean, .integer, [.boolean(false), .boolean(true), .null])]
        cases.append(
            Case(.integer64, .integer, [.integer(.min), .integer(-1), .integer(0), .integer(7), .integer(.max)]))
        cases.append(
            Case(
                .double, .double,
                [.double(-.infinity), .double(-1.5), .double(0), .double(.leastNonzeroMagnitude), .double(.infinity)]))
        cases.append(Case(.float, .double, [.float(-0.1), .float(0), .float(3.25)]))
        cases.append(Case(.date, .date, dates))
        cases.append(Case(.decimal, .decimal, decimals))
        cases.append(Case(.string, .text, [.string(""), .string("a\0b"), .string("é"), .string(long)]))
        cases.append(Case(.uri, .text, [.url(URL(filePath: "/tmp"))]))
        cases.append(Case(.uuid, .uuid, [.uuid(id)]))
        cases.append(Case(.binaryData, .data, [.data(Data()), .data(Data([0, 1, 0, 255]))]))
        cases.append(Case(nil, .objectID, [.null, .objectID(ObjectID(rawValue: 1 << 48 | 9))]))
        return cases
    }

    @Test func aKeyHasTheValuesOfItsGroup() throws {
        for example in cases {
            var keys: [[UInt8]] = []
            for value in example.values {
                var writer = ByteWriter()
                GroupKey.append(value, example.kind, to: &writer)
                let key = writer.array
                keys.append(key)
                try key.withUnsafeBytes { bytes in
                    var reader = ByteReader(bytes)
                    let read = try GroupKey.value(&reader, example.type)
                    #expect(read.isIdentical(to: value), "\(value)")
                    #expect(reader.isAtEnd)
                }
                for end in 0..<min(key.count, 40) {
                    _ = key[..<end].withUnsafeBytes { bytes in
                        #expect(throws: CorruptRecord.self, "\(value), \(end)") {
                            var reader = ByteReader(bytes)
                            _ = try GroupKey.value(&reader, example.type)
                        }
                    }
                }
            }
            #expect(Set(keys).count == example.values.count)
        }
    }

    @Test func equalValuesHaveOneKey() {
        func key(_ value: AttributeValue, _ kind: KeyKind) -> [UInt8] {
            var writer = ByteWriter()
            GroupKey.append(value, kind, to: &writer)
            return writer.array
        }
        #expect(key(.double(-0.0), .double) == key(.double(0), .double))
        #expect(key(.double(.nan), .double) == key(.double(-.nan), .double))
        #expect(key(.string("e\u{301}"), .text) == key(.string("\u{E9}"), .text))
        #expect(key(.decimal(1), .decimal) == key(.decimal(Decimal(string: "1.00") ?? 0), .decimal))
    }
}
