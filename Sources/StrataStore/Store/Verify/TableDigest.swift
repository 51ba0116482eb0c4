package import Foundation
import LMDB
import Locking
import StrataModel

/// A digest of one view: SHA-256 over its records in key order, each as UInt32 key length, key, UInt32 value length,
/// value, little-endian.
package struct TableDigest: Sendable, Hashable {
    package let name: String
    package let entryCount: Int
    package let digest: Data

    /// Lower-case hexadecimal.
    package var text: String {
        digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The digests of every view in a transaction, computed by two threads; each takes the largest table that is left.
    ///
    /// Both read in one transaction, because no other transaction sees uncommitted changes. That is safe as long as
    /// nothing is written: moving a cursor changes only the cursor. All cursors are opened and closed on the calling
    /// thread.
    ///
    /// - Parameter apart: declared views whose records are left out.
    static func all(
        _ tables: StoreTables, _ transaction: ReadTransaction, without apart: Set<ViewID> = []
    ) throws -> [TableDigest] {
        try digests(tables, transaction, without: apart) { throw $0 }
    }

    /// The digests of those committed views whose pages can be read, whatever they hold.
    static func readable(in file: StoreFile, without apart: Set<ViewID> = []) throws -> [TableDigest] {
        try file.environment.read { transaction in
            try transaction.judgingByStructure {
                try digests(file.tables, transaction, without: apart) { if $0.code != .corrupted { throw $0 } }
            }
        }
    }

    /// - Parameter refuse: takes the error of a view that cannot be read, which is left out unless this throws.
    private static func digests(
        _ tables: StoreTables, _ transaction: ReadTransaction, without apart: Set<ViewID>,
        _ refuse: @Sendable (LMDBError) throws -> Void
    ) throws -> [TableDigest] {
        let views = tables.viewTables
        return try withWalks(views.map(\.table)[...], tables, transaction) { walks in
            let sizes = try views.map { try $0.table.leafPageCount(transaction) }
            let queue = Locked(views.indices.sorted { sizes[$0] < sizes[$1] })
            let digests = Locked([TableDigest?](repeating: nil, count: views.count))
            func work() throws {
                while let index = queue.withLock({ $0.popLast() }) {
                    let name = views[index].name
                    let left = StoreTables.declaredViewNames.contains(name) ? apart : []
                    do {
                        let digest =
                            switch walks[index] {
                            case .entries(let cursor): try of(name, cursor, without: left)
                            case .counters(let cursor): try of(name, cursor, without: left)
                            }
                        digests.withLock { $0[index] = digest }
                    } catch let error as LMDBError {
                        try refuse(error)
                    }
                }
            }
            if transaction is WriteTransaction { try walks.forEach { try $0.begin() } }
            try BackgroundThread.run("strata.digest", work, beside: work)
            return digests.withLock { $0.compactMap(\.self) }
        }
    }

    private enum Walk {
        case entries(EntryCursor)
        case counters(CounterCursor)

        /// Moves its cursors for the first time. A write transaction then notes the trees of their tables, which both
        /// threads only read from there on.
        func begin() throws {
            switch self {
            case .entries(var cursor): _ = try cursor.first()
            case .counters(var cursor): _ = try cursor.first()
            }
        }
    }

    private static func withWalks<R>(
        _ views: ArraySlice<BufferedTable>, _ tables: StoreTables, _ transaction: ReadTransaction,
        _ opened: [Walk] = [], _ body: ([Walk]) throws -> R
    ) throws -> R {
        guard let view = views.first else { return try body(opened) }
        func others(_ walk: Walk) throws -> R {
            try withWalks(views.dropFirst(), tables, transaction, opened + [walk], body)
        }
        return view.main == tables.counts
            ? try CounterCursor.with(tables, transaction) { try others(.counters($0)) }
            : try view.withCursor(transaction) { try others(.entries($0)) }
    }

    private static func of(
        _ name: String, _ start: some RecordWalk, without apart: Set<ViewID>
    ) throws -> TableDigest {
        var cursor = start
        var hash = RecordHash()
        var found = try cursor.first()
        while found {
            if apart.isEmpty || !apart.contains(ViewKeys.view(of: cursor.key)) {
                hash.add(cursor.key, cursor.value)
            }
            found = try cursor.advance()
        }
        return hash.finish(name)
    }
}

/// Digests the records of one table, added in key order.
struct RecordHash: ~Copyable {
    private var hash = StreamDigest()
    private(set) var count = 0

    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        count += 1
        add(framed: key)
        add(framed: value)
    }

    private mutating func add(framed bytes: UnsafeRawBufferPointer) {
        hash.add(littleEndian: UInt32(bytes.count))
        if !bytes.isEmpty { hash.add(bytes) }
    }

    consuming func finish(_ name: String) -> TableDigest {
        TableDigest(name: name, entryCount: count, digest: Data(hash.finish()))
    }
}
