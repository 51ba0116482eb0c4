/// A set of slots of one entity: a bit each, without an allocation for the first 64.
package struct SlotSet: Sendable, Hashable {
    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    package init() {}

    package init(_ slots: some Sequence<Int>) { formUnion(slots) }

    package var isEmpty: Bool { first == 0 && rest.allSatisfy { $0 == 0 } }

    package func contains(_ slot: Int) -> Bool {
        if slot < 64 { return first >> UInt64(slot) & 1 == 1 }
        let place = slot / 64 - 1
        return place < rest.count && rest[place] >> UInt64(slot % 64) & 1 == 1
    }

    package mutating func insert(_ slot: Int) {
        if slot < 64 { return first |= 1 << UInt64(slot) }
        let place = slot / 64 - 1
        while rest.count <= place { rest.append(0) }
        rest[place] |= 1 << UInt64(slot % 64)
    }

    package mutating func formUnion(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    package mutating func formUnion(_ other: SlotSet) { formUnion(other.slots) }

    /// In ascending order.
    package var slots: [Int] {
        ([first] + rest).enumerated().flatMap { place, word in
            (0..<64).filter { word >> UInt64($0) & 1 == 1 }.map { place * 64 + $0 }
        }
    }

    package static func == (left: SlotSet, right: SlotSet) -> Bool { left.slots == right.slots }
    package func hash(into hasher: inout Hasher) { hasher.combine(slots) }
}
