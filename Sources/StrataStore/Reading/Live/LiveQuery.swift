import LMDB

package import StrataModel

/// A request whose result is kept up to date: it knows which objects a change of any row or link can affect.
///
/// If a predicate crosses relationships, a change at the far end affects the objects that lead to it, before or after
/// the change. So every key path is walked back from the changed row in both states, and only the objects found that
/// way are judged again.
package final class LiveQuery: Sendable {
    package let request: StoreRequest
    let query: CompiledQuery
    private let readings: LiveReadings
    private let byEntity: [EntityID: [Int]]
    private let observesWholeRows: Bool
    private let conditions: (any RowCondition)?

    /// - Parameter keyPaths: key paths whose changes count as an update of an object; nil for all of its own
    ///   properties.
    /// - Throws: as `CompiledQuery`.
    package init(
        _ request: StoreRequest, _ schema: Schema, observing keyPaths: [String]? = nil
    ) throws(StrataError) {
        self.request = request
        query = try CompiledQuery(request, schema)
        readings = LiveReadings(request, query.entity, schema, observing: keyPaths)
        observesWholeRows = keyPaths == nil
        conditions = RowFilter.conjunction(query.conditions)
        var byEntity: [EntityID: [Int]] = [:]
        for (index, reading) in readings.readings.enumerated() {
            for entity in reading.entities { byEntity[entity, default: []].append(index) }
        }
        self.byEntity = byEntity
    }

    /// The reason why a change makes the whole request run again; nil if only the affected objects are looked at.
    package var rerunReason: String? {
        if let obstacle = readings.obstacle { return obstacle }
        return request.limit > 0 || request.offset > 0
            ? "which objects are within the limit depends on the others" : nil
    }

    /// Whether any change may affect any object.
    package var isOpaque: Bool { readings.obstacle != nil }

    /// Runs the whole request.
    package func fetch(_ snapshot: Snapshot) throws -> [ObjectID] {
        // A compiled query keeps the value that `now()` had when it was compiled.
        isOpaque ? try snapshot.fetch(request) : try snapshot.fetch(query)
    }

    /// The objects that the changes between two states affect.
    package struct Concerned: Sendable {
        /// They may enter or leave the result, or move in it.
        package var settled: Set<ObjectID> = []
        /// Their values have changed.
        package var updated: Set<ObjectID> = []

        package init(settled: Set<ObjectID> = [], updated: Set<ObjectID> = []) {
            self.settled = settled
            self.updated = updated
        }
    }

    package func concerned(
        by difference: StateDifference, _ old: Snapshot, _ new: Snapshot
    ) throws -> Concerned {
        var found = Concerned()
        for id in difference.rows {
            guard let indices = byEntity[id.entityID] else { continue }
            try compare(id, indices, old, new, &found)
        }
        for key in difference.pairs { try compare(key, old, new, &found) }
        return found
    }

    // MARK: Rows

    private func compare(
        _ id: ObjectID, _ indices: [Int], _ old: Snapshot, _ new: Snapshot, _ found: inout Concerned
    ) throws {
        let (before, after) = (try old.row(id), try new.row(id))
        guard let before, let after else {
            guard before != nil || after != nil else { return }
            for index in indices {
                let reading = readings.readings[index]
                if reading.isSettling { try add(id, reading.hops, isSettling: true, old, new, &found) }
                if reading.isObserved { try add(id, reading.hops, isSettling: false, old, new, &found) }
            }
            return
        }
        if before.layout === after.layout, before.image.isSame(as: after.image) { return }
        try before.withNewestReader(id, old.schema) { before in
            try after.withNewestReader(id, new.schema) { after in
                for index in indices {
                    let reading = readings.readings[index]
                    if try differs(reading.settling, id, before, after, new.schema) {
                        try add(id, reading.hops, isSettling: true, old, new, &found)
                    }
                    if try differs(reading.observed, id, before, after, new.schema) {
                        try add(id, reading.hops, isSettling: false, old, new, &found)
                    }
                }
            }
        }
        if query.entities.contains(id), observesWholeRows { found.updated.insert(id) }
    }

    private func differs(
        _ properties: Set<PropertyID>, _ id: ObjectID, _ before: RowReader, _ after: RowReader, _ schema: Schema
    ) throws -> Bool {
        guard let entity = schema.entity(id.entityID) else { return true }
        for property in properties {
            guard let slot = entity.slot(of: property), entity.properties[slot].storage != nil else { continue }
            if try !before.value(slot).isIdentical(to: after.value(slot)) { return true }
        }
        return false
    }

    private func add(
        _ id: ObjectID, _ hops: [LiveHop], isSettling: Bool, _ old: Snapshot, _ new: Snapshot, _ found: inout Concerned
    ) throws {
        let sources =
            hops.isEmpty
            ? [id] : try old.sources(of: id, through: hops).union(try new.sources(of: id, through: hops))
        for source in sources where query.entities.contains(source) {
            if isSettling { found.settled.insert(source) } else { found.updated.insert(source) }
        }
    }

    // MARK: Pairs

    private func compare(_ key: PairKey, _ old: Snapshot, _ new: Snapshot, _ found: inout Concerned) throws {
        let concerned = readings.pairs.filter { $0.canonical == key.property }
        guard !concerned.isEmpty else { return }
        let before = try old.pair(key, below: old.layers.count)
        let after = try new.pair(key, below: new.layers.count)
        guard (before == nil) != (after == nil) else { return }
        for pairs in concerned {
            for owner in pairs.owners(of: key) {
                try add(owner, pairs.hops, isSettling: pairs.isSettling, old, new, &found)
            }
        }
    }
}

