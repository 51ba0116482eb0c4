// Names for places in the log, in the table `state`: no view, no part of any digest.
//
//   key    "tag", the name in UTF-8               a tag; the log says the same in a maintenance event
//          "subscription", the name in UTF-8      how far a consumer has come
//   value  UInt64 sequence, little-endian: of the tagged event; of the last transaction that was acknowledged

import LMDB
import StrataModel

/// A kind of named place.
enum Bookmark: String, Sendable {
    case tag
    case subscription

    /// With the 511 bytes that LMDB allows for a key, and the kind before the name.
    static let longestName = 400

    private func key(_ name: String) -> [UInt8] { Array(rawValue.utf8) + Array(name.utf8) }

    func check(_ name: String) throws {
        guard !name.isEmpty, name.utf8.count <= Self.longestName else {
            throw StrataError(
                .keyTooLong, "The name of a \(rawValue) has from 1 to \(Self.longestName) bytes.",
                context: .init(value: .string(name)))
        }
    }

    func get(_ name: String, _ transaction: ReadTransaction, _ tables: StoreTables) throws -> UInt64? {
        try key(name).withUnsafeBytes { key in
            try transaction.get(tables.state, key).map { try Self.number($0) }
        }
    }

    func put(_ name: String, _ number: UInt64, _ transaction: WriteTransaction, _ tables: StoreTables) throws {
        try key(name).withUnsafeBytes { key in
            try withUnsafeBytes(of: number.littleEndian) { try transaction.put(tables.state, key, $0) }
        }
    }

    /// - Returns: whether there was one.
    func remove(_ name: String, _ transaction: WriteTransaction, _ tables: StoreTables) throws -> Bool {
        try key(name).withUnsafeBytes { try transaction.delete(tables.state, $0) }
    }

    func all(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> [String: UInt64] {
        let prefix = Array(rawValue.utf8)
        var found: [String: UInt64] = [:]
        try transaction.withCursor(tables.state) { cursor in
            var isThere = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
            while isThere, prefix.withUnsafeBytes({ cursor.key.hasPrefix($0) }) {
                let name = String(decoding: cursor.key.dropFirst(prefix.count), as: UTF8.self)
                found[name] = try Self.number(cursor.value)
                isThere = try cursor.next()
            }
        }
        return found
    }

    private static func number(_ bytes: UnsafeRawBufferPointer) throws -> UInt64 {
        guard bytes.count == 8 else {
            throw StrataError(.corrupt, "A named place in the log is damaged.")
        }
        return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
