import Foundation

/// Keys and values of bare LMDB, as large as Strata's.
enum BareRecord {
    static func movieID(_ number: Int) -> UInt64 { 1 << 48 | UInt64(number) }
    static func ownerID(_ number: Int) -> UInt64 { 2 << 48 | UInt64(number) }

    // MARK: Rows

    static let eventHeader = 72
    static let rowHeader = 16
    /// The fixed part of a movie's image: header, null bits, two numbers of eight bytes, two of four, two texts.
    private static let movieFixed = 56
    private static let ownerFixed = 24

    static func movieSize(_ row: MovieRow) -> Int { movieFixed + row.title.utf8.count + row.genre.utf8.count }
    static func ownerSize(_ owner: Int) -> Int { ownerFixed + MovieRow.ownerName(owner).utf8.count }

    static func writeMovie(_ row: MovieRow, into image: UnsafeMutableRawPointer) {
        image.storeBytes(of: row.rating, toByteOffset: 16, as: Double.self)
        image.storeBytes(of: UInt64(row.owner), toByteOffset: 24, as: UInt64.self)
        image.storeBytes(of: row.year, toByteOffset: 32, as: Int32.self)
        image.storeBytes(of: row.votes, toByteOffset: 36, as: Int32.self)
        var end = movieFixed
        for (text, offset) in [(row.title, 40), (row.genre, 48)] {
            var text = text
            let count = text.withUTF8 { bytes in
                if let start = bytes.baseAddress { (image + end).copyMemory(from: start, byteCount: bytes.count) }
                return bytes.count
            }
            image.storeBytes(of: UInt32(count), toByteOffset: offset, as: UInt32.self)
            end += count
        }
    }

    static func rating(_ row: UnsafeRawPointer) -> Double {
        row.loadUnaligned(fromByteOffset: rowHeader + 16, as: Double.self)
    }
    static func year(_ row: UnsafeRawPointer) -> Int {
        Int(row.loadUnaligned(fromByteOffset: rowHeader + 32, as: Int32.self))
    }
    static func votes(_ row: UnsafeRawPointer) -> Int32 {
        row.loadUnaligned(fromByteOffset: rowHeader + 36, as: Int32.self)
    }
    static func titleLength(_ row: UnsafeRawPointer) -> Int {
        Int(row.loadUnaligned(fromByteOffset: rowHeader + 40, as: UInt32.self))
    }
    static func genreLength(_ row: UnsafeRawPointer) -> Int {
        Int(row.loadUnaligned(fromByteOffset: rowHeader + 48, as: UInt32.self))
    }

    // MARK: Keys of indexes and links

    enum Index: UInt32 {
        case title = 1, year, rating, name
    }

    /// The keys of a commit in one buffer, to be sorted.
    struct Keys {
        /// The offset of a key, and its first sixteen bytes as numbers, which tell nearly all keys apart.
        private typealias KeyRange = (start: Int, count: Int, first: UInt64, second: UInt64)

        private var bytes: [UInt8] = []
        private var ranges: [KeyRange] = []

        mutating func add(_ index: Index, number: UInt64, _ id: UInt64) {
            let start = bytes.count
            append(index.rawValue)
            bytes.append(1)
            append(number)
            append(id)
            end(start)
        }

        mutating func add(_ index: Index, text: String, _ id: UInt64) {
            let start = bytes.count
            append(index.rawValue)
            bytes.append(1)
            bytes.append(contentsOf: text.utf8)
            bytes.append(0)
            bytes.append(0)
            append(id)
            end(start)
        }

        mutating func addMovie(_ row: MovieRow) {
            let id = movieID(row.index)
            add(.title, text: row.title, id)
            add(.year, number: UInt64(bitPattern: Int64(row.year)) ^ (1 << 63), id)
            add(.rating, number: ratingBits(row.rating), id)
        }

        /// The key of a link: its relationship, its owner, and the member.
        mutating func addLink(_ owner: UInt64, _ member: UInt64) {
            let start = bytes.count
            append(UInt32(5))
            append(owner)
            append(member)
            end(start)
        }

        private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        /// Every key has more than sixteen bytes.
        private mutating func end(_ start: Int) {
            let (first, second) = bytes.withUnsafeBytes {
                (
                    $0.loadUnaligned(fromByteOffset: start, as: UInt64.self),
                    $0.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
                )
            }
            ranges.append((start, bytes.count - start, first.bigEndian, second.bigEndian))
        }

        mutating func forEachInOrder(_ body: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
            let ranges = ranges
            try bytes.withUnsafeMutableBytes { all in
                let ordered = ranges.sorted { left, right in
                    guard left.first == right.first, left.second == right.second, let start = all.baseAddress
                    else { return (left.first, left.second) < (right.first, right.second) }
                    let order = memcmp(start + left.start, start + right.start, min(left.count, right.count))
                    return order == 0 ? left.count < right.count : order < 0
                }
                for range in ordered {
                    try body(UnsafeMutableRawBufferPointer(rebasing: all[range.start..<range.start + range.count]))
                }
            }
        }
    }

    /// Never negative, so the order of the numbers is that of their bits.
    static func ratingBits(_ rating: Double) -> UInt64 { rating.bitPattern | (1 << 63) }
}
