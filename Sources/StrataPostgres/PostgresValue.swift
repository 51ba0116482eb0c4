import Foundation
import StrataModel

/// A parameter of a statement, in PostgreSQL's binary format.
struct PostgresValue {
    /// The number of the type in `pg_type`.
    let type: UInt32
    let bytes: [UInt8]

    private init(_ type: UInt32, _ bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    static func text(_ value: String) -> PostgresValue { PostgresValue(25, Array(value.utf8)) }
    static func bytes(_ value: Data) -> PostgresValue { PostgresValue(17, Array(value)) }
    static func bytes(_ value: [UInt8]) -> PostgresValue { PostgresValue(17, value) }
    static func uuid(_ value: UUID) -> PostgresValue { PostgresValue(2950, bigEndian(value)) }
    static func integer(_ value: UInt64) -> PostgresValue { PostgresValue(20, bigEndian(value)) }
    static func integer(_ value: Int64) -> PostgresValue { integer(UInt64(bitPattern: value)) }

    static func uuids(_ values: [UUID]) -> PostgresValue { array(2951, of: 2950, values.map(bigEndian)) }
    static func integers(_ values: [UInt64]) -> PostgresValue { array(1016, of: 20, values.map(bigEndian)) }
    static func byteArrays(_ values: [[UInt8]]) -> PostgresValue { array(1001, of: 17, values) }
    static func byteArrays(_ values: [Data]) -> PostgresValue { array(1001, of: 17, values) }

    private static func bigEndian(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    private static func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    private static func bigEndian(_ value: UUID) -> [UInt8] { withUnsafeBytes(of: value.uuid) { Array($0) } }

    /// One dimension from 1: number of dimensions, whether there are nulls, element type, count, lower bound; then each
    /// element with its length.
    private static func array(
        _ type: UInt32, of element: UInt32, _ values: [some Collection<UInt8>]
    ) -> PostgresValue {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + values.reduce(0) { $0 + 4 + $1.count })
        for word in [1, 0, element, UInt32(values.count), 1] { bytes += bigEndian(word) }
        for value in values {
            bytes += bigEndian(UInt32(value.count))
            bytes += value
        }
        return PostgresValue(type, bytes)
    }
}

/// The rows that a statement has returned, in PostgreSQL's binary format.
final class PostgresRows {
    private let library: PostgresLibrary
    private let result: OpaquePointer

    /// Takes over the result and clears it at the end.
    init(_ library: PostgresLibrary, _ result: OpaquePointer) {
        self.library = library
        self.result = result
    }

    deinit { library.clear(result) }

    var count: Int { Int(library.ntuples(result)) }

    private func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard library.getisnull(result, Int32(row), Int32(column)) == 0,
            let start = library.getvalue(result, Int32(row), Int32(column))
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(library.getlength(result, Int32(row), Int32(column))))
    }

    func data(_ row: Int, _ column: Int) -> Data? { value(row, column).map { Data($0) } }

    /// An integer of any size.
    func integer(_ row: Int, _ column: Int) -> UInt64? {
        value(row, column).flatMap { bytes in
            bytes.count <= 8 ? bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
        }
    }

    func uuid(_ row: Int, _ column: Int) -> UUID? {
        value(row, column).flatMap { $0.count == 16 ? UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) : nil }
    }

    func text(_ row: Int, _ column: Int) -> String? {
        value(row, column).map { String(decoding: $0, as: UTF8.self) }
    }
}
