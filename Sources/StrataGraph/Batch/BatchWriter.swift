import StrataModel
import StrataStore

/// Writes the steps of batch requests to the store, with the author and name of a context.
///
/// Each step is made from the newest state and saved. If other writers saved in between, it is made again.
final class BatchWriter: Sendable {
    let binding: StoreBinding
    /// The change set that each step begins with: the context's name, author, reason and so on.
    private let emptyChanges: ChangeSet
    /// The most errors of one step that are reported; more are only counted.
    static let reportedErrors = 100

    init(_ context: ManagedObjectContext) throws {
        guard !context.isReadOnly else { throw context.readOnlyError }
        binding = context.binding
        emptyChanges = context.emptyChangeSet()
    }

    func entity(named name: String) throws -> EntityRuntime {
        guard let entity = binding.entity(named: name) else { throw binding.schema.unknownEntity(name) }
        return entity
    }

    /// The entity of a deletion. Without a class and a name, it is the root entity of the first id, and nil if there
    /// are no ids.
    func entity<Object: ManagedObject>(of request: BatchDeleteRequest<Object>) throws -> EntityRuntime? {
        guard let ids = request.objectIDs, request.entityName == ManagedObject.entityName,
            binding.entity(named: request.entityName) == nil
        else { return try entity(named: request.entityName) }
        guard let first = ids.first else { return nil }
        guard let root = binding.schema.entity(binding.schema.root(of: first.entityID)) else {
            throw StrataError(
                .wrongType, "The model has no entity for the object.", context: .init(objectID: first))
        }
        return try entity(named: root.name)
    }

    func check(stepSize: Int, _ entityName: String) throws {
        guard stepSize > 0 else {
            throw StrataError(
                .invalidRequest, "The stepSize must be 1 or more.", context: .init(entityName: entityName))
        }
    }

    /// A submitted save, and the event number of the state from which it was made.
    struct Attempt {
        let head: EventNumber
        let save: SaveInProgress
        /// Keeps files of values under keys of subjects until they are saved.
        var lease: BatchLease?
    }

    /// Makes changes from the newest state and submits them; nil if there are none.
    func begin(_ make: (Snapshot, inout ChangeSet) throws -> Void) throws -> Attempt? {
        let pin = try binding.store.pinnedHead()
        defer { withExtendedLifetime(pin) {} }
        let head = pin.eventNumber
        var changes = emptyChanges
        changes.transactionID = .ofTransaction()
        changes.base = head
        try binding.read(at: head, budget: binding.requestBudget) { try make($0, &changes) }
        let lease = try binding.hasSubjects ? BatchSubjects(binding).seal(&changes) : nil
        return changes.isEmpty ? nil : Attempt(head: head, save: try binding.store.beginSave(changes), lease: lease)
    }

    /// Waits for an attempt, and tries again while other writers save in between; nil if there is nothing to save.
    ///
    /// - Parameter isSettled: whether a save of another writer can show as a clash of unique values.
    func finish(
        _ first: Attempt?, isSettled: Bool = false, _ make: (Snapshot, inout ChangeSet) throws -> Void
    ) throws -> SaveReceipt? {
        var attempt = first
        for _ in 0..<16 {
            guard let current = attempt else { return nil }
            do {
                switch try current.save.wait() {
                case .saved(let receipt): return receipt
                case .stale(let staleness):
                    let missing = staleness.missingTargets
                    try StrataError.throwTogether(
                        missing.prefix(Self.reportedErrors).map(noTarget), count: missing.count)
                }
            } catch let error as StrataError where error.code == .constraintMerge && isSettled {
                if try binding.store.head() == current.head { throw error }
            }
            attempt = try begin(make)
        }
        throw StrataError(.merge, "Other writers changed the same objects in each of 16 attempts; run the batch again.")
    }

    /// Saves the changes that `make` makes from the newest state; nil if there are none.
    func save(_ make: (Snapshot, inout ChangeSet) throws -> Void) throws -> SaveReceipt? {
        try finish(try begin(make), make)
    }

