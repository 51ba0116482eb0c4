/// The entry of one page in `pages.sums`: its sum, and whether it was free in the commit that is sealed. `PageSums` has
/// the layout.
///
/// The check tells damage of `pages.sums` from damage of the page. A page that is freed keeps its sum, because
/// transactions that began earlier read it. Eight zeros are no entry: nothing is known of the page.
struct PageEntry: Equatable {
    static let none = PageEntry(bits: 0)
    static let size = 8
    private static let freeFlag: UInt64 = 1 << 63

    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    @inline(__always)
    init(sum: UInt32, number: UInt64, isFree: Bool, salt: UInt64) {
        let content = UInt64(sum) | (isFree ? Self.freeFlag : 0)
        bits = content | Self.check(content, number, salt)
    }

    @inline(__always) var sum: UInt32 { UInt32(truncatingIfNeeded: bits) }
    @inline(__always) var isFree: Bool { bits & Self.freeFlag != 0 }
    @inline(__always) var isInUse: Bool { bits != 0 && !isFree }

    /// Whether this entry was made for the page.
    @inline(__always)
    func isSound(number: UInt64, salt: UInt64) -> Bool {
        let content = bits & (Self.freeFlag | 0xFFFF_FFFF)
        return bits == content | Self.check(content, number, salt)
    }

    /// Returns the part of a seal's total that the entry adds.
    @inline(__always)
    func share(number: UInt64) -> UInt64 {
        bits == 0 ? 0 : UInt64.mixed(bits ^ (number &* 0x9E37_79B9_7F4A_7C15))
    }

    @inline(__always)
    private static func check(_ content: UInt64, _ number: UInt64, _ salt: UInt64) -> UInt64 {
        // Never 0 as a whole, which stands for no entry.
        (UInt64.mixed(content ^ UInt64.mixed(number ^ salt)) & 0x7FFF_FFFF | 1) << 32
    }
}

/// The total of all entries of a commit, kept up to date as entries change.
struct EntrySum: Equatable {
    var total: UInt64 = 0
    var lastPage: UInt64
    var usedCount: UInt64 = 0

    @inline(__always)
    mutating func replace(_ old: PageEntry, with new: PageEntry, number: UInt64) {
        total = total &- old.share(number: number) &+ new.share(number: number)
        if old.isInUse != new.isInUse { usedCount = new.isInUse ? usedCount &+ 1 : usedCount &- 1 }
    }
}

extension UInt64 {
    /// Mixes the bits of a word, so that words that differ in one bit differ in about half of them. (The end of
    /// splitmix64: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016.)
    @inline(__always)
    static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Mixes a word into those before it.
    @inline(__always)
    func mixed(with word: UInt64) -> UInt64 { Self.mixed(self &+ 0x9E37_79B9_7F4A_7C15 ^ word) }
}
