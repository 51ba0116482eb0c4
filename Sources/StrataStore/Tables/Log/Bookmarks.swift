// Names for positions in the log, in the table `state`: they are no view, and no digest covers them.
//
//   key    "tag", the name in UTF-8               a tag; a maintenance event in the log records the same
//          "subscription", the name in UTF-8      how far a consumer has read
//   value  UInt64, little-endian: the number of the tagged event; of the last acknowledged transaction

import LMDB
import StrataModel

/// A kind of named position in the log.
enum Bookmark: String, Sendable {
    case tag
    case subscription

    /// LMDB allows keys of 511 bytes; the kind stands before the name.
    static let longestName = 400

    private func key(_ name: String) -> [UInt8] { Array(rawValue.utf8) + Array(name.utf8) }

    /// Checks a new name. A store may have others that were given before.
    ///
    /// - Throws: `keyTooLong`, `invalidRequest`.
    func check(_ name: String) throws {
        if name.utf8.count > Self.longestName {
            throw StrataError(
                .keyTooLong, "The name of a \(rawValue) has at most \(Self.longestName) bytes.",
                context: .init(value: .string(name)))
        }
        if let complaint = GivenName.complaint(about: name) {
            throw StrataError(
                .invalidRequest, "'\(name)' is no name for a \(rawValue): \(complaint).",
                context: .init(value: .string(name)))
        }
    }

    /// - Returns: nil if there is none, as for a name that is longer than any.
    func get(_ name: String, _ transaction: ReadTransaction, _ tables: StoreTables) throws -> UInt64? {
        guard name.utf8.count <= Self.longestName else { return nil }
        return try key(name).withUnsafeBytes { key in
            try transaction.get(tables.state, key).map { try Self.number($0) }
        }
    }

    func put(_ name: String, _ number: UInt64, _ transaction: WriteTransaction, _ tables: StoreTables) throws {
        try key(name).withUnsafeBytes { key in
            try withUnsafeBytes(of: number.littleEndian) { try transaction.put(tables.state, key, $0) }
        }
    }

    /// - Returns: whether the name was there.
    func remove(_ name: String, _ transaction: WriteTransaction, _ tables: StoreTables) throws -> Bool {
        guard name.utf8.count <= Self.longestName else { return false }
        return try key(name).withUnsafeBytes { try transaction.delete(tables.state, $0) }
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
            throw StrataError(.corrupt, "The record of a tag or subscription is damaged.")
        }
        return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
