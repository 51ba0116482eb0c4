import LMDB
import Locking

/// The pages of `objects` on which every row was verified, in the newest state that LMDB has committed.
///
/// LMDB never changes a page of a committed state. So a row that matched its checksum once need not be hashed again
/// until the next commit, of any process; hashing takes as long as the rest of a scan. `state` is guarded by its mutex.
final class VerifiedPages: Sendable {
    private struct State {
        var snapshotID: ReadTransaction.SnapshotID?
        /// A bit for each page of the map.
        var words: [UInt64] = []
    }

    private let state = Locked(State())

    fileprivate func words(of snapshotID: ReadTransaction.SnapshotID) -> [UInt64] {
        state.withLock { $0.snapshotID == snapshotID ? $0.words : [] }
    }

    fileprivate func add(_ pages: [Int], of snapshotID: ReadTransaction.SnapshotID) {
        state.withLock { state in
            if state.snapshotID != snapshotID {
                // A reader that began earlier must not replace what is known of a newer state.
                if let known = state.snapshotID, known > snapshotID { return }
                state = State(snapshotID: snapshotID)
            }
            guard let last = pages.max() else { return }
            let missing = last / 64 + 1 - state.words.count
            if missing > 0 { state.words += [UInt64](repeating: 0, count: missing) }
            for page in pages { state.words[page / 64] |= 1 << UInt64(page % 64) }
        }
    }
}

/// One walk over rows in key order, and the pages that it has verified as a whole.
struct PageWalk {
    private let pages: VerifiedPages
    private let snapshotID: ReadTransaction.SnapshotID
    /// The number of the map's first page; nil if page numbers are not known.
    private let first: UInt?
    private let shift: UInt
    private let known: [UInt64]
    private var fresh: [Int] = []
    private var page = -1
    /// Whether the walk began with the page's first row.
    private var isWhole = false
    private var isKnown = false

    init(_ pages: VerifiedPages, _ transaction: ReadTransaction) {
        self.pages = pages
        snapshotID = transaction.snapshotID
        let map = transaction.map
        shift = map?.pageShift ?? 0
        first = map.map { $0.address >> $0.pageShift }
        known = pages.words(of: snapshotID)
    }

    /// Whether the rows on this page need no check; call it for every page of the walk.
    mutating func turn(to records: PageRecords) -> Bool {
        if page >= 0, isWhole, !isKnown { fresh.append(page) }
        guard let first, let address = records.address else {
            (page, isKnown) = (-1, false)
            return false
        }
        page = Int((address &>> shift) &- first)
        isWhole = records.countBefore == 0
        isKnown = page >= 0 && page / 64 < known.count && known[page / 64] & 1 << UInt64(page % 64) != 0
        return isKnown
    }

    func finish() { if !fresh.isEmpty { pages.add(fresh, of: snapshotID) } }
}
