// Merges a scan of a table with the keys of layers (`MergedScan`).

import LMDB
import StrataModel

/// The keys that a stack of layers adds to one access path, bottom to top.
struct LayeredKeys {
    let levels: [SortedKeys]

    init(_ levels: [SortedKeys]) { self.levels = levels }
}

/// A scan of a range of a table, merged with the keys of layers, in key order or against it.
///
/// Keys are merged before anything is counted, so order, limit and offset are right.
struct MergedScan {
    let table: BufferedTable
    let lower: UnsafeRawBufferPointer
    let upper: UnsafeRawBufferPointer
    let isUpperIncluded: Bool
    let isDescending: Bool

    /// - Parameters:
    ///   - isHidden: whether a layer above overrides a key of the base (level 0) or of layer `level - 1`.
    ///   - body: gets the key and, for keys of the base, the value; returns false to stop.
    func run(
        _ snapshot: Snapshot, _ added: LayeredKeys, isHidden: (UnsafeRawBufferPointer, Int) -> Bool,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> Bool
    ) throws {
        try table.withCursor(snapshot.transaction) { cursor in
            var hasBase = try start(&cursor)
            if snapshot.layers.isEmpty {
                while hasBase {
                    if try !body(cursor.key, cursor.value) { return }
                    hasBase = try cursor.advance() && isInside(cursor)
                }
                return
            }
            try merge(&cursor, hasBase, added, isHidden, body)
        }
    }

    private func merge(
        _ cursor: inout EntryCursor, _ startsWithBase: Bool, _ added: LayeredKeys,
        _ isHidden: (UnsafeRawBufferPointer, Int) -> Bool,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> Bool
    ) throws {
        var hasBase = startsWithBase
        var ranges = added.levels.map(range)
        while true {
            let level = nextLevel(added, ranges, hasBase ? cursor.key : nil)
            guard let level else { return }
            if level == 0 {
                if !isHidden(cursor.key, 0), try !body(cursor.key, cursor.value) { return }
                hasBase = try cursor.advance() && isInside(cursor)
            } else {
                let keys = added.levels[level - 1]
                let index = isDescending ? ranges[level - 1].upperBound - 1 : ranges[level - 1].lowerBound
                ranges[level - 1] =
                    isDescending ? ranges[level - 1].dropLast() : ranges[level - 1].dropFirst()
                let goesOn = try keys.withKey(index) { try isHidden($0, level) || body($0, nil) }
                if !goesOn { return }
            }
        }
    }

    /// 0 for the base, or 1 + the layer whose key comes next; nil at the end.
    private func nextLevel(
        _ added: LayeredKeys, _ ranges: [Range<Int>], _ baseKey: UnsafeRawBufferPointer?
    ) -> Int? {
        var best: Int? = baseKey == nil ? nil : 0
        for level in ranges.indices where !ranges[level].isEmpty {
            guard let current = best else {
                best = level + 1
                continue
            }
            let comesFirst = withNextKey(added, ranges, level) { key in
                if current == 0 { return baseKey.map { isBefore(key, $0) } ?? true }
                return withNextKey(added, ranges, current - 1) { isBefore(key, $0) }
            }
            if comesFirst { best = level + 1 }
        }
        return best
    }

    private func withNextKey<R>(
        _ added: LayeredKeys, _ ranges: [Range<Int>], _ level: Int, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        added.levels[level].withKey(
            isDescending ? ranges[level].upperBound - 1 : ranges[level].lowerBound, body)
    }

    private func isBefore(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let order = left.compare(with: right)
        return isDescending ? order > 0 : order < 0
    }

    /// The keys of a layer that lie in the range.
    private func range(_ keys: SortedKeys) -> Range<Int> {
        let start = keys.lowerBound(lower)
        var end = keys.lowerBound(upper)
        while isUpperIncluded, end < keys.count, keys.withKey(end, { $0.compare(with: upper) == 0 }) { end += 1 }
        return start..<max(start, end)
    }

    private func start(_ cursor: inout EntryCursor) throws -> Bool {
        if !isDescending {
            return try cursor.seek(atOrAfter: lower) && isInside(cursor)
        }
        return try cursor.seek(before: upper, orAt: isUpperIncluded) && isInside(cursor)
    }

    private func isInside(_ cursor: EntryCursor) -> Bool {
        if isDescending { return cursor.key.compare(with: lower) >= 0 }
        let order = cursor.key.compare(with: upper)
        return order < 0 || isUpperIncluded && order == 0
    }
}
