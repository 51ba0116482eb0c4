import LMDB
import StrataModel

/// The views of a damaged store that can be read.
struct DamagedViews {
    let transaction: ReadTransaction
    let tables: StoreTables
}

extension RowSalvage {
    /// Takes what the views say, and holds it against them: an object or a link that the log has and sound views do not
    /// have is gone.
    ///
    /// - Parameter target: the new store's views.
    func readViews(_ views: DamagedViews, against target: DamagedViews) throws {
        let objects = try walk("objects", views.tables.objects, views) { key, value in
            guard key.count == 8 else { return self.passedOver.records += 1 }
            guard let stored = self.salvaged({ try StoredRow(value) }), stored.revision > self.end else { return }
            try self.add(StoreKey.objectID(key, at: 0), stored.image)
        }
        let tombstones = try walk("tombstones", views.tables.tombstones, views) { try self.addDeletion($0, $1) }
        // A sound table of deletions has all of them.
        if objects.isWhole, !tombstones.isWhole { try removeAbsentObjects(objects, target) }
        let pairs = try walk("pairs", views.tables.pairs, views) { try self.addPair($0, $1, views) }
        try removeAbsentPairs(pairs, views, target)
        try cutDanglingLinks()
    }

    /// The progress of reading a table, and its problems.
    private struct Walked {
        /// The keys, in order.
        var keys: [[UInt8]] = []
        /// Whether all records that the table should have were read, in order.
        var isWhole = false

        func contains(_ key: UnsafeRawBufferPointer) -> Bool {
            var (low, high) = (0, keys.count)
            while low < high {
                let middle = (low + high) / 2
                let order = keys[middle].withUnsafeBytes { $0.compare(with: key) }
                if order == 0 { return true }
                if order < 0 { low = middle + 1 } else { high = middle }
            }
            return false
        }
    }

