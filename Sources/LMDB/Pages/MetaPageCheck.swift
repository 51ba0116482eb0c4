/// Checks the two meta pages of a file by themselves and against each other: everything that LMDB writes there.
struct MetaPageCheck {
    /// The two pages, whole.
    let pages: [[UInt8]]
    let pageSize: Int

    /// Larger than the addresses of any process.
    private static let mapSizeLimit: UInt64 = 1 << 48

    /// Reads the two pages; nil where the file does not have them.
    init?(descriptor: Int32, pageSize: Int) {
        guard let first = [UInt8](descriptor, at: 0, count: pageSize),
            let second = [UInt8](descriptor, at: pageSize, count: pageSize)
        else { return nil }
        pages = [first, second]
        self.pageSize = pageSize
    }

    func meta(_ number: UInt64) -> MetaPage { pages[Int(number)].withUnsafeBytes { MetaPage($0) } }

    /// Returns the damage of the meta pages.
    ///
    /// - Parameter transaction: the commit that is read; its meta page is that of its parity.
    func problems(newest transaction: UInt64) -> [PageDamage] {
        let number = transaction & 1
        var problems = [problem(0), problem(1)].compactMap(\.self)
        let (newest, older) = (meta(number), meta(number ^ 1))
        guard problems.isEmpty else { return problems }
        if older.transaction &+ 1 != newest.transaction, newest.transaction != 0 || older.transaction != 0 {
            problems.append(
                PageDamage(
                    number ^ 1, "it says commit \(older.transaction), beside one of commit \(newest.transaction)"))
        }
        if older.free.flags != newest.free.flags {
            problems.append(PageDamage(number, "its flags are not those of the other meta page"))
        }
        if mapSize(number) < mapSize(number ^ 1) {
            problems.append(PageDamage(number, "it says a smaller map than the meta page of the commit before"))
        }
        return problems
    }

    private func mapSize(_ number: UInt64) -> UInt64 {
        pages[Int(number)].withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 32, as: UInt64.self) }
    }

    private func problem(_ number: UInt64) -> PageDamage? {
        pages[Int(number)].withUnsafeBytes { bytes in
            let meta = MetaPage(bytes)
            func word<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
                bytes.loadUnaligned(fromByteOffset: offset, as: type)
            }
            guard Page.number(of: bytes) == number, word(8, UInt16.self) == 0,
                word(10, UInt16.self) == Page.Kind.meta.flags, word(12, UInt32.self) == 0
            else { return PageDamage(number, "its header is not that of a meta page") }
            guard meta.isOfThisFormat, Int(meta.pageSize) == pageSize, word(24, UInt64.self) == 0 else {
                return PageDamage(number, "it is not of this format")
            }
            guard meta.free.flags & ~0x4008 == 0, meta.main.flags == 0, word(MetaPage.mainOffset, UInt32.self) == 0
            else { return PageDamage(number, "its trees have flags that no tree of this library has") }
            guard mapSize(number) < Self.mapSizeLimit, meta.lastPage >= 1,
                meta.lastPage < mapSize(number) / UInt64(pageSize)
            else { return PageDamage(number, "it says \(meta.lastPage) pages in a map of \(mapSize(number)) bytes") }
            guard meta.transaction & 1 == number || meta.transaction == 0 else {
                return PageDamage(number, "it says commit \(meta.transaction), which is the other meta page's")
            }
            guard bytes[MetaPage.size...].allSatisfy({ $0 == 0 }) else {
                return PageDamage(number, "there is something behind its content")
            }
            return nil
        }
    }
}
