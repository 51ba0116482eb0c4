import Foundation
import LMDB
import StrataModel

/// The migration of a store's objects from one model to the next: the checks before, and the passes that write.
///
/// It follows from the two models alone, so a process that finds an interrupted migration makes the same passes.
struct Migration {
    /// One walk over the objects of one entity.
    enum Pass {
        /// Files rows under the links that are new.
        case fillLinks(EntitySchema)
        /// Links pairs whose relationship has a new number.
        case link(PropertySchema, EntitySchema)
        /// Unlinks the pairs of the objects of a removed entity, an entity of the old model.
        case unlink(EntitySchema)
        /// Links the pairs again that the objects of an entity had which returns.
        case regain(EntitySchema)
        /// Writes the changes of rows.
        case rewrite(EntityMigration)
        /// Unlinks the pairs whose links other relationships have taken over.
        case leave(EntitySchema)
        /// Computes derived attributes from the values that earlier passes have written.
        case derive(EntitySchema)
        /// Files rows in the indexes that are new.
        case fillIndexes(EntitySchema)

        var entity: EntitySchema {
            switch self {
            case .fillLinks(let entity), .link(_, let entity), .unlink(let entity), .regain(let entity),
                .leave(let entity), .derive(let entity), .fillIndexes(let entity):
                entity
            case .rewrite(let migration): migration.entity
            }
        }
    }

    let old: Schema
    let new: Schema
    let links: OldLinks
    let filling: ModelFilling
    /// One for each entity that had objects.
    let entities: [EntityMigration]
    let passes: [Pass]

    /// - Parameters:
    ///   - last: the newest transaction of the log, or a later one.
    ///   - former: for a past state.
    init(
        from old: Schema, to new: Schema, _ log: LogReader, _ last: TransactionNumber, values: [MigrationRule],
        blobs: BlobStore, keys: KeyRing, former: FormerStates? = nil
    ) throws {
        self.old = old
        self.new = new
        let past = try PastValues.returning(from: old, to: new, log.histories)
        let links = try OldLinks(old: old, new: new, past, log, last, former)
        let filling = ModelFilling(from: old, to: new)
        let derivations = DerivationMap.of(new)
        // An entity that has become abstract may have objects, too.
        entities = try new.entities.compactMap {
            try EntityMigration($0, links: links, values: values, blobs: blobs, keys: keys, log: log)
        }
        self.links = links
        self.filling = filling
        let concrete = entities.map(\.entity).filter { !$0.isAbstract }
        var passes: [Pass] = concrete.filter { !filling.links(of: $0, new.links).isEmpty }.map(Pass.fillLinks)
        for entity in concrete {
            for property in entity.properties where Self.isRelinked(property, entity, old, links) {
                passes.append(.link(property, entity))
            }
        }
        passes += old.entities.filter { !links.lostPairs(of: $0).isEmpty }.map(Pass.unlink)
        passes += concrete.filter { links.regainsPairs(of: $0.id) }.map(Pass.regain)
        // Rows come after links, because they still hold the to-ones that become pairs.
        passes += entities.filter(\.writes).map(Pass.rewrite)
        // Every pass before may read the pairs.
        passes += concrete.filter { !links.leftPairs(of: $0.id).isEmpty }.map(Pass.leave)
        let changesValues = !passes.isEmpty
        passes += concrete.filter { changesValues || Self.isDerivedAnew($0, old, new) }
            .filter { !derivations.attributes(of: $0.id).isEmpty }.map(Pass.derive)
        passes += concrete.filter { !filling.indexes(of: $0).isEmpty }.map(Pass.fillIndexes)
        self.passes = passes
    }

    /// Whether the pairs of a relationship must be written again, under another number.
    private static func isRelinked(
        _ property: PropertySchema, _ entity: EntitySchema, _ old: Schema, _ links: OldLinks
    ) -> Bool {
        guard case .pair(let canonical)? = property.relationship?.truth else { return false }
        if links.adoption(by: property.id, of: entity.id) != nil { return true }
        guard canonical == property.id else { return false }
        return old.property(canonical) == nil && links.storage(of: property) != nil
    }

    /// Whether a derived attribute of the entity is new, or derived from something else than before.
    private static func isDerivedAnew(_ entity: EntitySchema, _ old: Schema, _ new: Schema) -> Bool {
        let derivations = DerivationMap.of(new)
        return derivations.attributes(of: entity.id).contains { index in
            let property = derivations.attributes[index].property
            let before = old.entity(entity.id)?.property(property)?.attribute?.derivationExpression
            return before != entity.property(property)?.attribute?.derivationExpression
        }
    }

