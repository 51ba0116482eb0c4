import StrataModel
import StrataStore

/// One step of a batch insert. `init` prepares its rows, while the step before may still be written; then the step is
/// begun and finished.
final class BatchInsertStep {
    private let writer: BatchWriter
    private let policy: UniquenessPolicy
    private let rules: RowRules
    private let prepared: [BatchRowMaker.Prepared]
    private let maker: BatchRowMaker
    private let ids: [ObjectID]
    /// The number of the first row in the whole request.
    private let passed: Int
    private let lease = BatchLease()
    /// Whether the step decides before the write which object each row becomes, because other objects are linked with
    /// it, members counted, or large values encrypted. Otherwise the write decides.
    private let settlesFirst: Bool
    private var settled: UpsertOutcome?
    private var attempt: BatchWriter.Attempt?

    /// - Parameter passed: the number of rows in the steps before.
    /// - Throws: validation errors of the rows themselves.
    init(
        _ writer: BatchWriter, _ rows: [BatchValues], _ entity: EntityRuntime, _ policy: UniquenessPolicy, passed: Int
    ) throws {
        self.writer = writer
        self.policy = policy
        self.passed = passed
        maker = BatchRowMaker(writer.binding, entity, lease)
        prepared = try writer.prepare(rows, maker, policy, passed)
        rules = RowRules(entity.schema, writer.binding.schema)
        ids = try rows.map { _ in try writer.binding.store.newObjectID(in: entity.id) }.sorted()
        settlesFirst =
            policy != .reject
            && (entity.isBounded(writer.binding) || prepared.contains { $0.links.contains { !$0.isOwner } }
                || entity.properties.contains { $0.kind.isExternal && $0.cipher != nil })
    }

    /// Submits the save of the step, made from the newest state.
    func begin() throws { attempt = try naming { try writer.begin(fill) } }

    /// Waits until the step is saved.
    func finish(_ type: BatchResultType, into result: inout BatchResult) throws {
        defer { withExtendedLifetime(lease) {} }
        let receipt = try naming { try writer.finish(attempt, isSettled: settlesFirst, fill) }
        guard let upsert = settled ?? receipt?.upsert else { return }
        if let receipt { result.note(receipt) }
        result.mergedCount += upsert.mergedCount
        result.keptCount += upsert.keptCount
        result.count += ids.count - upsert.keptCount
        if type == .objectIDs { result.objectIDs += ids.map { upsert.finalHolder(of: $0) } }
    }

    /// Names rows in an error instead of new objects, which do not exist after a step that failed.
    private func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StrataError {
            var named = naming(error)
            named.details = error.details.map(naming)
            throw named
        }
    }

    private func naming(_ error: StrataError) -> StrataError {
        guard let row = error.context.objectID.flatMap(row(of:)) else { return error }
        let others = error.context.conflictingObjectIDs
        guard others.contains(where: { self.row(of: $0) != nil }), let key = error.context.key else {
            return BatchWriter.numbered(error, row)
        }
        let names = others.map { other in
            self.row(of: other).map { "row \($0)" } ?? writer.binding.schema.name(of: other)
        }
        let sentence = UniquenessCheck.sentence(key.split(separator: ",").joined(separator: ", "), names)
        return BatchWriter.numbered(
            StrataError(error.code, sentence, context: error.context, cause: error.cause), row)
    }

    /// Ids are in the order of the rows.
    private func row(of id: ObjectID) -> Int? {
        let index = ids.partitionPoint { $0 < id }
        return index < ids.count && ids[index] == id ? passed + index : nil
    }

    private func fill(_ snapshot: Snapshot, _ changes: inout ChangeSet) throws {
        changes.uniquenessPolicy = policy
        changes.insertions = try writer.insertions(prepared, ids, maker, snapshot)
        var links = zip(ids, prepared).compactMap { $1.links.isEmpty ? nil : ($0, $1.links) }
        if settlesFirst {
            let outcome = try UpsertResolution.settle(&changes, snapshot, maker.files)
            links = BatchWriter.links(links, after: outcome, policy)
            settled = outcome
        }
        try writer.link(&changes, links, snapshot)
        // An object that a row is merged into may have values that the row lacks. So predicates are checked when it is
        // known which object each row becomes.
        guard policy == .reject, !rules.isEmpty else { return }
        var errors: [StrataError] = []
        for insertion in changes.insertions {
            errors += try rules.failures(of: insertion.image, insertion.id, snapshot)
        }
        try StrataError.throwTogether(errors)
    }
}

