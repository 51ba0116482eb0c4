import Foundation

/// What becomes of files on disks: one kind of damage to a data file.
enum FileDamage: String, CaseIterable {
    /// One bit anywhere.
    case bit
    case zeros, noise
    /// What the page held some commits before, as after a write that the disk lost.
    case older
    /// What another page holds.
    case misplaced
    /// One bit of the head of a page.
    case head
    /// One bit of LMDB's lists of free pages.
    case freeList
    /// The end of the file is missing.
    case cut

    static let pageSize = 4096
    private static let headSize = 16

    /// - Parameter old: the file some commits before.
    func applied<Generator: RandomNumberGenerator>(
        to sound: Data, before old: Data, using random: inout Generator
    ) -> Data {
        var bytes = sound
        let count = sound.count / Self.pageSize
        func flip(_ range: Range<Int>) {
            bytes[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        func range(of page: Int) -> Range<Int> { page * Self.pageSize..<(page + 1) * Self.pageSize }
        let page = range(of: Int.random(in: 2..<count, using: &random))
        switch self {
        case .bit: flip(0..<sound.count)
        case .zeros: bytes.replaceSubrange(page, with: Data(count: Self.pageSize))
        case .noise:
            for index in page { bytes[index] = UInt8.random(in: 0 ... .max, using: &random) }
        case .older:
            let changed = (2..<old.count / Self.pageSize).map(range).filter { old[$0] != sound[$0] }
            guard let page = changed.randomElement(using: &random) else { break }
            bytes.replaceSubrange(page, with: old[page])
        case .misplaced: bytes.replaceSubrange(page, with: sound[range(of: Int.random(in: 2..<count, using: &random))])
        case .head:
            let start = Int.random(in: 0..<count, using: &random) * Self.pageSize
            flip(start..<start + Self.headSize)
        case .freeList: flip(Self.freeList(of: sound))
        case .cut: bytes.removeLast(Int.random(in: 1..<sound.count, using: &random))
        }
        return bytes
    }

    /// The root of the tree of free lists, or the first of the pages behind it that a list has.
    private static func freeList(of bytes: Data) -> Range<Int> {
        func number(_ offset: Int) -> Int {
            bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        // In a meta page: the root of the free lists at 80, the commit at 144.
        let meta = number(144) > number(pageSize + 144) ? 0 : pageSize
        let root = number(meta + 80) * pageSize
        guard root > 0, root + pageSize <= bytes.count else { return 0..<2 * pageSize }
        return root..<root + pageSize
    }
}
