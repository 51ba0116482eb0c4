// "header" in `meta`, written once when the store is created (the lineage again at a restore). Little-endian:
//
//   offset  width  field
//   0       8      magic "STRATA\0\1"
//   8       4      checksum: low half of XXH64 over everything from offset 12
//   12      4      format version, 1
//   16      4      compatible flags: unknown ones do not matter
//   20      4      read-compatible flags: with an unknown one the store opens read-only; 2: the store is a standby,
//                       which takes over transactions of another store and is otherwise only read; 4: the store has
//                       the tables of declared views, set when the first one is declared; 64: the store has the table
//                       of full texts, set when the first one is declared; 1 in place of 4: the tables of declared
//                       views are in a form of before the first release with views, and are made again when the store
//                       is opened for writing
//   24      4      incompatible flags: with an unknown one it does not open; 1: `links` and `indexes` have buffers;
//                       2: removals of their entries may wait; 4: counters of members leave out waiting entries;
//                       8: the history was truncated (LogBaseline.swift), set when that is first done;
//                       16: values were erased, set by the first erasure;
//                       32: a model with encrypted attributes was installed;
//                       64: events are in blocks (EventBlock.swift), set by the first one;
//                       128: saves may lie in the journal only, set when the store is first opened with the
//                       durability `journaled`; 256: the history of an entity was thinned (ThinnedRecord.swift), set
//                       when that is first done
//   28      16     store id
//   44      16     lineage id, renewed when a backup is restored
//   60      8      time of creation, microseconds since 1970, Int64
//
// "head" in `meta`, written by every commit: the end of the log. Records after it do not count.
//
//   0       4      checksum: low half of XXH64 over everything from offset 4
//   4       4      newest model version, 0 before the first model
//   8       8      last event
//   16      8      last transaction
//   24      8      its commit time, microseconds since 1970, Int64
//   32      32     its digest
//   64      8      first event of the whole log that is kept: 1, or the one after the baseline (LogBaseline.swift)
//
// "head" is longer during a rebuild (RebuildMark.swift) and during a migration in several commits
// (MigrationMark.swift).

import LMDB
package import Foundation
package import StrataModel

/// The identity and format of a store, read before anything else.
package struct StoreHeader: Sendable, Hashable {
    static let size = 68
    static let magic: [UInt8] = Array("STRATA\0\u{1}".utf8)
    static let formatVersion: UInt32 = 1
    /// The incompatible flags that this version supports.
    static let knownFlags: UInt32 =
        newFlags | baselineFlag | erasureFlag | encryptionFlag | blockFlag | journalFlag
        | thinningFlag
    /// The incompatible flags of a new store.
    static let newFlags: UInt32 = 7
    private static let baselineFlag: UInt32 = 8
    private static let erasureFlag: UInt32 = 16
    private static let encryptionFlag: UInt32 = 32
    private static let blockFlag: UInt32 = 64
    private static let journalFlag: UInt32 = 128
    private static let thinningFlag: UInt32 = 256
    /// The read-compatible flags that this version supports.
    static let knownReadFlags: UInt32 = formerViewsFlag | 2 | viewsFlag | 64
    private static let formerViewsFlag: UInt32 = 1
    private static let viewsFlag: UInt32 = 4

    package var format: UInt32 = Self.formatVersion
    package var compatibleFlags: UInt32 = 0
    package var readCompatibleFlags: UInt32 = 0
    package var incompatibleFlags: UInt32 = 0
    package var identifier: UUID
    package var lineage: UUID
    package var createdMicroseconds: Int64

    /// Whether entries of links and indexes may wait in buffers; false for stores created before buffers existed.
    var buffersEntries: Bool { incompatibleFlags & 1 != 0 }

    /// Whether removals of entries may wait; false for stores created before they could.
    var buffersRemovals: Bool { incompatibleFlags & 2 != 0 }

    /// Whether counters of members leave out entries that wait; false for stores created before they did.
    var buffersCounts: Bool { incompatibleFlags & 4 != 0 }

    /// Whether the history was truncated, so that the log begins with a baseline.
    var hasBaseline: Bool {
        get { incompatibleFlags & Self.baselineFlag != 0 }
        set { setFlag(Self.baselineFlag, newValue) }
    }

    /// Whether events have lost values on purpose.
    var hasErasures: Bool {
        get { incompatibleFlags & Self.erasureFlag != 0 }
        set { setFlag(Self.erasureFlag, newValue) }
    }

    /// Whether a model with encrypted attributes was installed.
    var isEncrypted: Bool {
        get { incompatibleFlags & Self.encryptionFlag != 0 }
        set { setFlag(Self.encryptionFlag, newValue) }
    }

    /// Whether events are in blocks.
    var hasBlocks: Bool {
        get { incompatibleFlags & Self.blockFlag != 0 }
        set { setFlag(Self.blockFlag, newValue) }
    }

    /// Whether saves may lie in the journal only.
    var isJournaled: Bool {
        get { incompatibleFlags & Self.journalFlag != 0 }
        set { setFlag(Self.journalFlag, newValue) }
    }

    /// Whether events of an entity have lost values that later ones replace.
    var isThinned: Bool {
        get { incompatibleFlags & Self.thinningFlag != 0 }
        set { setFlag(Self.thinningFlag, newValue) }
    }

    private mutating func setFlag(_ flag: UInt32, _ isSet: Bool) {
        incompatibleFlags = isSet ? incompatibleFlags | flag : incompatibleFlags & ~flag
    }

    /// Whether the store has the tables of declared views.
    var hasViews: Bool {
        get { readCompatibleFlags & Self.viewsFlag != 0 }
        set {
            readCompatibleFlags &= ~(Self.formerViewsFlag | Self.viewsFlag)
            if newValue { readCompatibleFlags |= Self.viewsFlag }
        }
    }

    /// Whether the tables of declared views have a form that is no longer read.
    var hasFormerViews: Bool { readCompatibleFlags & Self.formerViewsFlag != 0 }

    /// Whether the store has the table of full texts.
    var hasTexts: Bool {
        get { readCompatibleFlags & 64 != 0 }
        set { readCompatibleFlags = newValue ? readCompatibleFlags | 64 : readCompatibleFlags & ~64 }
    }

    /// Whether the store takes over transactions of another one, and is otherwise only read.
    var isStandby: Bool {
        get { readCompatibleFlags & 2 != 0 }
        set { readCompatibleFlags = newValue ? readCompatibleFlags | 2 : readCompatibleFlags & ~2 }
    }

    init(identifier: UUID, lineage: UUID, createdMicroseconds: Int64) {
        self.identifier = identifier
        self.lineage = lineage
        self.createdMicroseconds = createdMicroseconds
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        Self.magic.withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: UInt32(0))
        writer.append(littleEndian: format)
        writer.append(littleEndian: compatibleFlags)
        writer.append(littleEndian: readCompatibleFlags)
        writer.append(littleEndian: incompatibleFlags)
        withUnsafeBytes(of: identifier.uuid) { writer.append($0) }
        withUnsafeBytes(of: lineage.uuid) { writer.append($0) }
        writer.append(littleEndian: UInt64(bitPattern: createdMicroseconds))
        var bytes = writer.array
        Checksum.write(over: 12, at: 8, in: &bytes)
        return bytes
    }

    /// Whether the bytes begin like a header of any format version.
    static func isHeader(_ bytes: [UInt8]) -> Bool { bytes.count >= 16 && bytes.starts(with: magic) }

    init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard bytes.count >= 16, bytes.prefix(8).elementsEqual(Self.magic) else {
            throw CorruptRecord("not a Strata header", at: 0)
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[8...]))
        let sum = try reader.readInteger(as: UInt32.self)
        format = try reader.readInteger(as: UInt32.self)
        guard format == Self.formatVersion else {
            // Of an unknown format only the version can be read.
            identifier = UUID(uuid: zeroUUID)
            lineage = identifier
            createdMicroseconds = 0
            return
        }
        guard bytes.count == Self.size, sum == Checksum.of(bytes, from: 12) else {
            throw CorruptRecord("header checksum does not match", at: 8)
        }
        compatibleFlags = try reader.readInteger(as: UInt32.self)
        readCompatibleFlags = try reader.readInteger(as: UInt32.self)
        incompatibleFlags = try reader.readInteger(as: UInt32.self)
        identifier = UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self))
        lineage = UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self))
        createdMicroseconds = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
    }
}

