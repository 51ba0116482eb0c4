import StrataModel

/// Evaluates a text query on the texts of rows, without lists of words, and joins the results with those of the lists.
struct TextJudging {
    /// The result of the lists for all other objects.
    struct Base {
        let ids: [ObjectID]
        var ranks: [Double] = []
        var found: [Int] = []
        var statistics: TextStatistics?
    }

    private struct Hit {
        let id: ObjectID
        let length: Int
        let counts: [Int]
    }

    private let query: FullTextQuery
    private let text: PreparedText
    private let columns: [[Int]?]
    private let scan: TextScan
    private var hits: [Hit] = []
    private(set) var objectCount = 0
    private(set) var wordCount = 0
    /// The number of these objects in which each phrase occurs.
    private(set) var found: [Int]

    init(_ query: FullTextQuery, _ text: PreparedText, _ columns: [[Int]?]) {
        self.query = query
        self.text = text
        self.columns = columns
        scan = TextScan(query)
        found = Array(repeating: 0, count: query.phrases.count)
    }

    mutating func judge(_ id: ObjectID, _ row: RowReader, _ snapshot: Snapshot) throws {
        scan.reset()
        try text.forEachColumn(row) { column, bytes in
            try snapshot.spend(values: bytes.count >> 4)
            scan.add(bytes, column: column)
        }
        objectCount += 1
        wordCount += scan.length
        let verdict = query.verdict(scan.occurrences, columns: columns)
        for (phrase, isThere) in verdict.isThere.enumerated() where isThere { found[phrase] += 1 }
        guard verdict.holds else { return }
        try snapshot.hold(MemoryLayout<Hit>.stride + verdict.counts.count * 8)
        hits.append(Hit(id: id, length: scan.length, counts: verdict.counts))
    }

    /// All objects found.
    ///
    /// - Parameter base: those that are not judged here; nil if there are none.
    func result(_ ranked: Bool, _ base: Base?) -> TextResult {
        let statistics =
            base?.statistics ?? TextStatistics(objects: objectCount, words: wordCount, found: found)
        if hits.isEmpty, let base { return TextResult(ids: base.ids, ranks: base.ranks) }
        var result = TextResult()
        var rest = (base?.ids ?? [])[...]
        func append(_ index: Int) {
            result.ids.append(rest[index])
            if ranked, let base { result.ranks.append(base.ranks[index]) }
        }
        for hit in hits.sorted(by: { $0.id < $1.id }) {
            while let next = rest.first, next < hit.id {
                append(rest.startIndex)
                rest.removeFirst()
            }
            result.ids.append(hit.id)
            guard ranked else { continue }
            result.ranks.append(
                hit.counts.enumerated().reduce(0) { sum, part in
                    part.element == 0
                        ? sum : sum + statistics.part(part.offset, frequency: part.element, length: hit.length)
                })
        }
        while !rest.isEmpty {
            append(rest.startIndex)
            rest.removeFirst()
        }
        return result
    }
}
