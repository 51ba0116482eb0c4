import CLMDBBare
import Foundation

extension BareLMDB {
    // MARK: Inserting

    func insertOwners(_ range: Range<Int>) throws {
        try write { transaction in
            var keys = BareRecord.Keys()
            for owner in range {
                let size = BareRecord.ownerSize(owner)
                try append(transaction, size: BareRecord.eventHeader + size)
                try put(transaction, objects, BareRecord.ownerID(owner), size: BareRecord.rowHeader + size)
                keys.add(.name, text: MovieRow.ownerName(owner), BareRecord.ownerID(owner))
            }
            try keys.forEachInOrder { try putEmpty(transaction, indexes, $0) }
        }
    }

    func insert(_ rows: [MovieRow]) throws {
        try write { transaction in
            var keys = BareRecord.Keys()
            var links: [(owner: UInt64, movie: UInt64)] = []
            for row in rows {
                let (id, size) = (BareRecord.movieID(row.index), BareRecord.movieSize(row))
                try append(transaction, size: BareRecord.eventHeader + size) {
                    BareRecord.writeMovie(row, into: $0 + BareRecord.eventHeader)
                }
                try put(transaction, objects, id, size: BareRecord.rowHeader + size) {
                    BareRecord.writeMovie(row, into: $0 + BareRecord.rowHeader)
                }
                keys.addMovie(row)
                links.append((BareRecord.ownerID(row.owner), id))
            }
            try keys.forEachInOrder { try putEmpty(transaction, indexes, $0) }
            try writeLinks(transaction, links.sorted { $0 < $1 })
        }
    }

    /// Links in order, and for each owner their counter.
    private func writeLinks(_ transaction: OpaquePointer?, _ pairs: [(owner: UInt64, movie: UInt64)]) throws {
        var keys = BareRecord.Keys()
        var added = 0
        for (place, pair) in pairs.enumerated() {
            keys.addLink(pair.owner, pair.movie)
            added += 1
            if place + 1 < pairs.count, pairs[place + 1].owner == pair.owner { continue }
            try count(transaction, pair.owner, adding: added)
            added = 0
        }
        try keys.forEachInOrder { try putEmpty(transaction, links, $0) }
    }

    private func count(_ transaction: OpaquePointer?, _ owner: UInt64, adding added: Int) throws {
        try withCounterKey(owner) { key in
            var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
            var value = MDB_val()
            var sum = UInt64(added)
            if mdb_get(transaction, counts, &keyValue, &value) == 0 {
                sum += value.mv_data?.loadUnaligned(as: UInt64.self) ?? 0
            }
            try put(transaction, counts, key, size: 8) { $0.storeBytes(of: sum, as: UInt64.self) }
        }
    }

    private func withCounterKey(_ owner: UInt64, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        try withUnsafeTemporaryAllocation(byteCount: 12, alignment: 8) { key in
            key.storeBytes(of: UInt32(5).bigEndian, as: UInt32.self)
            key.storeBytes(of: owner.bigEndian, toByteOffset: 4, as: UInt64.self)
            try body(key)
        }
    }

    // MARK: Changing

    /// For each a log record of both values, the row, the old index key and the new one.
    func update(_ ratings: [(movie: Int, rating: Double)]) throws {
        try write { transaction in
            var (old, new) = (BareRecord.Keys(), BareRecord.Keys())
            for (movie, rating) in ratings {
                let id = BareRecord.movieID(movie)
                var row: [UInt8] = []
                let before = try get(transaction, id) { bytes in
                    row = Array(bytes)
                    return row.withUnsafeBytes { $0.baseAddress.map(BareRecord.rating) ?? 0 }
                }
                try append(transaction, size: BareRecord.eventHeader + 32)
                try put(transaction, objects, id, size: row.count) { target in
                    row.withUnsafeBytes { bytes in
                        if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
                    }
                    target.storeBytes(of: rating, toByteOffset: BareRecord.rowHeader + 16, as: Double.self)
                }
                old.add(.rating, number: BareRecord.ratingBits(before), id)
                new.add(.rating, number: BareRecord.ratingBits(rating), id)
            }
            try old.forEachInOrder { try delete(transaction, indexes, $0) }
            try new.forEachInOrder { try putEmpty(transaction, indexes, $0) }
        }
    }

    /// For each object a log record with its last row (72-byte header, one byte, the image) and a tombstone; its row
    /// goes, a movie's index and link keys too, and the owner's counter.
    func deleteOwner(_ owner: Int, movies: [MovieRow]) throws {
        let ownerID = BareRecord.ownerID(owner)
        try write { transaction in
            var (keys, linkKeys) = (BareRecord.Keys(), BareRecord.Keys())
            for row in movies {
                let id = BareRecord.movieID(row.index)
                try append(transaction, size: BareRecord.eventHeader + 1 + BareRecord.movieSize(row))
                try delete(transaction, objects, id)
                try put(transaction, tombstones, id, size: 8)
                keys.addMovie(row)
                linkKeys.addLink(ownerID, id)
            }
            try append(transaction, size: BareRecord.eventHeader + 1 + BareRecord.ownerSize(owner))
            try delete(transaction, objects, ownerID)
            try put(transaction, tombstones, ownerID, size: 8)
            keys.add(.name, text: MovieRow.ownerName(owner), ownerID)
            try keys.forEachInOrder { try delete(transaction, indexes, $0) }
            try linkKeys.forEachInOrder { try delete(transaction, links, $0) }
            try withCounterKey(ownerID) { try delete(transaction, counts, $0) }
        }
    }
}
