// The progress of a view that catches up, is being built, or is to be dropped, in the table `state`.
// Little-endian:
//
//   key    "view", UInt32 number of the view, big-endian
//   value  UInt8 1 if it is of an older model and is to be dropped, else 0
//          UInt64 number of the last event that its groups include
//          UInt64 id of the next object to be grouped; UInt64.max once all are
//          UInt64 how many objects were grouped until then
//          UInt32 count, then UInt64 id of each object that is left out
//          UInt8 0, or 1 if it has failed; then also
//          UInt64 number of the event, UInt64 id of the object
//          Int64 microseconds since 1970 of the last attempt, UInt32 number of attempts
//          reason: UInt32 length and UTF-8
//
// The record and the groups change in one commit. A view that catches up has no groups as long as it has no record. One
// that is kept in each commit has a record only while it is built: until then, saves leave it alone.

import LMDB
package import StrataModel

/// The reason why a view that catches up has stopped.
package struct ViewFailure: Sendable, Hashable {
    /// The event that it cannot follow.
    package var eventNumber: EventNumber
    /// The object that it cannot group.
    package var object: ObjectID
    /// When it was tried last; 0 if it is to be tried at once.
    package var microseconds: Int64
    package var attempts: UInt32
    package var reason: String
}

/// The progress of a view that is kept behind the commits, is being built, or is to be dropped.
struct ViewProgress: Hashable {
    /// Whether the newest model does not have it. Its groups stay as they were until those that replace them are
    /// complete.
    var isRetired = false
    /// The state of the objects that its groups hold.
    var position = EventNumber.zero
    /// The first object that its groups do not hold yet.
    var next = ObjectID(rawValue: 0)
    var groupedCount: UInt64 = 0
    var leftOut: Set<ObjectID> = []
    var failure: ViewFailure?

    static let end = ObjectID(rawValue: .max)

    /// Whether the view has groups.
    var isBegun: Bool { next.rawValue > 0 }
    /// Whether the view has the groups of all objects.
    var isComplete: Bool { next == Self.end }

    private static let prefix = Array("view".utf8)

    private static func withKey<R>(_ view: ViewID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        var key = ByteWriter(capacity: 8)
        prefix.withUnsafeBytes { key.append($0) }
        key.append(bigEndian: view.rawValue)
        return try body(key.bytes)
    }

    static func read(_ view: ViewID, _ transaction: ReadTransaction, _ tables: StoreTables) throws -> ViewProgress? {
        try withKey(view) { key in
            guard let bytes = try transaction.get(tables.state, key) else { return nil }
            do throws(CorruptRecord) {
                return try ViewProgress(bytes)
            } catch {
                throw StrataError.corrupt(error, "state")
            }
        }
    }

    func write(_ view: ViewID, _ transaction: WriteTransaction, _ tables: StoreTables) throws {
        var writer = ByteWriter()
        writer.append(UInt8(isRetired ? 1 : 0))
        writer.append(littleEndian: position.rawValue)
        writer.append(littleEndian: next.rawValue)
        writer.append(littleEndian: groupedCount)
        writer.append(littleEndian: UInt32(leftOut.count))
        for id in leftOut.sorted() { writer.append(littleEndian: id.rawValue) }
        writer.append(UInt8(failure == nil ? 0 : 1))
        if let failure {
            writer.append(littleEndian: failure.eventNumber.rawValue)
            writer.append(littleEndian: failure.object.rawValue)
            writer.append(littleEndian: failure.microseconds)
            writer.append(littleEndian: failure.attempts)
            writer.append(text: failure.reason)
        }
        try Self.withKey(view) { try transaction.put(tables.state, $0, writer.bytes) }
    }

    static func remove(_ view: ViewID, _ transaction: WriteTransaction, _ tables: StoreTables) throws {
        _ = try withKey(view) { try transaction.delete(tables.state, $0) }
    }

    /// All records, by view.
    static func all(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> [ViewID: ViewProgress] {
        var found: [ViewID: ViewProgress] = [:]
        try prefix.withUnsafeBytes { prefix in
            try transaction.withCursor(tables.state) { cursor in
                var isThere = try cursor.seek(atOrAfter: prefix)
                while isThere, cursor.key.hasPrefix(prefix) {
                    do throws(CorruptRecord) {
                        var key = ByteReader(UnsafeRawBufferPointer(rebasing: cursor.key[prefix.count...]))
                        let view = ViewID(rawValue: UInt32(bigEndian: try key.readInteger()))
                        found[view] = try ViewProgress(cursor.value)
                    } catch {
                        throw StrataError.corrupt(error, "state")
                    }
                    isThere = try cursor.next()
                }
            }
        }
        return found
    }

    /// Says of all views that they have no groups.
    static func removeAll(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        let cursor = try transaction.writeCursor(tables.state)
        defer { cursor.close() }
        try prefix.withUnsafeBytes { prefix in
            while try cursor.seek(atOrAfter: prefix), cursor.key.hasPrefix(prefix) { try cursor.delete() }
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        var reader = ByteReader(bytes)
        isRetired = try reader.readByte() == 1
        position = EventNumber(rawValue: try reader.readInteger())
        next = ObjectID(rawValue: try reader.readInteger())
        groupedCount = try reader.readInteger()
        for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
            leftOut.insert(ObjectID(rawValue: try reader.readInteger()))
        }
        guard try reader.readByte() == 1 else { return }
        failure = ViewFailure(
            eventNumber: EventNumber(rawValue: try reader.readInteger()),
            object: ObjectID(rawValue: try reader.readInteger()), microseconds: try reader.readInteger(),
            attempts: try reader.readInteger(), reason: try reader.readText() ?? "")
    }

    init() {}

    /// A view of an older model whose groups are being removed.
    static var dropping: ViewProgress {
        var progress = ViewProgress()
        progress.isRetired = true
        return progress
    }

    /// All objects at an event.
    init(all count: UInt64, at eventNumber: EventNumber) {
        (position, next, groupedCount) = (eventNumber, Self.end, count)
    }
}
