import LMDB
import StrataModel

/// Numbers the groups of rows as their first rows come: 0, 1, 2, and so on.
///
/// Each key has a number for each of its values, and a group is found by the numbers of its keys. A value is written in
/// full only when it is met for the first time: after that, a row is numbered by the bits in its slot. Behind a to-one
/// the target's id determines everything that can be read there.
final class GroupNumbers {
    private var keys: [KeyNumbers]
    /// The tables for every key but the first: groups of the keys before it, together with its number, as groups.
    private var pairs: [NumberTable]
    /// The numbers of the keys of every group, group by group.
    private var members: [UInt32] = []
    private(set) var count = 0
    private var writer = ByteWriter()

    init(_ columns: [SortColumn]) {
        keys = columns.map { KeyNumbers($0) }
        pairs = columns.dropFirst().map { _ in NumberTable() }
    }

    /// The group of a row.
    func number(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> (group: Int, isNew: Bool) {
        if keys.isEmpty { return start(0) }
        let number = try keys[0].number(row, id, evaluation, &writer)
        if keys.count == 1 { return number < count ? (number, false) : start(number) }
        let first = members.count
        members.append(UInt32(truncatingIfNeeded: number))
        for index in 1..<keys.count {
            members.append(UInt32(truncatingIfNeeded: try keys[index].number(row, id, evaluation, &writer)))
        }
        return group(ofMembersFrom: first)
    }

    /// The group of some values, one for each key.
    func number(of values: [AttributeValue], _ evaluation: Evaluation) throws -> (group: Int, isNew: Bool) {
        let first = members.count
        for (key, value) in zip(keys, values) {
            members.append(UInt32(truncatingIfNeeded: try key.number(of: value, evaluation, &writer)))
        }
        return group(ofMembersFrom: first)
    }

    /// The group of the numbers at the end of `members`, which stay there if it is new.
    private func group(ofMembersFrom first: Int) -> (group: Int, isNew: Bool) {
        var group = Int(members[first])
        for index in 1..<max(keys.count, 1) {
            group = pairs[index - 1].number(of: UInt64(group) << 32 | UInt64(members[first + index]))
        }
        if group == count {
            count += 1
            return (group, true)
        }
        members.removeSubrange(first...)
        return (group, false)
    }

    private func start(_ group: Int) -> (group: Int, isNew: Bool) {
        guard group == count else { return (group, false) }
        count += 1
        if !keys.isEmpty { members.append(UInt32(truncatingIfNeeded: group)) }
        return (group, true)
    }

    /// The groups in the order of their keys.
    func inKeyOrder() -> [Int] {
        let ranks = keys.map(\.ranks)
        let width = keys.count
        return (0..<count).sorted { left, right in
            for index in 0..<width {
                let one = ranks[index][Int(members[left * width + index])]
                let other = ranks[index][Int(members[right * width + index])]
                if one != other { return one < other }
            }
            return false
        }
    }
}

/// The numbers of the values of one key.
private final class KeyNumbers {
    /// The part of a row's slot that decides the value.
    private enum Bits {
        case reference(slot: Int)
        case integer(slot: Int)
        case double(slot: Int)
        /// Nothing short: the value is written for every row.
        case none
    }

    private let column: SortColumn
    private let bits: Bits
    /// Numbers by bits.
    private var known = NumberTable()
    /// The number of nil.
    private var nilNumber: Int?
    /// Numbers by the written value.
    private var written = GroupTable()

    init(_ column: SortColumn) {
        self.column = column
        if case .toOne(let slot)? = column.path.hops.first {
            bits = .reference(slot: slot)
        } else if let (slot, elements) = column.column, elements.isEmpty {
            bits =
                switch column.type {
                case .integer, .boolean: .integer(slot: slot)
                case .floatingPoint, .date: .double(slot: slot)
                case .object: .reference(slot: slot)
                default: .none
                }
        } else {
            bits = .none
        }
    }

    /// The number of a row's value.
    @inline(__always)
    func number(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, _ writer: inout ByteWriter
    ) throws -> Int {
        let value: UInt64?
        switch bits {
        case .reference(let slot):
            let target = row.reference(slot)
            value = target.isNil ? nil : target.rawValue
        case .integer(let slot): value = row.integer(slot).map(UInt64.init(bitPattern:))
        case .double(let slot): value = row.double(slot)?.bitPattern
        case .none: return try write(row, id, evaluation, &writer)
        }
        guard let value else {
            if let nilNumber { return nilNumber }
            let number = try write(row, id, evaluation, &writer)
            nilNumber = number
            return number
        }
        if let number = known[value] { return number }
        let number = try write(row, id, evaluation, &writer)
        try evaluation.snapshot?.hold(24)
        known.insert(number, for: value)
        return number
    }

    /// The number of a value.
    func number(of value: AttributeValue, _ evaluation: Evaluation, _ writer: inout ByteWriter) throws -> Int {
        writer.reset()
        try column.write(value, evaluation, into: &writer)
        return try numberWritten(evaluation, writer)
    }

    private func write(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, _ writer: inout ByteWriter
    ) throws -> Int {
        writer.reset()
        try column.write(row, id, evaluation, into: &writer)
        return try numberWritten(evaluation, writer)
    }

    private func numberWritten(_ evaluation: Evaluation, _ writer: borrowing ByteWriter) throws -> Int {
        let (number, isNew) = written.number(of: writer.bytes)
        if isNew { try evaluation.snapshot?.hold(2 * writer.count + 48) }
        return number
    }

    /// The rank of each number in the order of the values.
    var ranks: [Int] {
        var ranks = [Int](repeating: 0, count: written.count)
        for (rank, number) in written.inKeyOrder().enumerated() { ranks[number] = rank }
        return ranks
    }
}

/// Numbers by 64-bit keys, found by open addressing.
private struct NumberTable {
    private struct Slot {
        var key: UInt64 = 0
        /// The number + 1, or 0 for a free slot.
        var number: UInt32 = 0
    }

    /// Their number is a power of two; at most half are taken.
    private var slots = [Slot](repeating: Slot(), count: 64)
    private var shift = UInt64(64 - 6)
    private var count = 0

    /// The slot with the key, or the free one where it belongs.
    @inline(__always)
    private func slotIndex(of key: UInt64) -> Int {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift)
        while slots[index].number != 0, slots[index].key != key { index = (index + 1) & mask }
        return index
    }

    @inline(__always)
    subscript(key: UInt64) -> Int? {
        let number = slots[slotIndex(of: key)].number
        return number == 0 ? nil : Int(number) - 1
    }

    mutating func insert(_ number: Int, for key: UInt64) {
        slots[slotIndex(of: key)] = Slot(key: key, number: UInt32(truncatingIfNeeded: number) + 1)
        count += 1
        if count * 2 > slots.count { grow() }
    }

    /// The number of the key, which is the number of keys before it if it is new.
    mutating func number(of key: UInt64) -> Int {
        if let known = self[key] { return known }
        let number = count
        insert(number, for: key)
        return number
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 4)
        shift -= 2
        for slot in old where slot.number != 0 { slots[slotIndex(of: slot.key)] = slot }
    }
}
