import LMDB
import StrataModel

/// Merges the record of a group with its changes, one group after another in the same memory.
struct GroupMerge: ~Copyable {
    /// The record that was made last.
    private(set) var record = ByteWriter(capacity: 256)
    private var kept = KeptValues()
    private var bytes = ByteWriter(capacity: 256)
    private var spare = ByteWriter(capacity: 256)
    private var deltas: [ValueDelta] = []

    /// By how much the number of objects with a value changes.
    private struct ValueDelta {
        let value: UnsafeRawBufferPointer
        var delta: Int64
    }

    init() {}

    /// Makes the next record of a group. If no objects are left, no values are elsewhere either.
    ///
    /// - Parameters:
    ///   - base: the record before; nil for none. It must stay where it is, whatever is done to `others`.
    ///   - key: of the record.
    ///   - wholeKey: what follows the aggregates if the key was cut: the whole of it without the view's number.
    ///   - others: the values that the record does not have itself.
    /// - Returns: the number of objects.
    @discardableResult
    mutating func merge(
        _ number: Int, of changes: GroupChanges, _ base: UnsafeRawBufferPointer?, key: UnsafeRawBufferPointer,
        wholeKey: UnsafeRawBufferPointer? = nil, _ others: inout some OtherValues & ~Copyable
    ) throws -> Int64 {
        let (view, first) = (changes.groups[number].view, changes.groups[number].first)
        var reader = ByteReader(base ?? UnsafeRawBufferPointer(start: nil, count: 0))
        let isThere = base != nil
        let before = isThere ? Int64(try reader.readVarint()) : 0
        let rowCount = try GroupChanges.sum(before, changes.groups[number].rowCount, in: view)
        record.reset()
        record.append(varint: UInt64(rowCount))
        for index in view.kinds.indices {
            let kind = view.kinds[index]
            let cell = first + view.cells.starts[index]
            switch kind {
            case .rows: break
            case .values: try addCount(changes.cells[cell], view, isThere, &reader)
            case .integerSum:
                try addCount(changes.cells[cell], view, isThere, &reader)
                let sum = isThere ? try reader.readZigzag() : 0
                record.append(zigzag: sum &+ changes.sum(at: cell))
            case .doubleSum:
                try addCount(changes.cells[cell], view, isThere, &reader)
                var sum = isThere ? try DoubleSum(&reader) : DoubleSum()
                sum.add(changes.doubles[Int(changes.cells[cell + 1])])
                sum.encode(into: &record)
            case .decimalSum:
                try addCount(changes.cells[cell], view, isThere, &reader)
                var sum = isThere ? try DecimalSum(&reader) : DecimalSum()
                sum.add(changes.decimals[Int(changes.cells[cell + 1])])
                sum.encode(into: &record)
            case .distinct, .minimum, .maximum, .first, .last:
                let bytes = isThere ? try reader.readVarintCountedBytes() : nil
                try addValues(from: changes.cells[cell], of: changes, index, view, bytes, key, &others)
            case .projected:
                var state = isThere ? Array(try reader.readCountedBytes()) : []
                if rowCount > 0 {
                    state = try changes.nextState(index, ofGroup: number, state.isEmpty ? nil : state) ?? []
                }
                record.append(littleEndian: UInt32(truncatingIfNeeded: state.count))
                state.withUnsafeBytes { record.append($0) }
            }
        }
        if let wholeKey { record.append(wholeKey) }
        return rowCount
    }

    @inline(__always)
    private mutating func addCount(
        _ delta: Int64, _ view: PreparedView, _ isThere: Bool, _ reader: inout ByteReader
    ) throws {
        let before = isThere ? Int64(try reader.readVarint()) : 0
        record.append(varint: UInt64(try GroupChanges.sum(before, delta, in: view)))
    }

    // MARK: Values

