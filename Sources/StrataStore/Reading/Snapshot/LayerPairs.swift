import StrataModel

/// The pairs of a layer: a hash table of pairs, each with its positions, or nil where it is not linked.
///
/// As `LayerRows` for objects: the layers of a distant past have a hundred thousand pairs, and hashing them as a dictionary
/// does would be half of the time that these layers take.
struct LayerPairs: Sendable, Sequence {
    typealias Element = (key: PairKey, positions: PairPositions?)

    fileprivate struct Entry {
        let key: PairKey
        var positions: PairPositions?
        /// Whether the pair is linked in the state below; known of pairs that events have noted.
        var isLinkedBelow: Bool
    }

    /// Indices into `entries`, -1 in empty slots; a power of two of them, at most half used.
    private var slots: [Int32] = []
    private var shift = 64
    private var entries: [Entry] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var underestimatedCount: Int { entries.count }
    /// Every pair, in no particular order.
    var keys: some Collection<PairKey> { entries.lazy.map(\.key) }

    struct Iterator: IteratorProtocol {
        fileprivate var entries: IndexingIterator<[Entry]>

        mutating func next() -> Element? { entries.next().map { ($0.key, $0.positions) } }
    }

    func makeIterator() -> Iterator { Iterator(entries: entries.makeIterator()) }

    /// Nil for a pair that the layer does not cover.
    subscript(key: PairKey) -> PairPositions?? {
        index(of: key).map { entries[$0].positions }
    }

    /// Sets the positions of a pair, whatever was known of it.
    mutating func set(_ key: PairKey, _ positions: PairPositions?) {
        let (index, isNew) = entry(key)
        if isNew {
            entries.append(Entry(key: key, positions: positions, isLinkedBelow: false))
        } else {
            entries[index].positions = positions
        }
    }

    /// Notes an event on a pair, after those before it: the first one sets the positions, the last one says whether the pair
    /// is linked in the state below.
    mutating func note(_ key: PairKey, isLinkedBelow: Bool, _ positions: () -> PairPositions?) {
        let (index, isNew) = entry(key)
        if isNew {
            entries.append(Entry(key: key, positions: positions(), isLinkedBelow: isLinkedBelow))
        } else {
            entries[index].isLinkedBelow = isLinkedBelow
        }
    }

    /// These pairs, with the positions of `above` in place of their own.
    func merged(under above: LayerPairs) -> LayerPairs {
        var merged = self
        for upper in above.entries {
            let (index, isNew) = merged.entry(upper.key)
            if isNew { merged.entries.append(upper) } else { merged.entries[index].positions = upper.positions }
        }
        return merged
    }

    /// By owner, how many more members it has in this state than in the state below, for a layer that events have made;
    /// nothing for an owner without a difference.
    func balances(of link: Link) -> [ObjectID: Int] {
        guard case .pairs(let canonical, let isForward, let isSymmetric, _) = link.source else { return [:] }
        var balances: [ObjectID: Int] = [:]
        for entry in entries where entry.key.property == canonical {
            let difference = (entry.positions == nil ? 0 : 1) - (entry.isLinkedBelow ? 1 : 0)
            if difference == 0 { continue }
            let (source, target) = (entry.key.source, entry.key.target)
            if isSymmetric || isForward { balances[source, default: 0] += difference }
            if isSymmetric ? source != target : !isForward { balances[target, default: 0] += difference }
        }
        return balances
    }

    // MARK: The table

    private func index(of key: PairKey) -> Int? {
        guard !slots.isEmpty else { return nil }
        let found = slots[slot(of: key)]
        return found < 0 ? nil : Int(found)
    }

    /// The index of a pair's entry, which the caller appends if it is new.
    private mutating func entry(_ key: PairKey) -> (index: Int, isNew: Bool) {
        if entries.count * 2 >= slots.count { grow() }
        let slot = slot(of: key)
        if slots[slot] >= 0 { return (Int(slots[slot]), false) }
        slots[slot] = Int32(entries.count)
        return (entries.count, true)
    }

    /// The slot that has the pair, or the empty one where it would be.
    @inline(__always)
    private func slot(of key: PairKey) -> Int {
        let source = key.source.rawValue &* 0x9E37_79B9_7F4A_7C15
        let word = source ^ key.target.rawValue ^ UInt64(key.property.rawValue) << 40
        var slot = Int(truncatingIfNeeded: (word &* 0xD6E8_FEB8_6659_FD93) &>> UInt64(shift))
        while slots[slot] >= 0, entries[Int(slots[slot])].key != key { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private mutating func grow() {
        let size = Swift.max(8, slots.count * 2)
        shift = 64 - size.trailingZeroBitCount
        slots = [Int32](repeating: -1, count: size)
        for (index, entry) in entries.enumerated() { slots[slot(of: entry.key)] = Int32(index) }
    }
}