    private func noTarget(_ missing: Staleness.MissingTarget) -> StrataError {
        let entity = binding.entity(missing.source.entityID)
        var property = entity?.property(missing.property)
        // Of a pair this may be the property of the other end.
        if property == nil, case .pairs(_, _, _, let inverse)? = binding.link(missing.property)?.source {
            property = entity?.property(inverse)
        }
        return binding.noTarget(missing.target, of: property?.name ?? "A relationship", of: missing.source)
    }
}

extension StoreBinding {
    /// The error for a relationship of an object that is to lead to an object that does not exist.
    func noTarget(_ target: ObjectID, of property: String, of source: ObjectID) -> StrataError {
        StrataError(
            .referentialIntegrity, "\(property) leads to \(schema.name(of: target)), which is not in the store.",
            context: .init(
                entityName: entity(source.entityID)?.name, objectID: source, key: property, value: .objectID(target)))
    }
}

// MARK: - Updating and deleting

extension BatchWriter {
    /// Calls `body` with the ids of each step, in ascending order.
    func forEachStep(
        _ target: BatchTarget, stepSize: Int, _ body: (ArraySlice<ObjectID>) throws -> Void
    ) throws {
        let head = try binding.store.head()
        let ids =
            try target.objectIDs
            ?? binding.read(at: head, budget: binding.requestBudget) {
                try $0.fetch(target.request)
            }
        let sorted = ids.sorted()
        for start in stride(from: 0, to: sorted.count, by: stepSize) {
            try body(sorted[start..<Swift.min(start + stepSize, sorted.count)])
        }
    }

    /// The objects of a step that still meet the request's condition.
    private func remaining(_ ids: ArraySlice<ObjectID>, _ target: BatchTarget, _ snapshot: Snapshot) throws
        -> [ObjectID]
    {
        guard let predicate = target.request.predicate else { return Array(ids) }
        var request = target.request
        let isOne = ComparisonPredicate(
            .evaluatedObject, .in, .aggregate(ids.map { .constant(.objectID($0)) }))
        request.predicate = .comparison(isOne) && predicate
        return try snapshot.fetch(request)
    }

    func delete(
        _ ids: ArraySlice<ObjectID>, _ target: BatchTarget, _ type: BatchResultType, into result: inout BatchResult
    ) throws {
        var deleted: [ObjectID] = []
        let receipt = try save { snapshot, changes in
            let deletion = try BatchDeletion(of: try remaining(ids, target, snapshot), in: snapshot)
            deleted = deletion.objectIDs
            try deletion.add(to: &changes)
        }
        guard let receipt else { return }
        result.note(receipt)
        result.add(deleted, type)
    }

    func update(
        _ ids: ArraySlice<ObjectID>, _ target: BatchTarget, _ values: [String: FetchExpression],
        _ type: BatchResultType, into result: inout BatchResult
    ) throws {
        var updated: [ObjectID] = []
        let lease = BatchLease()
        defer { withExtendedLifetime(lease) {} }
        let receipt = try save { snapshot, changes in
            updated = try remaining(ids, target, snapshot)
            let (updates, links) = try updates(updated, values, lease, snapshot)
            changes.updates = updates
            try link(&changes, links, snapshot)
        }
        if let receipt { result.note(receipt) }
        result.add(updated, type)
    }

    private func updates(
        _ ids: [ObjectID], _ values: [String: FetchExpression], _ lease: BatchLease, _ snapshot: Snapshot
    ) throws -> (updates: [ChangeSet.Update], links: [(ObjectID, [BatchLinks.GivenLink])]) {
        var updates: [ChangeSet.Update] = []
        var links: [(ObjectID, [BatchLinks.GivenLink])] = []
        var makers: [EntityID: Updating] = [:]
        var positions = BatchPositions(snapshot)
        var errors: [StrataError] = []
        var count = 0
        for id in ids {
            guard let row = try snapshot.row(id), let entity = binding.entity(id.entityID) else { continue }
            let known = try makers[id.entityID] ?? updating(entity, values, lease)
            makers[id.entityID] = known
            let (update, wrong, link) = try update(id, row, known, &positions, snapshot)
            if !link.isEmpty { links.append((id, link)) }
            count += wrong.count
            errors += wrong.prefix(Self.reportedErrors - errors.count)
            if let update { updates.append(update) }
        }
        try StrataError.throwTogether(errors, count: count)
        return (updates, links)
    }