/// Judges single objects of a live query in one snapshot.
///
/// Use it within one read, on one thread.
package final class LiveReader {
    private let live: LiveQuery
    private let snapshot: Snapshot
    private let evaluation: Evaluation
    private var known: [ObjectID: [UInt8]] = [:]
    /// The number of rows that were read to judge objects or to find their positions.
    package private(set) var readCount = 0

    package init(_ live: LiveQuery, _ snapshot: Snapshot) {
        self.live = live
        self.snapshot = snapshot
        evaluation = Evaluation(snapshot)
    }

    /// The sort key of the object; nil if the request does not find it.
    package func keyIfFound(_ id: ObjectID) throws -> [UInt8]? {
        guard live.query.entities.contains(id) else { return nil }
        readCount += 1
        let conditions = live.conditionsForReader
        return try evaluation.withRow(id) { row in
            guard let row, try conditions?.holds(row, id, evaluation) ?? true else { return nil }
            let key = try makeKey(row, id)
            known[id] = key
            return key
        }
    }

    /// The sort key of an object that the request is known to find.
    package func key(_ id: ObjectID) throws -> [UInt8] {
        if let key = known[id] { return key }
        readCount += 1
        let key = try evaluation.withRow(id) { row in try row.map { try makeKey($0, id) } ?? [] }
        known[id] = key
        return key
    }

    /// The value of the first sort column.
    package func firstValue(_ id: ObjectID) throws -> AttributeValue {
        guard let column = live.query.order.first else { return .null }
        readCount += 1
        return try evaluation.withRow(id) { row in
            try row.map { try column.path.value($0, id, evaluation) } ?? .null
        }
    }

    private func makeKey(_ row: RowReader, _ id: ObjectID) throws -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        for column in live.query.order { try column.write(row, id, evaluation, into: &writer) }
        writer.append(bigEndian: id.rawValue)
        return writer.array
    }
}

extension LiveQuery {
    fileprivate var conditionsForReader: (any RowCondition)? { conditions }

    /// Whether one sort key comes before another.
    package static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { left.compare(with: $0) < 0 } }
    }
}