    /// Walks a table, past pages that cannot be read.
    private func walk(
        _ name: String, _ table: Table, _ views: DamagedViews,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Walked {
        var walked = Walked()
        var isAscending = true
        var failure: (any Error)?
        var start: UInt64? = 0
        while let from = start, failure == nil {
            start = nil
            do {
                try views.transaction.withCursor(table) { cursor in
                    var found = try Self.seek(from, cursor)
                    while found, failure == nil {
                        let key = Array(cursor.key)
                        isAscending =
                            isAscending && (walked.keys.last.map { $0.lexicographicallyPrecedes(key) } ?? true)
                        walked.keys.append(key)
                        do { try body(cursor.key, cursor.value) } catch { failure = error }
                        found = try cursor.next()
                    }
                }
            } catch {
                // A table that has such a page is not whole, and the report says so.
                start = Self.firstReadable(in: table, after: max(from, Self.lead(walked.keys.last ?? [])), views)
            }
        }
        do {
            walked.isWhole = try isAscending && views.transaction.count(table) == walked.keys.count
        } catch {
            // Nor is one whose size is not known.
        }
        if let failure { throw failure }
        if !walked.isWhole { passedOver.tables.append(name) }
        if !isAscending { walked.keys.sort { $0.lexicographicallyPrecedes($1) } }
        return walked
    }

    // MARK: Damaged pages

    /// The first eight bytes of a key, in whose order records are.
    private static func lead(_ key: [UInt8]) -> UInt64 {
        (0..<8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
    }

    private static func seek(_ lead: UInt64, _ cursor: Cursor) throws -> Bool {
        if lead == 0 { return try cursor.first() }
        return try withUnsafeBytes(of: lead.bigEndian) { try cursor.seek(atOrAfter: $0) }
    }

    /// Returns the key at which the table can be read again behind a damaged page; nil if it cannot.
    ///
    /// The records of a page are those of a range of keys. Steps that double leave it, and halving finds its end.
    private static func firstReadable(in table: Table, after last: UInt64, _ views: DamagedViews) -> UInt64? {
        func isReadable(_ lead: UInt64) -> Bool {
            do {
                return try views.transaction.withCursor(table) { cursor in try seek(lead, cursor) }
            } catch {
                return false
            }
        }
        var (low, step): (UInt64, UInt64) = (last, 1)
        while true {
            let (next, overflows) = last.addingReportingOverflow(step)
            if overflows { return nil }
            if isReadable(next) {
                var high = next
                while high - low > 1 {
                    let middle = low + (high - low) / 2
                    if isReadable(middle) { high = middle } else { low = middle }
                }
                return high
            }
            low = next
            if step > .max / 2 { return nil }
            step *= 2
        }
    }

    // MARK: Objects

    private func addDeletion(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard let eventNumber = salvaged({ key.count == 8 ? try Tombstone.eventNumber(value) : nil }), eventNumber > end
        else { return }
        let id = StoreKey.objectID(key, at: 0)
        // A row is newer than a deletion that it followed.
        guard changes.objects[id] == nil, try snapshot.exists(id) else { return }
        try addDeletion(of: id)
    }

    private func removeAbsentObjects(_ objects: Walked, _ target: DamagedViews) throws {
        try target.transaction.withCursor(target.tables.objects) { cursor in
            var found = try cursor.first()
            while found {
                if !objects.contains(cursor.key) { try addDeletion(of: StoreKey.objectID(cursor.key, at: 0)) }
                found = try cursor.next()
            }
        }
    }

    // MARK: Pairs

    private func addPair(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ views: DamagedViews
    ) throws {
        guard let pair = salvaged({ StoreKey.pair(key) }), let state = salvaged({ try PairState(value) }),
            state.revision > end
        else { return }
        let links = entries(of: pair, state.positions, views)
        // A pair whose number of the newest event is damaged may be older than the end.
        if links.found == 0, links.due > 0 {
            passedOver.contradictions += 1
            guard try links.due == 1 && snapshot.pair(pair) != nil else { return }
        }
        try add(pair, state.positions)
    }

    /// Unlinks pairs of the log that the views lack, in the table of pairs and, as far as it can be read, in that of
    /// links.
    private func removeAbsentPairs(_ pairs: Walked, _ views: DamagedViews, _ target: DamagedViews) throws {
        try target.transaction.withCursor(target.tables.pairs) { cursor in
            var found = try cursor.first()
            while found {
                defer { found = (try? cursor.next()) ?? false }
                guard !pairs.contains(cursor.key), let pair = StoreKey.pair(cursor.key),
                    schema.links.link(pair.property) != nil
                else { continue }
                let links = entries(of: pair, try PairState(cursor.value).positions, views)
                guard links.found == 0 || pairs.isWhole && links.found < links.due else {
                    passedOver.contradictions += 1
                    continue
                }
                // Without either table nothing says that it is gone.
                guard pairs.isWhole || links.due > 0 && links.isReadable else { continue }
                if links.found > 0 { passedOver.contradictions += 1 }
                try add(pair, nil)
            }
        }
    }

    /// Counts the entries that a pair has in the table of links, and those that it should have.
    private func entries(
        of pair: PairKey, _ positions: PairPositions, _ views: DamagedViews
    ) -> (found: Int, due: Int, isReadable: Bool) {
        let due = schema.links.entries(of: pair, positions)
        var found = 0
        do {
            try views.tables.links.withCursor(views.transaction) { cursor in
                for link in due where try Self.has(link, &cursor) { found += 1 }
            }
        } catch {
            return (0, 0, false)
        }
        return (found, due.count, true)
    }

    /// Whether there is an entry for a link, at whatever position.
    private static func has(_ link: PairLink, _ cursor: inout EntryCursor) throws -> Bool {
        let isThere = try StoreKey.withLink(
            link.link, owner: link.owner, position: link.position, member: link.member
        ) { key in try cursor.seek(atOrAfter: key) && cursor.key.compare(with: key) == 0 }
        guard !isThere, link.position != nil else { return isThere }
        return try StoreKey.withLinkPrefix(link.link, owner: link.owner) { prefix in
            var found = try cursor.seek(atOrAfter: prefix)
            while found, cursor.key.prefix(prefix.count).elementsEqual(prefix) {
                if StoreKey.lastObjectID(cursor.key) == link.member { return true }
                found = try cursor.advance()
            }
            return false
        }
    }
}