extension BatchWriter {
    /// Sets the relationships that change other objects too, and counts the members of bounded to-manys.
    func link(
        _ changes: inout ChangeSet, _ given: some Sequence<(ObjectID, [BatchLinks.GivenLink])>, _ snapshot: Snapshot
    ) throws {
        var failures: [StrataError] = []
        let rows = mattering(given)
        if !rows.isEmpty {
            var links = BatchLinks(binding, changes, snapshot)
            for (id, list) in rows { try links.takeBack(list, of: id) }
            for (id, list) in rows { try links.set(list, of: id) }
            failures = try links.failures()
            changes = try links.finish()
        }
        // Otherwise it is not known yet which insertions become updates, and nothing is bounded.
        if changes.uniquenessPolicy == .reject {
            failures += try BatchBounds(binding: binding, snapshot: snapshot).failures(changes)
        }
        try StrataError.throwTogether(Array(failures.prefix(Self.reportedErrors)), count: failures.count)
    }

    /// The target of a to-one is in its row already. It is set in turn only if other rows give the to-many.
    private func mattering(
        _ links: some Sequence<(ObjectID, [BatchLinks.GivenLink])>
    ) -> [(ObjectID, [BatchLinks.GivenLink])] {
        let links = Array(links)
        let toOnes = Set(
            links.lazy.flatMap(\.1).compactMap { link -> PropertyID? in
                guard case .members(let property, _) = link,
                    case .rows(let toOne)? = self.binding.link(property.id)?.source
                else { return nil }
                return toOne
            })
        return links.compactMap { id, list in
            let list = list.filter { link in
                if case .owner(let property, _) = link { toOnes.contains(property.id) } else { true }
            }
            return list.isEmpty ? nil : (id, list)
        }
    }

    /// The links of a row that was merged into an object go to that object. A row that was kept out has none.
    fileprivate static func links(
        _ links: [(ObjectID, [BatchLinks.GivenLink])], after outcome: UpsertOutcome, _ policy: UniquenessPolicy
    ) -> [(ObjectID, [BatchLinks.GivenLink])] {
        links.compactMap { id, list in
            let holder = outcome.finalHolder(of: id)
            return holder != id && policy == .keep ? nil : (holder, list)
        }
    }

    fileprivate func prepare(
        _ rows: [BatchValues], _ maker: BatchRowMaker, _ policy: UniquenessPolicy, _ passed: Int
    ) throws -> [BatchRowMaker.Prepared] {
        var prepared: [BatchRowMaker.Prepared] = []
        prepared.reserveCapacity(rows.count)
        var errors: [StrataError] = []
        var count = 0
        for (index, row) in rows.enumerated() {
            if index & 0xFF == 0 { try Task.checkCancellation() }
            do {
                var made = try maker.insertion(of: row)
                guard !made.failures.isEmpty else {
                    prepared.append(made)
                    continue
                }
                // A wrong value that was given is an error in any case. A missing one may be in the object that the row
                // is merged into.
                let wrong = made.failures.filter { policy == .reject || made.givenSlots.contains($0.slot) }
                count += wrong.count
                errors += wrong.prefix(Self.reportedErrors - errors.count).map {
                    Self.numbered($0.error, passed + index)
                }
                made.failures = made.failures.filter { !made.givenSlots.contains($0.slot) }.map {
                    .init(slot: $0.slot, error: Self.numbered($0.error, passed + index))
                }
                prepared.append(made)
            } catch let error as StrataError {
                count += 1
                if errors.count < Self.reportedErrors { errors.append(Self.numbered(error, passed + index)) }
            }
        }
        try StrataError.throwTogether(errors, count: count)
        return prepared
    }

    /// The error with the number of the row, counted from 0 over the whole request.
    fileprivate static func numbered(_ error: StrataError, _ row: Int) -> StrataError {
        StrataError(
            error.code, "Row \(row): \(error.message)", context: error.context, details: error.details,
            cause: error.cause)
    }

    fileprivate func insertions(
        _ prepared: [BatchRowMaker.Prepared], _ ids: [ObjectID], _ maker: BatchRowMaker, _ snapshot: Snapshot
    ) throws -> [ChangeSet.Insertion] {
        var positions = BatchPositions(snapshot)
        return try zip(prepared, ids).map { row, id in
            var row = row
            if !row.secrets.isEmpty { try maker.encrypt(&row, of: id) }
            var builder = row.builder
            for position in row.positions {
                try builder.setPosition(position.slot, try positions.next(position.link, position.owner))
            }
            var insertion = ChangeSet.Insertion(id: id, image: try builder.finish())
            insertion.givenSlots = row.givenSlots
            insertion.failures = row.failures
            return insertion
        }
    }
}

extension EntityRuntime {
    /// Whether a row of the entity can change the number of members of a bounded to-many.
    fileprivate func isBounded(_ binding: StoreBinding) -> Bool {
        guard binding.hasBoundedLinks else { return false }
        return toManyIndexes.contains { binding.link(properties[$0].id)?.isBounded ?? false }
            || toOneIndexes.contains { index in
                guard case .toMany(let link, _) = properties[index].inverse else { return false }
                return binding.link(link)?.isBounded ?? false
            }
    }
}

extension UpsertOutcome {
    /// The object that a row became: a new one, or the one that has its unique values.
    fileprivate func finalHolder(of id: ObjectID) -> ObjectID { holders[id] ?? id }
}
