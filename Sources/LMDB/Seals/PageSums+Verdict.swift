import CChecksum
import Synchronization

extension PageSums {
    /// The verdict of the sums on a page.
    enum Verdict {
        /// It is the page that was written, with this sum.
        case sound(UInt32)
        /// Nothing: its structure has to do.
        case unknown
        /// It is not the page that was written.
        case damaged
    }

    /// The sum of a page.
    @inline(__always)
    static func sum(of page: UnsafeRawBufferPointer, _ number: UInt64) -> UInt32? {
        page.baseAddress.map { checksum_of_page($0, page.count, number) }
    }

    /// Compares a page that a transaction can reach with its sum.
    ///
    /// - Complexity: O(n) in the size of the page, a fifth of a microsecond for one in the processor's caches.
    func verdict(_ number: UInt64, _ page: UnsafeRawBufferPointer) -> Verdict {
        guard isAttached, let start = page.baseAddress, number > 1 else { return .unknown }
        let sum = checksum_of_page(start, page.count, number)
        var found = entry(number)
        // Not `trusted` before the comparison: nearly all are right.
        if found.sum == sum, found.isSound(number: number, salt: salt) { return areTrusted ? .sound(sum) : .unknown }
        if found == .none { followGrowth() }
        for _ in 0..<3 {
            guard let seal = trusted else { return .unknown }
            // The seal of a commit follows its pages, and its head is written before. The entry is read between the two.
            let again = entry(number)
            guard let newest = newestCommit, newest <= seal.commit else { return .unknown }
            if again == found || again.sum == sum {
                return again.sum == sum ? .sound(sum) : verdictOfMismatch(again, number, page)
            }
            found = again
        }
        return .unknown
    }

    private func verdictOfMismatch(_ entry: PageEntry, _ number: UInt64, _ page: UnsafeRawBufferPointer) -> Verdict {
        // An entry that contradicts itself is damage of the sums, and not of the page.
        guard entry.isSound(number: number, salt: salt) else {
            if entry != .none { damagedEntryCount.add(1, ordering: .relaxed) }
            return .unknown
        }
        // A large transaction writes on free pages before its commit, and reads them again.
        if entry.isFree { return .unknown }
        // Unused bytes of the page may have been overwritten while it was summed (`Environment.wipe`).
        guard let sum = Self.sum(of: page, number), sum == entry.sum else { return .damaged }
        return .sound(sum)
    }

    /// The number of the newest commit, as the meta pages say now; nil where the map is not known.
    var newestCommit: UInt64? {
        guard let map else { return nil }
        let offset = MetaPage.size - 8
        // Another process may be writing them.
        let (first, second) = (
            (map + offset).loadUnaligned(as: UInt64.self), (map + pageSize + offset).loadUnaligned(as: UInt64.self)
        )
        return max(first, second)
    }
}
