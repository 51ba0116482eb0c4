// The value of a record of `viewGroups`: varint number of objects; the state of each aggregate in the order of the view
// (AggregateState.swift); for a key that was cut, the whole of it.

import Crypto
import StrataModel

/// The state of a group: the value of a record of `viewGroups`, which `GroupMerge` makes.
struct GroupState: Hashable {
    private(set) var rowCount: Int64 = 0
    private(set) var aggregates: [AggregateState]

    private init(rowCount: Int64) {
        self.rowCount = rowCount
        aggregates = []
    }

    init(_ view: PreparedView) {
        aggregates = [AggregateState](repeating: AggregateState(), count: view.aggregates.count)
    }

    /// - Returns: the state, and the whole key without the view's number.
    static func decode(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ view: PreparedView
    ) throws(CorruptRecord) -> (key: [UInt8], state: GroupState) {
        var reader = ByteReader(value)
        var state = GroupState(rowCount: Int64(try reader.readVarint()))
        state.aggregates.reserveCapacity(view.kinds.count)
        for kind in view.kinds { state.aggregates.append(try AggregateState(kind, &reader)) }
        let rest = try reader.readBytes(reader.remaining)
        guard key.count >= ViewKeys.numberSize else { throw CorruptRecord("key of a group cut short", at: 0) }
        return (Array(rest.isEmpty ? UnsafeRawBufferPointer(rebasing: key[ViewKeys.numberSize...]) : rest), state)
    }

    /// One aggregate of a record.
    static func aggregate(
        _ index: Int, of record: UnsafeRawBufferPointer, _ view: PreparedView
    ) throws(CorruptRecord) -> (rowCount: Int64, state: AggregateState) {
        var reader = ByteReader(record)
        let rowCount = Int64(try reader.readVarint())
        for earlier in 0..<index { try AggregateState.skip(view.kinds[earlier], &reader) }
        return (rowCount, try AggregateState(view.kinds[index], &reader))
    }
}

/// Makes the keys of `viewGroups` and `viewValues` from whole keys, which may be longer than LMDB takes.
enum ViewKeys {
    /// The size of a view's number at the beginning of each key.
    static let numberSize = 4
    /// A longer key is cut to `cutSize` bytes, and a digest of the whole key follows.
    static let largestGroup = 224
    private static let cutSize = 192
    /// The first bytes of a group's elements, which are never cut.
    static let largestPrefix = cutSize - numberSize
    /// The largest value after the key of its group and the number of its aggregate.
    private static let largestValue = 511 - largestGroup - 1

    /// The view of a record.
    static func view(of key: UnsafeRawBufferPointer) -> ViewID {
        guard key.count >= numberSize else { return ViewID(rawValue: 0) }
        return ViewID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)))
    }

    /// Appends a whole key of a group, with the view's number, as the tables have it.
    static func append(group key: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        append(key, largest: largestGroup, cut: cutSize, to: &writer)
    }

    /// Shortens a value that was written from `start` on.
    static func shortenValue(from start: Int, in writer: inout ByteWriter) {
        guard writer.count - start > largestValue else { return }
        let whole = Array(writer.bytes[start...])
        writer.truncate(to: start)
        whole.withUnsafeBytes { append($0, largest: largestValue, cut: cutSize, to: &writer) }
    }

    private static func append(
        _ bytes: UnsafeRawBufferPointer, largest: Int, cut: Int, to writer: inout ByteWriter
    ) {
        guard bytes.count > largest else { return writer.append(bytes) }
        writer.append(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        hash.finalize().withUnsafeBytes { writer.append($0) }
    }

    /// The key of the record of a group.
    static func stored(_ view: ViewID, _ key: [UInt8]) -> [UInt8] {
        let whole = withUnsafeBytes(of: view.rawValue.bigEndian) { Array($0) } + key
        if whole.count <= largestGroup { return whole }
        var writer = ByteWriter(capacity: 256)
        whole.withUnsafeBytes { append(group: $0, to: &writer) }
        return Array(writer.bytes)
    }

    /// The prefix of the records' keys of all groups whose whole keys begin with some elements.
    static func prefix(_ view: ViewID, _ elements: [UInt8]) -> [UInt8] {
        Array((withUnsafeBytes(of: view.rawValue.bigEndian) { Array($0) } + elements).prefix(cutSize))
    }

    /// Calls `body` with the bytes that all keys of a view begin with.
    static func withPrefix<R>(of view: ViewID, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: view.rawValue.bigEndian, body)
    }
}
