/// A set of slots of one entity, as bits; the first 64 take no allocation. It iterates in ascending order.
@usableFromInline package struct SlotSet: Sendable {
    @usableFromInline var first: UInt64 = 0
    @usableFromInline var rest: [UInt64] = []

    @inlinable package init() {}

    package init(_ slots: some Sequence<Int>) { formUnion(slots) }

    /// A set with these bits.
    ///
    /// - Parameters:
    ///   - first: a bit for each of the first 64 slots.
    ///   - rest: the bits of the slots after them, 64 in each number.
    @inlinable package init(first: UInt64, rest: [UInt64]) {
        self.first = first
        self.rest = rest
    }

    @inlinable package var isEmpty: Bool { first == 0 && rest.allSatisfy { $0 == 0 } }

    @inlinable package var count: Int {
        rest.reduce(first.nonzeroBitCount) { $0 + $1.nonzeroBitCount }
    }

    @inlinable package func contains(_ slot: Int) -> Bool {
        if slot < 64 { return first >> UInt64(slot) & 1 == 1 }
        let index = slot / 64 - 1
        return index < rest.count && rest[index] >> UInt64(slot % 64) & 1 == 1
    }

    @inlinable package func isDisjoint(with other: SlotSet) -> Bool {
        first & other.first == 0 && zip(rest, other.rest).allSatisfy { $0 & $1 == 0 }
    }

    package mutating func insert(_ slot: Int) {
        if slot < 64 { return first |= 1 << UInt64(slot) }
        let index = slot / 64 - 1
        while rest.count <= index { rest.append(0) }
        rest[index] |= 1 << UInt64(slot % 64)
    }

    @inlinable package mutating func remove(_ slot: Int) {
        if slot < 64 { return first &= ~(1 << UInt64(slot)) }
        let index = slot / 64 - 1
        if index < rest.count { rest[index] &= ~(1 << UInt64(slot % 64)) }
    }

    package mutating func formUnion(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    /// The slots in ascending order.
    package var slots: [Int] { Array(self) }
}

extension SlotSet: Sequence {
    @usableFromInline package struct Iterator: IteratorProtocol {
        @usableFromInline var word: UInt64
        /// The slot of the word's first bit.
        @usableFromInline var start = 0
        @usableFromInline let rest: [UInt64]

        @inlinable init(_ set: SlotSet) {
            word = set.first
            rest = set.rest
        }

        @inlinable package mutating func next() -> Int? {
            while word == 0 {
                let index = start / 64
                guard index < rest.count else { return nil }
                word = rest[index]
                start += 64
            }
            defer { word &= word - 1 }
            return start + word.trailingZeroBitCount
        }
    }

    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
}

extension SlotSet: Hashable {
    // Trailing words without bits make no difference.
    @usableFromInline package static func == (left: SlotSet, right: SlotSet) -> Bool { left.elementsEqual(right) }
    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(slots) }
}
