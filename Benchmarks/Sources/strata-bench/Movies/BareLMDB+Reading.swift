import CLMDBBare
import Foundation

extension BareLMDB {
    /// Calls `body` with the bytes of a row in the map.
    func get<R>(_ transaction: OpaquePointer?, _ id: UInt64, _ body: (UnsafeRawBufferPointer) -> R) throws -> R {
        var bytes = id.bigEndian
        return try withUnsafeMutableBytes(of: &bytes) { key in
            var keyValue = MDB_val(mv_size: 8, mv_data: key.baseAddress)
            var value = MDB_val()
            try Self.check(mdb_get(transaction, objects, &keyValue, &value))
            return body(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
        }
    }

    private func year(_ transaction: OpaquePointer?, _ id: UInt64) throws -> Int {
        try get(transaction, id) { $0.baseAddress.map(BareRecord.year) ?? 0 }
    }

    func sumOfYears(ofMovies picks: [Int]) throws -> Int {
        var sum = 0
        for pick in picks { sum += try read { try year($0, BareRecord.movieID(pick)) } }
        return sum
    }

    /// The owner's row, their links, and each member's row.
    func sumOfYears(ofOwners picks: [Int]) throws -> Int {
        var sum = 0
        for pick in picks {
            let owner = BareRecord.ownerID(pick)
            sum += try read { transaction in
                var years = try get(transaction, owner) { $0.isEmpty ? -1 : 0 }
                try forEachKey(transaction, links, from: Self.linkPrefix(owner)) { key in
                    guard key.count == 20, key.loadUnaligned(fromByteOffset: 4, as: UInt64.self) == owner.bigEndian
                    else { return false }
                    let member = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
                    years += try year(transaction, member)
                    return true
                }
                return years
            }
        }
        return sum
    }

    private static func linkPrefix(_ owner: UInt64) -> [UInt8] {
        withUnsafeBytes(of: UInt32(5).bigEndian, Array.init) + withUnsafeBytes(of: owner.bigEndian, Array.init)
    }

    func sumOfYears(fromRatings ratings: [Double]) throws -> Int {
        var sum = 0
        for rating in ratings {
            let index = withUnsafeBytes(of: BareRecord.Index.rating.rawValue.bigEndian, Array.init)
            let start =
                index + [1] + withUnsafeBytes(of: BareRecord.ratingBits(rating).bigEndian, Array.init)
            try read { transaction in
                var count = 0
                try forEachKey(transaction, indexes, from: start) { key in
                    guard count < 100, key.count == 21, key.prefix(4).elementsEqual(index) else { return false }
                    let id = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 13, as: UInt64.self))
                    sum += try year(transaction, id)
                    count += 1
                    return true
                }
            }
        }
        return sum
    }

    /// Calls `body` with keys in order, from the first that is not below `start`, until it returns false.
    private func forEachKey(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, from start: [UInt8],
        _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var cursor: OpaquePointer?
        try Self.check(mdb_cursor_open(transaction, table, &cursor))
        defer { mdb_cursor_close(cursor) }
        var start = start
        try start.withUnsafeMutableBytes { bytes in
            var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            var value = MDB_val()
            var result = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
            while result == 0, try body(UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)) {
                result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
        }
    }

    /// Each movie's row, with its id.
    private func forEachMovie(_ body: (UnsafeRawPointer) -> Void) throws {
        try read { transaction in
            var cursor: OpaquePointer?
            try Self.check(mdb_cursor_open(transaction, objects, &cursor))
            defer { mdb_cursor_close(cursor) }
            var (key, value) = (MDB_val(), MDB_val())
            var result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
            while result == 0, let id = key.mv_data, let row = value.mv_data,
                UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)) < BareRecord.ownerID(0)
            {
                body(row)
                result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
        }
    }

    func count(votesAbove votes: Int32) throws -> Int {
        var count = 0
        try forEachMovie { if BareRecord.votes($0) > votes { count += 1 } }
        return count
    }

    func summary() throws -> [Int] {
        var (movies, sum) = (0, 0)
        try forEachMovie { row in
            movies += 1
            sum &+= digest(
                title: BareRecord.titleLength(row), year: BareRecord.year(row), rating: BareRecord.rating(row),
                genre: BareRecord.genreLength(row), votes: Int(BareRecord.votes(row)))
        }
        let entries = try read { transaction in
            var statistics = MDB_stat()
            try Self.check(mdb_stat(transaction, objects, &statistics))
            return Int(statistics.ms_entries)
        }
        return [movies, entries - movies, sum]
    }
}
