import LMDB
import StrataModel

extension Snapshot {
    /// Runs a text query in this state.
    ///
    /// Objects whose texts the layers change are judged by their rows, all others by the lists of words.
    func search(
        _ query: FullTextQuery, _ text: PreparedText, columns: [[Int]?], ranked: Bool
    ) throws -> TextResult {
        if query.isEmpty { return TextResult() }
        guard let table = tables.views?.texts, !histories.isPast else {
            var judging = TextJudging(query, text, columns)
            for entity in text.entities {
                guard let entity = schema.entity(entity) else { continue }
                try forEachRow(of: entity) { id, row in
                    try judging.judge(id, row, self)
                    return true
                }
            }
            return judging.result(ranked, nil)
        }
        let (changed, present) = try changedTexts(text)
        var hidden = TextGroupSet()
        hidden.insert(changed)
        let search = TextSearch(
            query: query, text: text, table: table, snapshot: self, hidden: hidden, columns: columns)
        let (part, found) = try search.run()
        var judging = TextJudging(query, text, columns)
        for id in present {
            try row(id)?.withNewestReader(id, schema) { try judging.judge(id, $0, self) }
        }
        guard ranked else {
            var base: [ObjectID] = []
            try hold(part.matches.set.count * MemoryLayout<ObjectID>.stride)
            for (group, members) in zip(part.matches.set.groups, part.matches.set.bits) {
                members.forEachMember { base.append(ObjectID(rawValue: group << 8 | UInt64($0))) }
            }
            return judging.result(false, TextJudging.Base(ids: base, found: found))
        }
        return try rank(part, found, judging, hidden, text, table)
    }

    /// The objects whose texts are not as the lists have them, and those of them that exist in this state.
    private func changedTexts(_ text: PreparedText) throws -> (changed: [ObjectID], present: [ObjectID]) {
        if layers.isEmpty { return ([], []) }
        var touched: [ObjectID] = []
        for layer in layers { for entity in text.entities { touched += layer.touched(entity) } }
        touched.sortAndDropRepeated()
        let base = Snapshot(
            eventNumber: eventNumber, schema: schema, transaction: transaction, tables: tables, histories: histories,
            layers: [])
        var (changed, present): ([ObjectID], [ObjectID]) = ([], [])
        for id in touched {
            try spend(rows: 2)
            guard let now = try row(id) else {
                changed.append(id)
                continue
            }
            let isSame = try base.row(id)?.withNewestReader(id, schema) { before in
                try now.withNewestReader(id, schema) { try text.isSame(before, $0) }
            }
            if isSame == true { continue }
            changed.append(id)
            present.append(id)
        }
        return (changed, present)
    }

    private func rank(
        _ part: TextSearch.Part, _ found: [Int], _ judging: TextJudging, _ hidden: TextGroupSet, _ text: PreparedText,
        _ table: Table
    ) throws -> TextResult {
        let lengths = TextLengths(text, table, transaction)
        var whole = try lengths.whole()
        for (group, members) in zip(hidden.groups, hidden.bits) {
            let record = try lengths.record(group)
            members.forEachMember { member in
                guard let length = record.length(member) else { return }
                whole.objects -= 1
                whole.words -= length
            }
        }
        let statistics = TextStatistics(
            objects: whole.objects + judging.objectCount, words: whole.words + judging.wordCount,
            found: zip(found, judging.found).map(+))
        var result = TextResult()
        let count = part.matches.set.count
        try hold(count * (MemoryLayout<ObjectID>.stride + MemoryLayout<Double>.stride))
        result.ids.reserveCapacity(count)
        result.ranks.reserveCapacity(count)
        for (group, members) in zip(part.matches.set.groups, part.matches.set.bits) {
            _ = part.move(to: group)
            let record = try lengths.record(group)
            try spend(values: members.memberCount)
            members.forEachMember { member in
                result.ids.append(ObjectID(rawValue: group << 8 | UInt64(member)))
                result.ranks.append(part.rank(member, record.length(member) ?? 0, statistics))
            }
        }
        return judging.result(true, TextJudging.Base(ids: result.ids, ranks: result.ranks, statistics: statistics))
    }

    /// About how many objects a query finds: no more than the rarest of the words that all must have.
    func roughCount(of query: FullTextQuery, _ text: PreparedText) throws -> Int {
        guard let table = tables.views?.texts, !histories.isPast else {
            return try text.entities.reduce(0) { $0 + (try counter(.entity($1))) }
        }
        return try roughCount(query.root, query, text, table)
    }

    private func roughCount(
        _ node: TextNode, _ query: FullTextQuery, _ text: PreparedText, _ table: Table
    ) throws -> Int {
        switch node {
        case .nothing: return 0
        case .phrase(let phrase):
            return try query.phrases[phrase].words.reduce(.max) {
                min($0, try roughCount(query.words[$1], text, table))
            }
        case .near(let phrases, _):
            return try phrases.reduce(.max) { min($0, try roughCount(.phrase($1), query, text, table)) }
        case .and(let parts):
            return try parts.reduce(.max) { min($0, try roughCount($1, query, text, table)) }
        case .or(let parts): return try parts.reduce(0) { $0 + (try roughCount($1, query, text, table)) }
        case .not(let left, _): return try roughCount(left, query, text, table)
        }
    }

    /// The objects of the first records of a word, and a guess for the others.
    private func roughCount(_ word: TextWord, _ text: PreparedText, _ table: Table) throws -> Int {
        var key = ByteWriter(capacity: 256)
        TextKey.term(text.id, word.term, isPrefix: word.isPrefix, into: &key)
        return try transaction.withCursor(table) { cursor in
            var (count, records) = (0, 0)
            var found = try cursor.seek(atOrAfter: key.bytes)
            while found, cursor.key.hasPrefix(key.bytes) {
                count += Int(cursor.value.first ?? 0) + 1
                records += 1
                if records == 64 { return count * 4 }
                found = try cursor.next()
            }
            return count
        }
    }
}

extension TextGroupSet {
    /// Adds ids in order.
    fileprivate mutating func insert(_ ids: [ObjectID]) {
        var first = 0
        while first < ids.count {
            let group = TextKey.group(ids[first])
            var bits = GroupBits.zero
            while first < ids.count, TextKey.group(ids[first]) == group {
                bits.insert(TextKey.member(ids[first]))
                first += 1
            }
            append(group, bits)
        }
    }
}
