/// An interpolation search for a number in a tree: the number, and the nearest keys on either side that it has met.
///
/// Numbers that were given out in a row lie evenly between those keys. So the search looks first where the key should
/// be in a page, then beside that; from then on it halves. So it takes at most two steps more than halving alone. Each
/// look at a page that is not in the processor's caches costs a cache miss. (Source: W. W. Peterson, "Addressing for
/// Random-Access Storage", 1957.)
struct InterpolationSearch {
    let key: UInt64
    /// A number that is not above the key; nil before one has been met, as on the way to a tree's first pages.
    private(set) var lower: UInt64?
    /// Above the key; nil before one has been met.
    private(set) var upper: UInt64?

    @inline(__always)
    init(_ key: UInt64) { self.key = key }

    /// The entries of one page that are still to be looked at.
    struct Walk {
        static let over = Walk(from: 0, to: 0)

        fileprivate(set) var low: Int
        fileprivate var high: Int
        /// The entry to be looked at next.
        fileprivate(set) var probe: Int
        /// Whether `probe` is where the key should be, so that the entry beside it comes next.
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
        mutating func compare(_ other: UInt64, _ search: inout InterpolationSearch) {
            let isAbove = other > search.key
            if isAbove {
                search.upper = other
                high = probe
            } else {
                search.lower = other
                low = probe &+ 1
                // The key itself: nothing before it is above.
                if other == search.key { high = low }
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
    func walk(through count: Int, _ kind: Page.Kind) -> Walk {
        // A branch page's first entry has no key.
        let low = kind == .leaf ? 0 : 1
        guard let lower, let upper, count > low else { return Walk(from: low, to: count) }
        let part = Double(key &- lower) / Double(upper &- lower)
        let guess = Int(part * Double(count))
        return Walk(from: low, to: count, guess: min(max(guess, low), count &- 1))
    }
}
