import Foundation

/// The length of the statements that make the tables of a SQLite file, read without SQLite, which takes in all of them
/// before it answers anything.
///
/// They are the rows of a B-tree whose root is the first page; the format is that of <https://sqlite.org/fileformat2.html>.
struct SchemaSize {
    private let file: Int32
    private let pageSize: Int
    private var pagesLeft = 20_000
    private var bytes = 0

    /// Far more than the statements of any model take.
    static let largest = 8 << 20

    /// Whether the statements are longer than `largest` bytes. Damage is left to SQLite.
    ///
    /// - Parameter header: the first hundred bytes of the file.
    static func isTooLarge(_ file: Int32, header: [UInt8]) -> Bool {
        let stated = Int(header[16]) << 8 | Int(header[17])
        let pageSize = stated == 1 ? 65_536 : stated
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else { return false }
        var size = SchemaSize(file: file, pageSize: pageSize)
        size.add(page: 1, depth: 20)
        return size.bytes > largest
    }

    private init(file: Int32, pageSize: Int) {
        self.file = file
        self.pageSize = pageSize
    }

    private mutating func add(page number: Int, depth: Int) {
        pagesLeft -= 1
        guard depth > 0, pagesLeft >= 0, bytes <= Self.largest, number > 0 else { return }
        var page = [UInt8](repeating: 0, count: pageSize)
        guard pread(file, &page, pageSize, off_t(number - 1) * off_t(pageSize)) == pageSize else { return }
        let start = number == 1 ? 100 : 0
        let count = Self.number(page, start + 3, 2)
        switch page[start] {
        case 13:
            for index in 0..<count {
                let cell = Self.number(page, start + 8 + 2 * index, 2)
                bytes += Self.varint(page, cell)
            }
        case 5:
            for index in 0..<count {
                add(page: Self.number(page, Self.number(page, start + 12 + 2 * index, 2), 4), depth: depth - 1)
            }
            add(page: Self.number(page, start + 8, 4), depth: depth - 1)
        default: break
        }
    }

    /// A big-endian number; 0 behind the end of the page.
    private static func number(_ page: [UInt8], _ offset: Int, _ width: Int) -> Int {
        guard offset + width <= page.count else { return 0 }
        return page[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) }
    }

    /// A number of up to four bytes with seven bits each, as far as it is in the page.
    private static func varint(_ page: [UInt8], _ offset: Int) -> Int {
        var value = 0
        for index in page.indices.clamped(to: offset..<offset + 4) {
            value = value << 7 | Int(page[index] & 0x7F)
            if page[index] < 0x80 { break }
        }
        return value
    }
}
