import StrataModel
import StrataStore

/// Keeps the results of one request up to date from state to state.
///
/// The difference of two states follows from the log between them and the layers that they do not share. Only objects
/// that it concerns are checked again, so a step takes O(changes x log results). Belongs to one isolation.
final class ResultsTracker {
    private let binding: StoreBinding
    private let live: LiveQuery
    private let naming: SectionNaming?
    private let folding: StringFolding
    private(set) var state: StoreState
    private(set) var results = ResultsState()
    /// The number of rows that were read to follow changes.
    private(set) var readCount = 0
    /// The number of times that the whole request ran, including the first one.
    private(set) var runCount = 0

    var rerunReason: String? { live.rerunReason }

    /// - Throws: what `LiveQuery` refuses; `invalidRequest` if the order does not begin with the sections.
    init(
        _ binding: StoreBinding, _ request: StoreRequest, sectionNameKeyPath: String?, naming: SectionNaming,
        observing keyPaths: [String]?
    ) throws {
        self.binding = binding
        live = try LiveQuery(request, binding.schema, observing: keyPaths)
        self.naming = sectionNameKeyPath == nil ? nil : naming
        folding = request.sort.first?.folding ?? []
        state = StoreState(eventNumber: .zero)
        if let path = sectionNameKeyPath, request.sort.first?.keyPath != path {
            throw StrataError(
                .invalidRequest, "Sections by \(path) need a request that is sorted by it first.",
                context: .init(key: path))
        }
    }

    // MARK: Running

    /// Runs the request.
    func start(at state: StoreState) throws {
        let budget = binding.requestBudget
        results = try binding.read(at: state.eventNumber, layers: state.layers, budget: budget) { snapshot in
            runCount += 1
            let list = IdentifierList(try live.fetch(snapshot))
            return ResultsState(list: list, sections: try sections(of: list, LiveReader(live, snapshot)))
        }
        self.state = state
    }

    /// Moves to another state.
    ///
    /// - Returns: what has changed in the results; nil if nothing has.
    func advance(to next: StoreState) throws -> ResultsChange? {
        guard !state.isSame(as: next) else { return nil }
        let change = try changeOrRerun(to: next)
        state = next
        guard let change, !change.isEmpty else { return nil }
        results = change.after
        return change
    }

    /// The index of an object among the results; nil if it is not one of them.
    func index(of id: ObjectID) throws -> Int? {
        if live.rerunReason != nil { return results.list.firstIndex(of: id) }
        return try binding.read(at: state.eventNumber, layers: state.layers) { snapshot in
            let reader = LiveReader(live, snapshot)
            guard let key = try reader.keyIfFound(id) else { return nil }
            let index = try lowerBound(of: key, reader)
            return index < results.list.count && results.list[index] == id ? index : nil
        }
    }

    // MARK: Changes

    private func changeOrRerun(to next: StoreState) throws -> ResultsChange? {
        do {
            return try binding.store.compare(state, next, through: binding.schema) { old, new, difference in
                try self.change(difference, old, new)
            }
        } catch let error as StrataError where error.code == .historyDropped {
            // The state of the results can no longer be read: any of them may have changed.
            let all = Set(results.list)
            return try binding.read(at: next.eventNumber, layers: next.layers) { new in
                try rerun(LiveQuery.Concerned(settled: all, updated: all), new)
            }
        }
    }

    private func change(_ difference: StateDifference, _ old: Snapshot, _ new: Snapshot) throws -> ResultsChange? {
        guard !difference.isEmpty else { return nil }
        if difference.hasErasures {
            // The earlier rows do not say any more why they were results, nor in which order.
            return try rerun(LiveQuery.Concerned(settled: difference.rows, updated: difference.rows), new)
        }
        let concerned = try live.concerned(by: difference, old, new)
        if live.rerunReason != nil {
            guard live.isOpaque || !concerned.settled.isEmpty else { return try shown(concerned.updated) }
            return try rerun(concerned, new)
        }
        if concerned.settled.isEmpty, concerned.updated.isEmpty { return nil }
        let before = LiveReader(live, old)
        let after = LiveReader(live, new)
        defer { readCount += before.readCount + after.readCount }
        return try followed(concerned, before, after) ?? rerun(concerned, new)
    }

