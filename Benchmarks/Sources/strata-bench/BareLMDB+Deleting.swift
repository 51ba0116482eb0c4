import CLMDBBare
import Foundation

extension BareLMDB {
    /// Makes a further owner, and movies that are all its own.
    func insertCollection(ofOwner owner: Int, _ rows: [MovieRow], first: Int) throws {
        try write { transaction in
            try append(transaction, size: 72 + Self.ownerImageSize)
            try put(transaction, objects, Self.ownerID(owner), size: 16 + Self.ownerImageSize)
        }
        try insert(rows, first: first, owner: owner)
    }

    /// Deletes an owner with its movies in one durable commit: for each a log record with its last row (72-byte header,
    /// one byte, the image) and a tombstone; its row goes, a movie's index and link keys too, and the owner's counter.
    func deleteCollection(ofOwner owner: Int, _ rows: [MovieRow], first: Int) throws {
        try write { transaction in
            for (offset, row) in rows.enumerated() {
                let id = Self.movieID(first + offset)
                try append(transaction, size: 73 + Self.movieImageSize + row.title.utf8.count)
                try delete(transaction, objects, id)
                try put(transaction, tombstones, id, size: 8)
            }
            try append(transaction, size: 73 + Self.ownerImageSize)
            try delete(transaction, objects, Self.ownerID(owner))
            try put(transaction, tombstones, Self.ownerID(owner), size: 8)
            try withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { key in
                for (index, value, id) in Self.indexKeys(rows, first: first) {
                    Self.writeIndexKey(index, value, id, into: key)
                    try delete(transaction, indexes, key, size: 21)
                }
                key.storeBytes(of: UInt32(5).bigEndian, as: UInt32.self)
                key.storeBytes(of: Self.ownerID(owner).bigEndian, toByteOffset: 4, as: UInt64.self)
                for offset in rows.indices {
                    key.storeBytes(of: Self.movieID(first + offset).bigEndian, toByteOffset: 12, as: UInt64.self)
                    try delete(transaction, links, key, size: 20)
                }
                try delete(transaction, counts, key, size: 12)
            }
        }
    }

    private func delete(_ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UInt64) throws {
        var bytes = key.bigEndian
        try withUnsafeMutableBytes(of: &bytes) { try delete(transaction, table, $0, size: 8) }
    }

    /// Fails where there is nothing to delete.
    private func delete(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UnsafeMutableRawBufferPointer, size: Int
    ) throws {
        var keyValue = MDB_val(mv_size: size, mv_data: key.baseAddress)
        try Self.check(mdb_del(transaction, table, &keyValue, nil))
    }
}