    /// The part of an update that is the same for all objects of one entity.
    private struct Updating {
        let maker: BatchRowMaker
        let rules: RowRules
        let values: [(name: String, expression: RowExpression)]
        let elements: [(element: NamedElement, expression: RowExpression)]
        let members: [(name: String, ids: [ObjectID])]
    }

    private func updating(
        _ entity: EntityRuntime, _ values: [String: FetchExpression], _ lease: BatchLease
    ) throws -> Updating {
        var single: [(name: String, expression: RowExpression)] = []
        var elements: [(element: NamedElement, expression: RowExpression)] = []
        var members: [(name: String, ids: [ObjectID])] = []
        for (name, expression) in values.sorted(by: { $0.key < $1.key }) {
            if entity.property(named: name)?.isToMany ?? false {
                members.append((name, try Self.members(expression, name, entity)))
                continue
            }
            let expression = try RowExpression(expression, entity.schema, binding.schema)
            if let element = try entity.compositeElement(at: name) {
                elements.append((element, expression))
            } else {
                single.append((name, expression))
            }
        }
        return Updating(
            maker: BatchRowMaker(binding, entity, lease), rules: RowRules(entity.schema, binding.schema),
            values: single, elements: elements, members: members)
    }

    private static func members(
        _ expression: FetchExpression, _ name: String, _ entity: EntityRuntime
    ) throws -> [ObjectID] {
        func refusal() -> StrataError {
            StrataError(
                .wrongType, "\(name) is a to-many and takes a list of ids of objects.",
                context: .init(entityName: entity.name, key: name))
        }
        guard case .aggregate(let parts) = expression else { throw refusal() }
        return try parts.map { part in
            guard case .constant(.objectID(let id)) = part else { throw refusal() }
            return id
        }
    }

    private func update(
        _ id: ObjectID, _ row: SnapshotRow, _ updating: Updating, _ positions: inout BatchPositions,
        _ snapshot: Snapshot
    ) throws -> (ChangeSet.Update?, [StrataError], [BatchLinks.GivenLink]) {
        let maker = updating.maker
        let entity = maker.entity
        let before = try row.converted(to: entity.schema)
        var prepared = BatchRowMaker.Prepared(builder: try RowBuilder(before, layout: entity.layout))
        for (name, expression) in updating.values {
            try maker.set(name, try expression.value(of: id, snapshot), in: &prepared)
        }
        let elements = try updating.elements.map { ($0.element, try $0.expression.value(of: id, snapshot)) }
        try maker.setElements(elements, in: &prepared) { try maker.composite($0, in: before) }
        try maker.encrypt(&prepared, of: id)
        for (name, ids) in updating.members { try maker.setMembers(name, ids, in: &prepared) }
        for position in prepared.positions where try maker.owner(in: before, position.toOne) != position.owner {
            try prepared.builder.setPosition(position.slot, try positions.next(position.link, position.owner))
            prepared.givenSlots.insert(position.slot)
        }
        let after = try prepared.builder.finish()
        guard after != before else { return (nil, prepared.failures.map(\.error), prepared.links) }
        let failures = try prepared.failures.map(\.error) + updating.rules.failures(of: after, id, snapshot)
        let changed = entity.slots(prepared.givenSlots.slots, thatDifferIn: before, after)
        let completed = failures.map { failure in
            var failure = failure
            failure.context.entityName = entity.name
            failure.context.objectID = id
            return failure
        }
        return (
            ChangeSet.Update(id: id, baseRevision: row.revision, image: after, changedSlots: changed), completed,
            prepared.links
        )
    }
}

extension EntityRuntime {
    /// The slots whose values differ between the two rows.
    func slots(_ slots: [Int], thatDifferIn before: RowImage, _ after: RowImage) -> [Int] {
        before.bytes.withUnsafeBytes { before in
            after.bytes.withUnsafeBytes { after in slots.filter { !isEqual(slot: $0, before, after) } }
        }
    }
}

/// The objects that a batch updates or deletes.
struct BatchTarget: Sendable {
    let request: StoreRequest
    /// The objects, if they are given; nil if the request finds them.
    let objectIDs: [ObjectID]?
}