    /// - Returns: nil if an object is not where its key says, so that the request must run again.
    private func followed(
        _ concerned: LiveQuery.Concerned, _ before: LiveReader, _ after: LiveReader
    ) throws -> ResultsChange? {
        var removed: [ResultsChange.Item] = []
        var found: [(id: ObjectID, key: [UInt8], section: String, old: Int?)] = []
        var staying: [ResultsChange.Item] = []
        for id in concerned.settled.union(concerned.updated).sorted() {
            let (oldKey, newKey) = (try before.keyIfFound(id), try after.keyIfFound(id))
            guard let oldKey else {
                if let newKey { found.append((id, newKey, try section(of: id, after), nil)) }
                continue
            }
            let index = try lowerBound(of: oldKey, before)
            guard index < results.list.count, results.list[index] == id else { return nil }
            let name = try newKey.map { _ in try section(of: id, after) }
            if oldKey == newKey, try name == section(of: id, before) {
                if concerned.updated.contains(id) { staying.append(.init(id: id, index: index)) }
                continue
            }
            removed.append(.init(id: id, index: index))
            if let newKey, let name { found.append((id, newKey, name, index)) }
        }
        removed.sort { $0.index < $1.index }
        found.sort { LiveQuery.isBefore($0.key, $1.key) }
        var passed = 0
        let placed = try found.map { object in
            let bound = try lowerBound(of: object.key, before)
            while passed < removed.count, removed[passed].index < bound { passed += 1 }
            return ChangeBuilder.Placed(
                id: object.id, gap: bound - passed, section: object.section, old: object.old)
        }
        return ChangeBuilder(
            before: results, isSectioned: naming != nil, removed: removed, placed: placed,
            updated: concerned.updated, stayingUpdates: staying.sorted { $0.index < $1.index }
        ).build()
    }

    /// Runs the request again and compares the lists.
    private func rerun(_ concerned: LiveQuery.Concerned, _ new: Snapshot) throws -> ResultsChange? {
        runCount += 1
        let ids = try live.fetch(new)
        let reader = LiveReader(live, new)
        defer { readCount += reader.readCount }
        let indexes = Dictionary(uniqueKeysWithValues: results.list.enumerated().map { ($1, $0) })
        var kept: [(number: Int, old: Int)] = []
        for (number, id) in ids.enumerated() where !concerned.settled.contains(id) {
            if let old = indexes[id] { kept.append((number, old)) }
        }
        let staying = Set(ChangeBuilder.longestAscending(kept))
        var gone = indexes
        var placed: [ChangeBuilder.Placed] = []
        var gap = 0
        for (number, id) in ids.enumerated() {
            if staying.contains(number) {
                gone[id] = nil
                gap += 1
            } else {
                placed.append(.init(id: id, gap: gap, section: try section(of: id, reader), old: indexes[id]))
            }
        }
        let removed = gone.map { ResultsChange.Item(id: $0.key, index: $0.value) }.sorted { $0.index < $1.index }
        let updates = concerned.updated.compactMap { id -> ResultsChange.Item? in
            guard gone[id] == nil, let index = indexes[id] else { return nil }
            return .init(id: id, index: index)
        }
        return ChangeBuilder(
            before: results, isSectioned: naming != nil, removed: removed, placed: placed,
            updated: concerned.updated, stayingUpdates: updates.sorted { $0.index < $1.index }
        ).build()
    }

    /// The change of a state in which only values have changed.
    private func shown(_ updated: Set<ObjectID>) throws -> ResultsChange? {
        guard !updated.isEmpty else { return nil }
        var change = ResultsChange(before: results, after: results)
        for (index, id) in results.list.enumerated() where updated.contains(id) {
            change.updates.append(.init(id: id, old: index, new: index))
        }
        return change
    }

    // MARK: Positions and sections

    /// The number of results before a key.
    private func lowerBound(of key: [UInt8], _ reader: LiveReader) throws -> Int {
        try results.list.partitionPoint { try LiveQuery.isBefore(reader.key($0), key) }
    }

    private func section(of id: ObjectID, _ reader: LiveReader) throws -> String {
        guard let naming else { return "" }
        return naming.name(try reader.firstValue(id), folding, binding.schema)
    }

    /// - Complexity: O(sections log results) rows are read.
    private func sections(of list: IdentifierList, _ reader: LiveReader) throws -> SectionList {
        guard naming != nil else { return SectionList(single: list.count) }
        var sections = SectionList()
        var start = 0
        while start < list.count {
            let name = try section(of: list[start], reader)
            var step = 1
            var low = start
            while low + step < list.count, try section(of: list[low + step], reader) == name {
                low += step
                step *= 2
            }
            var high = Swift.min(low + step, list.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if try section(of: list[middle], reader) == name { low = middle } else { high = middle }
            }
            sections.names.append(name)
            sections.ends.append(low + 1)
            start = low + 1
        }
        return sections
    }
}