private let zeroUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/// The end of the log.
package struct LogHead: Sendable, Hashable {
    static let size = 72

    package var modelVersion: ModelVersion
    package var event: EventNumber
    package var transaction: TransactionNumber
    package var microseconds: Int64
    package var digest: [UInt8]
    package var firstKeptEvent: EventNumber

    /// Before the first transaction.
    static let start = LogHead(
        modelVersion: ModelVersion(rawValue: 0), event: .zero, transaction: .zero, microseconds: 0,
        digest: [UInt8](repeating: 0, count: 32), firstKeptEvent: EventNumber(rawValue: 1))
}

extension LogHead {
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(littleEndian: UInt32(0))
        writer.append(littleEndian: modelVersion.rawValue)
        writer.append(littleEndian: event.rawValue)
        writer.append(littleEndian: transaction.rawValue)
        writer.append(littleEndian: UInt64(bitPattern: microseconds))
        digest.withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: firstKeptEvent.rawValue)
        var bytes = writer.array
        Checksum.write(over: 4, at: 0, in: &bytes)
        return bytes
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard bytes.count == Self.size else { throw CorruptRecord("log head of another length", at: 0) }
        var reader = ByteReader(bytes)
        guard try reader.readInteger(as: UInt32.self) == Checksum.of(bytes, from: 4) else {
            throw CorruptRecord("log head checksum does not match", at: 0)
        }
        modelVersion = ModelVersion(rawValue: try reader.readInteger(as: UInt32.self))
        event = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        transaction = TransactionNumber(rawValue: try reader.readInteger(as: UInt64.self))
        microseconds = Int64(bitPattern: try reader.readInteger(as: UInt64.self))
        digest = [UInt8](try reader.readBytes(32))
        firstKeptEvent = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
    }

    /// The first event that the history has whole.
    static func firstKeptEvent(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> EventNumber {
        _ = try lastEvent(bytes)
        return EventNumber(
            rawValue: UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: size - 8, as: UInt64.self)))
    }

    /// Reads two fields of an encoded head, with the same checks as the whole but without its array. Every read begins
    /// with this.
    static func lastEvent(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> (EventNumber, ModelVersion) {
        guard bytes.count == size else { throw CorruptRecord("log head of another length", at: 0) }
        guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == Checksum.of(bytes, from: 4) else {
            throw CorruptRecord("log head checksum does not match", at: 0)
        }
        return (
            EventNumber(rawValue: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
            ModelVersion(rawValue: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        )
    }
}

/// The short checksum of small records.
enum Checksum {
    static func of(_ bytes: UnsafeRawBufferPointer, from start: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[start...])))
    }

    static func write(over start: Int, at offset: Int, in bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            let sum = of(UnsafeRawBufferPointer(buffer), from: start)
            buffer.storeBytes(of: sum.littleEndian, toByteOffset: offset, as: UInt32.self)
        }
    }
}
