import LMDB
import Locking

/// The pages of rows that were verified in one of LMDB's snapshots, all rows of each.
///
/// LMDB never changes a page of a snapshot, so a row that matched its checksum once need not be hashed again while the
/// snapshot is the newest: hashing takes as long as all the rest of a scan. The first commit, of whatever process,
/// begins a new snapshot, and everything is verified again. `state` is guarded by its mutex.
final class VerifiedPages: Sendable {
    private struct State {
        var snapshot: ReadTransaction.Snapshot?
        /// A bit for each page of the map.
        var words: [UInt64] = []
    }

    private let state = Locked(State())

    fileprivate func words(of snapshot: ReadTransaction.Snapshot) -> [UInt64] {
        state.withLock { $0.snapshot == snapshot ? $0.words : [] }
    }

    fileprivate func add(_ pages: [Int], of snapshot: ReadTransaction.Snapshot) {
        state.withLock { state in
            if state.snapshot != snapshot {
                // A reader that began earlier has nothing to say of the newer snapshot.
                if let known = state.snapshot, known > snapshot { return }
                state = State(snapshot: snapshot)
            }
            guard let last = pages.max() else { return }
            let missing = last / 64 + 1 - state.words.count
            if missing > 0 { state.words += [UInt64](repeating: 0, count: missing) }
            for page in pages { state.words[page / 64] |= 1 << UInt64(page % 64) }
        }
    }
}

/// One walk over rows in key order, and the pages that it has seen whole.
struct PageWalk {
    private let pages: VerifiedPages
    private let snapshot: ReadTransaction.Snapshot
    /// The number of the map's first page; nil when pages cannot be told.
    private let first: UInt?
    private let shift: UInt
    private let known: [UInt64]
    private var fresh: [Int] = []
    private var page = -1
    /// Whether the walk came to the page from another, and so began with its first row.
    private var isWhole = false
    private var isKnown = false

    init(_ pages: VerifiedPages, _ transaction: ReadTransaction) {
        self.pages = pages
        snapshot = transaction.snapshot
        let map = transaction.map
        shift = map?.pageShift ?? 0
        first = map.map { $0.address >> $0.pageShift }
        known = pages.words(of: snapshot)
    }

    /// Whether the row's checksum has to be looked at; to be asked for every row of the walk.
    @inline(__always)
    mutating func mustVerify(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        guard let first else { return true }
        let current = Int((UInt(bitPattern: key.baseAddress) &>> shift) &- first)
        if current != page { turn(to: current) }
        // A long row has pages of its own.
        return !isKnown || Int((UInt(bitPattern: value.baseAddress) &>> shift) &- first) != current
    }

    private mutating func turn(to next: Int) {
        if page >= 0, isWhole, !isKnown { fresh.append(page) }
        isWhole = page >= 0
        page = next
        isKnown = next >= 0 && next / 64 < known.count && known[next / 64] & 1 << UInt64(next % 64) != 0
    }

    func finish() { if !fresh.isEmpty { pages.add(fresh, of: snapshot) } }
}