    /// - Parameters:
    ///   - last: the last of the values that come or go, counted from 1; 0 for none.
    ///   - before: the values of the record before; nil for none.
    private mutating func addValues(
        from last: Int64, of changes: GroupChanges, _ aggregate: Int, _ view: PreparedView,
        _ before: UnsafeRawBufferPointer?, _ key: UnsafeRawBufferPointer, _ others: inout some OtherValues & ~Copyable
    ) throws {
        collect(from: last, of: changes)
        if deltas.isEmpty, let before {
            record.append(varint: UInt64(before.count))
            return record.append(before)
        }
        if let before, try splice(into: before) {
            // `bytes` has the values.
        } else {
            if let before {
                var reader = ByteReader(before)
                try kept.read(&reader)
            } else {
                kept.removeAll()
            }
            others.begin(key, aggregate)
            try change(least: max(1, view.kinds[aggregate].extremeCount), view, &others)
            bytes.reset()
            kept.encode(into: &bytes)
        }
        record.append(varint: UInt64(bytes.count))
        record.append(bytes.bytes)
    }

    /// Makes the changes one by one in the bytes of the record.
    ///
    /// - Returns: false if one of them needs more than that.
    private mutating func splice(into before: UnsafeRawBufferPointer) throws(CorruptRecord) -> Bool {
        for (index, change) in deltas.enumerated() {
            swap(&bytes, &spare)
            bytes.reset()
            let base = index == 0 ? before : spare.bytes
            if try !KeptValues.splice(base, change.value, change.delta, into: &bytes) { return false }
        }
        return true
    }

    /// Collects the values that come and go, each once and in order.
    private mutating func collect(from last: Int64, of changes: GroupChanges) {
        deltas.removeAll(keepingCapacity: true)
        var next = Int(last)
        while next > 0 {
            let change = changes.values[next - 1]
            deltas.append(ValueDelta(value: changes.bytes(of: change), delta: Int64(change.delta)))
            next = Int(change.next)
        }
        guard deltas.count > 1 else { return }
        deltas.sort { KeptValues.compare($0.value, $1.value) < 0 }
        var end = 0
        for index in 1..<deltas.count {
            if KeptValues.compare(deltas[end].value, deltas[index].value) == 0 {
                deltas[end].delta += deltas[index].delta
            } else {
                if deltas[end].delta != 0 { end += 1 }
                deltas[end] = deltas[index]
            }
        }
        if deltas[end].delta != 0 { end += 1 }
        deltas.removeLast(deltas.count - end)
    }

    /// Changes the values of the record and the others, and moves values so that each is in its place.
    ///
    /// - Parameter least: the fewest values that the record has itself, if there are so many.
    private mutating func change(
        least: Int, _ view: PreparedView, _ others: inout some OtherValues & ~Copyable
    ) throws {
        let sizeBefore = kept.sizeInBytes
        let room = KeptValues.limit - sizeBefore
        var mayGetSome = false
        // If the record does not hold all values, those larger than its last one are elsewhere.
        let bound = kept.otherCount > 0 && kept.count > 0 ? Array(kept.value(kept.count - 1)) : nil
        for change in deltas {
            let isElsewhere = bound.map { $0.withUnsafeBytes { KeptValues.compare(change.value, $0) > 0 } } ?? false
            guard isElsewhere else {
                if !kept.add(change.value, change.delta) { throw Self.tooFew(view) }
                continue
            }
            let before = try others.count(of: change.value)
            let after = before + change.delta
            if after < 0 { throw Self.tooFew(view) }
            try others.set(change.value, to: after)
            if before == 0 {
                kept.otherCount += 1
                mayGetSome = mayGetSome || change.value.count <= room
            } else if after == 0 {
                kept.otherCount -= 1
                mayGetSome = true
            }
        }
        if others.areKept {
            let fitting = kept.fittingCount(least: least)
            for index in fitting..<kept.count { try others.set(kept.value(index), to: kept.objectCount(index)) }
            kept.otherCount += Int64(kept.count - fitting)
            kept.keepFirst(fitting)
            mayGetSome = mayGetSome || kept.sizeInBytes < sizeBefore
        }
        while kept.otherCount > 0, kept.count < least || others.areKept && mayGetSome {
            guard let (value, count) = try others.first() else { throw Self.tooFew(view) }
            guard kept.count < least || kept.sizeInBytes + value.count <= KeptValues.limit else { return }
            try value.withUnsafeBytes { value in
                guard kept.add(value, count) else { throw Self.tooFew(view) }
                try others.set(value, to: 0)
            }
            kept.otherCount -= 1
        }
    }

    private static func tooFew(_ view: PreparedView) -> StrataError {
        StrataError(
            .corrupt, "A value of the view \(view.description.name) would be counted below zero. Rebuild the view.",
            context: .init(entityName: view.description.entityName))
    }
}
