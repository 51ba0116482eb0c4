// While a large migration is under way, the value of "head" in `meta` is longer than a head. Little-endian:
//
//   offset  width  field
//   0       72     the head (StoreHeader.swift)
//   72      4      model version before
//   76      4      model version that is being adopted; it is installed already
//   80      8      last event before it was installed
//   88      4      pass (EntityMigration.swift), from 0
//   92      4      which attributes have a `MigrationRule` (MigrationOptions.swift); 0 for none
//   96      8      object id where the pass continues
//   104     4      checksum: low half of XXH64 over bytes 72..<104
//   108     4      0
//
// A reader that finds the mark refuses to read, so that no reader sees an index half filled or an object half
// rewritten. The next opening for writing with the same model continues from there.

import LMDB
import StrataModel

/// Records that objects are being migrated to a new model, and how far the migration has come.
struct MigrationMark {
    static let size = LogHead.size + 40

    /// The pass of a migration and the object where it continues.
    struct Progress: Sendable, Hashable {
        var pass: Int
        var next: ObjectID
    }

    let head: LogHead
    let from: ModelVersion
    let to: ModelVersion
    /// The last event under the old model.
    let lastOfOld: EventNumber
    /// The attributes with a rule of the app's, which the passes depend on beside the two models.
    let valuesDigest: UInt32
    let progress: Progress
}

extension MigrationMark {
    /// Nil for a plain head.
    init?(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard bytes.count == Self.size else { return nil }
        head = try LogHead(UnsafeRawBufferPointer(rebasing: bytes[..<LogHead.size]))
        let tail = UnsafeRawBufferPointer(rebasing: bytes[LogHead.size...])
        let sum = UInt32(littleEndian: tail.loadUnaligned(fromByteOffset: 32, as: UInt32.self))
        guard Self.checksum(tail) == sum else {
            throw CorruptRecord("checksum of the mark of a migration does not match", at: LogHead.size)
        }
        var reader = ByteReader(tail)
        from = ModelVersion(rawValue: try reader.readInteger(as: UInt32.self))
        to = ModelVersion(rawValue: try reader.readInteger(as: UInt32.self))
        lastOfOld = EventNumber(rawValue: try reader.readInteger(as: UInt64.self))
        let pass = Int(try reader.readInteger(as: UInt32.self))
        valuesDigest = try reader.readInteger(as: UInt32.self)
        progress = Progress(pass: pass, next: ObjectID(rawValue: try reader.readInteger(as: UInt64.self)))
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        head.encoded().withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: from.rawValue)
        writer.append(littleEndian: to.rawValue)
        writer.append(littleEndian: lastOfOld.rawValue)
        writer.append(littleEndian: UInt32(progress.pass))
        writer.append(littleEndian: valuesDigest)
        writer.append(littleEndian: progress.next.rawValue)
        let sum = Self.checksum(UnsafeRawBufferPointer(rebasing: writer.bytes[LogHead.size...]))
        writer.append(littleEndian: sum)
        writer.append(littleEndian: UInt32(0))
        return writer.array
    }

    private static func checksum(_ tail: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: XXH64.hash(UnsafeRawBufferPointer(rebasing: tail[..<32])))
    }

    /// The error that readers and writers get while the migration is under way.
    func refusal(path: String) -> StrataError {
        StrataError(
            .persistentStoreTimeout,
            "The store is being migrated to another model. If no migration is running, opening the store for writing "
                + "with that model finishes it.",
            context: .init(path: path))
    }
}

extension StoreFile {
    /// The mark of a migration that is under way, or was interrupted.
    func migrationMark(_ transaction: ReadTransaction) throws -> MigrationMark? {
        guard let bytes = try Self.meta("head", tables, transaction) else { return nil }
        return try MigrationMark(bytes)
    }

    func writeMark(_ mark: MigrationMark, _ transaction: WriteTransaction) throws {
        try mark.encoded().withUnsafeBytes { value in
            try Self.withKey("head") { try transaction.put(tables.meta, $0, value) }
        }
    }
}
