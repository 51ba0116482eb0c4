import CLMDB

/// A branch or leaf page of a table whose keys have eight bytes, searched by them as numbers.
struct NumberPage {
    let bytes: UnsafeRawBufferPointer
    let isLeaf: Bool
    let count: Int

    /// - Returns: nil where the page is of another kind, or its head contradicts itself.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer, isLeaf: Bool) {
        let lower = Int(bytes.number(UInt16.self, at: PageLayout.lowerPlace))
        let kind = bytes.number(UInt16.self, at: PageLayout.flagsPlace) & PageLayout.kindBits
        guard kind == (isLeaf ? PageLayout.leafFlag : PageLayout.branchFlag), lower <= bytes.count,
            lower >= PageLayout.headerSize + 2
        else { return nil }
        self.bytes = bytes
        self.isLeaf = isLeaf
        count = (lower - PageLayout.headerSize) / 2
    }

    /// Where an entry stands in the page. It must be in the page's list.
    @inline(__always)
    func place(_ index: Int) -> Int {
        Int(bytes.number(UInt16.self, at: PageLayout.headerSize &+ 2 &* index))
    }

    /// The key at an entry's place; nil where it has not eight bytes.
    @inline(__always)
    func key(at place: Int) -> UInt64? {
        guard place &+ PageLayout.entryHeaderSize &+ 8 <= bytes.count,
            bytes.number(UInt16.self, at: place &+ PageLayout.keySizePlace) == 8
        else { return nil }
        return UInt64(bigEndian: bytes.number(UInt64.self, at: place &+ PageLayout.entryHeaderSize))
    }

    /// How many entries of the page have keys not above the span's; nil where one that is looked at has no such key.
    @inline(__always)
    func rank(_ span: inout KeySpan) -> Int? {
        var walk = span.walk(through: count, isLeaf: isLeaf)
        while walk.goesOn {
            guard let key = key(at: place(walk.probe)) else { return nil }
            walk.compare(key, &span)
        }
        return walk.low
    }

    /// What a search in a leaf page ends with at a rank.
    @inline(__always)
    func record(at rank: Int, _ span: KeySpan) -> NumberSearch.Outcome {
        guard rank > 0, span.lower == span.key else { return .absent }
        // A long value has pages of its own.
        guard let record = LeafPage.record(rank &- 1, of: bytes), record.key.count == 8,
            UInt64(bigEndian: record.key.number(UInt64.self, at: 0)) == span.key
        else { return .unknown }
        return .found(record.value)
    }

    /// Asks for what a search looks at in a page that is not in the processor's caches: its head, and where the key's
    /// entry lies if keys lie evenly and entries of one size were appended, as those of rows are. A guess that is wrong
    /// costs little.
    ///
    /// - Parameter count: about how many entries a branch page has; a leaf page has one for each number of the span.
    @inline(__always)
    static func prefetch(_ bytes: UnsafeRawBufferPointer, _ span: KeySpan, isLeaf: Bool, branchCount count: Int) {
        guard let start = bytes.baseAddress else { return }
        clmdb_prefetch(start)
        guard let lower = span.lower, let upper = span.upper else { return }
        let width = upper &- lower
        let count = isLeaf ? Int(clamping: width) : count
        guard count > 0, count <= bytes.count / 8 else { return }
        let index =
            isLeaf ? Int(span.key &- lower) : Int(Double(span.key &- lower) / Double(width) * Double(count))
        clmdb_prefetch(start + (PageLayout.headerSize &+ 2 &* index))
        // LMDB fills a page from its end on.
        let size = isLeaf ? (bytes.count &- PageLayout.headerSize) / count &- 2 : branchEntrySize
        let place = bytes.count &- size &* (index &+ 1)
        let end = min(bytes.count, place &+ size &+ 64)
        var line = max(0, place &- 64)
        while line < end {
            clmdb_prefetch(start + line)
            line &+= 64
        }
    }

    private static var branchEntrySize: Int { PageLayout.entryHeaderSize + 8 }

    /// The number of the page that an entry of a branch page leads to.
    @inline(__always)
    func child(_ index: Int) -> UInt64? {
        let place = place(index)
        guard place &+ PageLayout.entryHeaderSize <= bytes.count else { return nil }
        let number = bytes.number(UInt64.self, at: place) & 0xFFFF_FFFF_FFFF
        return number < 1 << 40 ? number : nil
    }
}

/// A key that is searched, and the keys around it that have been met on the way down.
///
/// Numbers that were given out in a row lie evenly between those: the first look into a page goes where the key should
/// be, the second beside it. (W. W. Peterson, "Addressing for Random-Access Storage", 1957: interpolation search; halving
/// from then on, so that no distribution of keys takes more than two steps more.) A page in memory is waited for once for
/// each place looked at.
struct KeySpan {
    let key: UInt64
    /// Not above the key; nil before one has been met, as on the way to a tree's first pages.
    private(set) var lower: UInt64?
    /// Above the key; nil before one has been met.
    private(set) var upper: UInt64?

    @inline(__always)
    init(_ key: UInt64) { self.key = key }

    /// The places of one page that are still to be looked at.
    struct Walk {
        static let over = Walk(from: 0, to: 0)

        fileprivate(set) var low: Int
        fileprivate var high: Int
        /// The place to be looked at next.
        fileprivate(set) var probe: Int
        /// Whether `probe` is where the key should be, and so what is looked for beside it.
        private var isGuess: Bool

        /// - Parameter guess: nil begins in the middle.
        @inline(__always)
        fileprivate init(from low: Int, to high: Int, guess: Int? = nil) {
            self.low = low
            self.high = high
            isGuess = guess != nil
            probe = guess ?? (low &+ high) &>> 1
        }

        @inline(__always)
        var goesOn: Bool { low < high }

        /// Takes the key at `probe` into account.
        @inline(__always)
        mutating func compare(_ other: UInt64, _ span: inout KeySpan) {
            let isAbove = other > span.key
            if isAbove {
                span.upper = other
                high = probe
            } else {
                span.lower = other
                low = probe &+ 1
                // The key itself: nothing before it is above.
                if other == span.key { high = low }
            }
            if isGuess {
                isGuess = false
                probe = isAbove ? high &- 1 : low
            } else {
                probe = (low &+ high) &>> 1
            }
        }
    }

    /// Begins with a page of so many entries.
    @inline(__always)
    func walk(through count: Int, isLeaf: Bool) -> Walk {
        // A branch page's first entry has no key.
        let low = isLeaf ? 0 : 1
        guard let lower, let upper, count > low else { return Walk(from: low, to: count) }
        let part = Double(key &- lower) / Double(upper &- lower)
        let guess = Int(part * Double(count))
        return Walk(from: low, to: count, guess: min(max(guess, low), count &- 1))
    }
}
