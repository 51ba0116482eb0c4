// Sets of objects in groups of 256, for text queries (`TextGroupSet`).

import StrataModel

/// A set of the 256 objects of a group, by the last byte of their ids.
typealias GroupBits = SIMD4<UInt64>

extension SIMD4<UInt64> {
    @inline(__always)
    mutating func insert(_ member: UInt8) { self[Int(member >> 6)] |= 1 << UInt64(member & 63) }

    @inline(__always)
    func contains(_ member: UInt8) -> Bool { self[Int(member >> 6)] >> UInt64(member & 63) & 1 != 0 }

    var isEmpty: Bool { self == .zero }

    @inline(__always)
    var memberCount: Int {
        self[0].nonzeroBitCount + self[1].nonzeroBitCount + self[2].nonzeroBitCount + self[3].nonzeroBitCount
    }

    /// The number of members below one.
    @inline(__always)
    func rank(of member: UInt8) -> Int {
        let word = Int(member >> 6)
        var count = (self[word] & (1 << UInt64(member & 63) &- 1)).nonzeroBitCount
        for index in 0..<word { count += self[index].nonzeroBitCount }
        return count
    }

    @inline(__always)
    func forEachMember(_ body: (UInt8) throws -> Void) rethrows {
        for word in 0..<4 {
            var rest = self[word]
            while rest != 0 {
                try body(UInt8(word << 6 | rest.trailingZeroBitCount))
                rest &= rest &- 1
            }
        }
    }
}

/// A set of objects, group by group.
struct TextGroupSet {
    /// Ascending.
    private(set) var groups: [UInt64] = []
    private(set) var bits: [GroupBits] = []

    var count: Int { bits.reduce(0) { $0 + $1.memberCount } }

    mutating func append(_ group: UInt64, _ members: GroupBits) {
        if members.isEmpty { return }
        groups.append(group)
        bits.append(members)
    }

    func intersection(_ other: TextGroupSet) -> TextGroupSet {
        var result = TextGroupSet()
        var index = 0
        for (group, members) in zip(groups, bits) {
            while index < other.groups.count, other.groups[index] < group { index += 1 }
            guard index < other.groups.count else { break }
            if other.groups[index] == group { result.append(group, members & other.bits[index]) }
        }
        return result
    }

    func subtracting(_ other: TextGroupSet) -> TextGroupSet {
        var result = TextGroupSet()
        var index = 0
        for (group, members) in zip(groups, bits) {
            while index < other.groups.count, other.groups[index] < group { index += 1 }
            let isThere = index < other.groups.count && other.groups[index] == group
            result.append(group, isThere ? members & ~other.bits[index] : members)
        }
        return result
    }

    func union(_ other: TextGroupSet) -> TextGroupSet {
        var result = TextGroupSet()
        var (left, right) = (0, 0)
        while left < groups.count || right < other.groups.count {
            let first = left < groups.count ? groups[left] : .max
            let second = right < other.groups.count ? other.groups[right] : .max
            let group = min(first, second)
            var members = GroupBits.zero
            if first == group {
                members |= bits[left]
                left += 1
            }
            if second == group {
                members |= other.bits[right]
                right += 1
            }
            result.append(group, members)
        }
        return result
    }
}
