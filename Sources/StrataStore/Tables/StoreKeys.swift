// The keys of the tables `links`, `pairs` and counters.

import Foundation
import StrataModel

/// Builds the keys of `links` and `pairs` on the stack, and takes keys apart.
enum StoreKey {
    /// Relationship, owner, member: 20 bytes; with a position between owner and member, 28.
    static let linkSize = 20
    static let orderedLinkSize = 28

    /// Calls `body` with the key of one link.
    static func withLink<R>(
        _ relationship: PropertyID, owner: ObjectID, position: Int64?, member: ObjectID,
        _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try withUnsafeTemporaryAllocation(byteCount: orderedLinkSize, alignment: 8) { key in
            key.storeBytes(of: relationship.rawValue.bigEndian, as: UInt32.self)
            key.storeBytes(of: owner.rawValue.bigEndian, toByteOffset: 4, as: UInt64.self)
            guard let position else {
                key.storeBytes(of: member.rawValue.bigEndian, toByteOffset: 12, as: UInt64.self)
                return try body(UnsafeRawBufferPointer(rebasing: key[..<linkSize]))
            }
            key.storeBytes(of: ordered(position).bigEndian, toByteOffset: 12, as: UInt64.self)
            key.storeBytes(of: member.rawValue.bigEndian, toByteOffset: 20, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(key))
        }
    }

    /// Calls `body` with the first twelve bytes of all links of one owner.
    static func withLinkPrefix<R>(
        _ relationship: PropertyID, owner: ObjectID, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try withUnsafeTemporaryAllocation(byteCount: 12, alignment: 8) { key in
            key.storeBytes(of: relationship.rawValue.bigEndian, as: UInt32.self)
            key.storeBytes(of: owner.rawValue.bigEndian, toByteOffset: 4, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(key))
        }
    }

    static func withPair<R>(_ pair: PairKey, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withLink(pair.property, owner: pair.source, position: nil, member: pair.target, body)
    }

    /// The pair that a key of `pairs` names; nil if the key has another length.
    static func pair(_ key: UnsafeRawBufferPointer) -> PairKey? {
        guard key.count == linkSize else { return nil }
        return PairKey(
            property: PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))),
            source: objectID(key, at: 4), target: objectID(key, at: 12))
    }

    /// The object id at an offset of a key; the nil id if the key is too short, as on a damaged page.
    static func objectID(_ key: UnsafeRawBufferPointer, at offset: Int) -> ObjectID {
        guard offset >= 0, key.count >= offset &+ 8 else { return ObjectID(rawValue: 0) }
        return ObjectID(rawValue: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    /// The object id at the end of an ordered key.
    static func lastObjectID(_ key: UnsafeRawBufferPointer) -> ObjectID { objectID(key, at: key.count - 8) }

    /// A signed number as an unsigned one with the same order.
    static func ordered(_ position: Int64) -> UInt64 { UInt64(bitPattern: position) ^ (1 << 63) }
    static func position(_ ordered: UInt64) -> Int64 { Int64(bitPattern: ordered ^ (1 << 63)) }
}

/// The value of a record of `pairs`.
struct PairState: Sendable, Hashable {
    static let size = 24

    /// The newest event on the pair.
    var revision: EventNumber
    var positions: PairPositions

    init(revision: EventNumber, positions: PairPositions) {
        self.revision = revision
        self.positions = positions
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard bytes.count == Self.size else { throw CorruptRecord("pair record of another length", at: 0) }
        func integer(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        revision = EventNumber(rawValue: integer(0))
        positions = PairPositions(
            inSource: Int64(bitPattern: integer(8)), inTarget: Int64(bitPattern: integer(16)))
    }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let words = (
            revision.rawValue.littleEndian, positions.inSource.littleEndian, positions.inTarget.littleEndian
        )
        return try withUnsafeBytes(of: words, body)
    }
}

/// Names a counter: objects of an entity, members of a to-many, or events that name a large value.
enum CounterKey: Hashable, Sendable {
    case entity(EntityID)
    case members(PropertyID, owner: ObjectID)
    /// The digest as four words in byte order.
    case blob(UInt64, UInt64, UInt64, UInt64)

    init(blob reference: BlobReference) {
        var words: [UInt64] = [0, 0, 0, 0]
        _ = words.withUnsafeMutableBytes { reference.digest.copyBytes(to: $0) }
        self = .blob(words[0], words[1], words[2], words[3])
    }

    /// The size in bytes of the key of an owner's members, which is also the beginning of the keys of its links.
    static let membersSize = 12

    var isBlob: Bool { if case .blob = self { true } else { false } }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        switch self {
        case .entity(let entity): try withUnsafeBytes(of: entity.rawValue.bigEndian, body)
        case .members(let relationship, let owner): try StoreKey.withLinkPrefix(relationship, owner: owner, body)
        case .blob(let a, let b, let c, let d): try withUnsafeBytes(of: (a, b, c, d), body)
        }
    }

    static func value(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> Int64 {
        guard bytes.count == 8 else { throw CorruptRecord("counter of another length", at: 0) }
        return Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    }

    /// The owner whose counter a key names, for an error; empty for other counters.
    static func errorContext(of key: UnsafeRawBufferPointer) -> StrataError.Context {
        key.count == membersSize ? StrataError.Context(objectID: StoreKey.objectID(key, at: 4)) : StrataError.Context()
    }
}

extension StoreKey {
    /// Calls `body` with the ends of a range of the `indexes` table: keys of one index, led by its number. Without an
    /// upper end the range extends to the last key of the index.
    static func withIndexRange<R>(
        _ index: IndexID, _ lower: [UInt8], _ upper: [UInt8]?,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        let size = 4 + lower.count
        return try withUnsafeTemporaryAllocation(
            byteCount: size + 4 + (upper?.count ?? 0), alignment: 1
        ) { buffer in
            buffer.storeBytes(of: index.rawValue.bigEndian, as: UInt32.self)
            lower.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[4..<size]).copyMemory(from: $0) }
            if let upper {
                buffer.storeBytes(of: index.rawValue.bigEndian, toByteOffset: size, as: UInt32.self)
                upper.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: buffer[(size + 4)...]).copyMemory(from: $0)
                }
            } else {
                buffer.storeBytes(of: (index.rawValue + 1).bigEndian, toByteOffset: size, as: UInt32.self)
            }
            return try body(
                UnsafeRawBufferPointer(rebasing: buffer[..<size]), UnsafeRawBufferPointer(rebasing: buffer[size...]))
        }
    }
}
