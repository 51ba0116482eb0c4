// Runs a request for rows: properties, aggregates and groups.

package import StrataModel

extension Snapshot {
    /// Rows of values: one for each object, or for each group of objects.
    ///
    /// Without an order, groups are sorted by their keys.
    ///
    /// - Throws: what `CompiledRows` refuses; `wrongType` and `invalidRequest` for values that an expression cannot
    ///   use; `corrupt`.
    package func rows(_ request: RowsRequest) throws -> ResultRows {
        try rows(CompiledRows(request, schema, shapes))
    }

    package func rows(_ query: CompiledRows) throws -> ResultRows {
        let conditions = query.objects.conditions
        return try metered(query.objects.entity, conditions.count == 1 ? conditions[0].predicate : nil) {
            try RowsRun(query, self).run()
        }
    }
}

/// One run of a request for rows over a snapshot.
struct RowsRun {
    let query: CompiledRows
    let snapshot: Snapshot
    let evaluation: Evaluation

    init(_ query: CompiledRows, _ snapshot: Snapshot) {
        self.query = query
        self.snapshot = snapshot
        evaluation = Evaluation(snapshot)
        evaluation.ahead = MembersAhead()
    }

    func run() throws -> ResultRows {
        // Columns that only the order needs have no name, and `arranged` leaves them out.
        let hidden = [String](repeating: "", count: query.columnCount - query.names.count)
        var result = ResultRows(names: query.names + hidden)
        switch query.shape {
        case .objects(let readers): try appendObjects(readers, to: &result)
        case .groups(let shape):
            for row in try GroupRun(query, shape, snapshot, evaluation).rows() { result.append(row) }
        }
        guard query.isDistinct || !query.order.isEmpty || query.limit != nil || query.offset > 0 else { return result }
        return try arranged(result)
    }

    private func appendObjects(_ readers: [ValueReader], to result: inout ResultRows) throws {
        let objects = query.objects
        func append(_ id: ObjectID, _ row: RowReader, to result: inout ResultRows) throws {
            try snapshot.spend(values: readers.count)
            for reader in readers {
                let value = try reader.value(row, id, evaluation)
                try snapshot.hold(MemoryLayout<AttributeValue>.stride + value.sizeOutside)
                result.append(CollectionOfOne(value))
            }
        }
        if objects.order.isEmpty, objects.shape.relevance == nil, objects.limit == nil, objects.offset == 0 {
            let plan = try objects.plan(for: .rows, snapshot)
            let runner = StepRunner(snapshot: snapshot, evaluation: evaluation, trace: nil)
            return try runner.forEach(plan.root, readsRows: true) { id, row in
                if let row { try append(id, row, to: &result) }
                return true
            }
        }
        for id in try snapshot.fetch(objects) {
            try evaluation.withRow(id) { row in if let row { try append(id, row, to: &result) } }
        }
    }

    // MARK: Existing rows

    /// The distinct rows in order, within limit and offset.
    private func arranged(_ rows: ResultRows) throws -> ResultRows {
        var numbers = Array(rows.indices)
        if query.isDistinct {
            var seen = GroupTable()
            var writer = ByteWriter()
            try numbers.removeAll { number in
                writer.reset()
                for value in rows[number].prefix(query.names.count) { RowKey.write(value, into: &writer) }
                try snapshot.spend(values: 1)
                return !seen.number(of: writer.bytes).isNew
            }
        }
        if !query.order.isEmpty {
            let most = query.limit.map { $0 < Int.max - query.offset ? $0 + query.offset : Int.max } ?? Int.max
            try numbers.sort(first: most) { left, right in
                try snapshot.spend(values: 1)
                for key in query.order {
                    let order = key.compare(
                        rows[left][rows[left].startIndex + key.column],
                        rows[right][rows[right].startIndex + key.column], evaluation)
                    if order != 0 { return order < 0 }
                }
                return left < right
            }
        }
        var result = ResultRows(names: query.names)
        let rest = numbers.dropFirst(query.offset)
        for number in query.limit.map({ rest.prefix($0) }) ?? rest {
            result.append(rows[number].prefix(query.names.count))
        }
        return result
    }
}

extension [Int] {
    /// Longer beginnings are sorted with the rest.
    private static let longestBeginning = 1000

    /// Sorts the elements, of which the first `most` are needed; if these are few, drops the others.
    fileprivate mutating func sort(first most: Int, by isBefore: (Int, Int) throws -> Bool) rethrows {
        guard most <= Self.longestBeginning, most < count / 8 else { return try sort(by: isBefore) }
        var found: [Int] = []
        for element in self {
            if found.count == most {
                guard let last = found.last, try isBefore(element, last) else { continue }
                found.removeLast()
            }
            var (low, high) = (0, found.count)
            while low < high {
                let middle = (low + high) / 2
                if try isBefore(element, found[middle]) { high = middle } else { low = middle + 1 }
            }
            found.insert(element, at: low)
        }
        self = found
    }
}

extension AttributeValue {
    /// About the memory that the value has beside itself, in bytes.
    fileprivate var sizeOutside: Int {
        switch self {
        case .string(let text): text.utf8.count > 15 ? text.utf8.count + 32 : 0
        case .data(let data): data.count
        case .composite(let elements): elements.count * 128
        default: 0
        }
    }
}

extension CompiledRows.RowOrder {
    /// Negative, zero or positive, for the order of two values by this key.
    func compare(_ left: AttributeValue, _ right: AttributeValue, _ evaluation: Evaluation) -> Int {
        if left.isNull || right.isNull {
            if left.isNull && right.isNull { return 0 }
            let isLeftFirst = isNilFirst == left.isNull
            return isLeftFirst ? -1 : 1
        }
        let order: Int
        if let leftText = left.text, let rightText = right.text {
            order = SortColumn.compare(leftText, rightText, sort, evaluation)
        } else {
            order =
                switch left.order(to: right) {
                case .ascending: -1
                case .descending: 1
                case .same: 0
                // NaN is above all numbers, as in indexes.
                case nil: (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0)
                }
        }
        return sort.isAscending ? order : -order
    }

    private var isNilFirst: Bool {
        switch sort.nullPlacement {
        case .smallest: sort.isAscending
        case .first: true
        case .last: false
        }
    }
}