    /// The number of objects that all passes together go through.
    func objectCount(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> Int {
        try passes.reduce(0) { $0 + (try Self.objectCount($1.entity.id, transaction, tables)) }
    }

    static func objectCount(
        _ entity: EntityID, _ transaction: ReadTransaction, _ tables: StoreTables
    ) throws -> Int {
        try CounterKey.entity(entity).withBytes { key in
            try transaction.get(tables.counts, key).map { Int(try CounterKey.value($0)) } ?? 0
        }
    }

    // MARK: Pairs

    /// The relationships whose pairs are written again, with the entities that own them.
    var relinked: [(property: PropertySchema, entity: EntitySchema)] {
        passes.compactMap { if case .link(let property, let entity) = $0 { (property, entity) } else { nil } }
    }

    /// The pairs of a relationship with another number than before, from the former links of one object.
    func pairs(
        of property: PropertySchema, owner id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> [PairEvent] {
        let adoption = links.adoption(by: property.id, of: id.entityID)
        let storages = links.storages(of: property, in: id.entityID)
        guard let relationship = property.relationship,
            let old = (links.returned[id.entityID] ?? old).entity(id.entityID), let link = new.links.link(property.id)
        else { return [] }
        let isSymmetric = relationship.inverse == property.id
        let inverse = relationship.inverse.flatMap { new.property($0) }
        let isInverseOrdered = relationship.isInverseOrdered
        let back = isInverseOrdered ? adoption?.back ?? inverse.flatMap { links.storage(of: $0) } : nil
        let order = links.orders[property.id], backOrder = inverse.flatMap { links.orders[$0.id] }
        let allowed = new.entity(relationship.destination)?.entityIDs ?? []
        var pairs: [PairEvent] = []
        var known: Set<PairKey> = []
        for storage in storages {
            for target in try links.targets(storage, of: id, row, old, snapshot) {
                guard allowed.contains(target.id.entityID), let key = link.pairKey(owner: id, member: target.id),
                    known.insert(key).inserted
                else { continue }
                // If two ends lead to each other the one with the smaller id writes the pair.
                if isSymmetric, key.source != id, try links.leads(target.id, to: id, storage, snapshot) { continue }
                // If both ends adopt links the source's does.
                let isSource = isSymmetric || link.isSource(id, of: key)
                if !isSource, links.adoption(by: key.property, of: target.id.entityID) != nil { continue }
                let own =
                    try order?.position(of: target.id, owner: id, snapshot)
                    ?? (relationship.description.isOrdered ? target.position : 0)
                let other =
                    try backOrder?.position(of: id, owner: target.id, snapshot)
                    ?? target.back ?? links.position(back, of: id, at: target.id, snapshot)
                let positions = PairPositions(inSource: isSource ? own : other, inTarget: isSource ? other : own)
                pairs.append(PairEvent(key: key, positions: positions))
            }
        }
        return pairs
    }

    /// The removed entities whose objects lose pairs.
    var unlinked: [EntitySchema] {
        passes.compactMap { if case .unlink(let entity) = $0 { entity } else { nil } }
    }

    /// The entities whose objects leave pairs behind.
    var leaving: [EntitySchema] {
        passes.compactMap { if case .leave(let entity) = $0 { entity } else { nil } }
    }

    /// The entities that return, whose objects have pairs again.
    var regaining: [EntitySchema] {
        passes.compactMap { if case .regain(let entity) = $0 { entity } else { nil } }
    }

    /// The pairs that an object of an entity which returns has again: those whose other end is still there.
    func regainedPairs(of id: ObjectID, _ snapshot: Snapshot) throws -> [RegainedLinks.Pair] {
        try links.regainedPairs(of: id, snapshot).filter { pair in
            let other = pair.key.source == id ? pair.key.target : pair.key.source
            return try links.isThere(other, snapshot) && snapshot.pair(pair.key) == nil
        }
    }

    // MARK: Before

    /// Checks that every object fits the new model, or can be converted; writes nothing.
    ///
    /// - Parameter snapshot: the head, through the old model.
    /// - Throws: `migration`, naming the objects that do not fit.
    func check(_ snapshot: Snapshot, _ histories: SchemaHistory, path: String, _ progress: ProgressHandler?) throws {
        try failures(snapshot, histories, progress).refuse(path: path)
    }

    /// Every object that does not fit the new model; writes nothing.
    func failures(
        _ snapshot: Snapshot, _ histories: SchemaHistory, _ progress: ProgressHandler?
    ) throws -> MigrationFailures {
        var failures = MigrationFailures()
        var uniqueness = UniqueClaims(schema: new)
        let later = histories.adding(new)
        for migration in entities {
            let unique = filling.indexes(of: migration.entity).filter(\.isUnique)
            guard !migration.steps.isEmpty || !unique.isEmpty else { continue }
            let count = try Self.objectCount(migration.entity.id, snapshot.transaction, snapshot.tables)
            var counter = ProgressCounter("checking \(migration.entity.name)", total: count, progress)
            try snapshot.scan(migration.entity.id) { id, row in
                counter.step()
                let changes = try migration.changes(of: id, row, snapshot, &failures)
                guard !unique.isEmpty else { return true }
                let current = Projector.CurrentRow(image: row.image, layout: row.layout, owner: nil)
                let image = try Projector.applying(changes, to: current, of: migration.entity, later)
                for index in unique { try uniqueness.claim(index, image, migration.entity, id, &failures) }
                return true
            }
        }
        return failures
    }
}

/// The keys of new uniqueness constraints, with the first object that has each.
private struct UniqueClaims {
    let schema: Schema
    private var holders: [UniqueKey: ObjectID] = [:]

    init(schema: Schema) { self.schema = schema }

    mutating func claim(
        _ index: IndexSchema, _ image: RowImage, _ entity: EntitySchema, _ id: ObjectID,
        _ failures: inout MigrationFailures
    ) throws {
        let reader = try RowReader(image.unsafeBytes, layout: entity.layout)
        guard let key = try withExtendedLifetime(image, { try IndexKeys.uniqueKey(index, reader, id, schema) }) else {
            return
        }
        guard let other = holders[key] else {
            holders[key] = id
            return
        }
        let names = index.elements.map { element in
            ([entity.property(element.propertyID)?.name ?? ""] + element.compositePath).joined(separator: ".")
        }.joined(separator: ", ")
        failures.add(
            .constraintMerge, UniquenessCheck.sentence(names, [schema.name(of: other)]), entity, id, names)
    }
}
