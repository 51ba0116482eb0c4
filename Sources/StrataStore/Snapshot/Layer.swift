import Locking
package import StrataModel

/// The state of some objects and pairs at one point, above what lies below it.
///
/// A lag layer holds what the events after N have changed since, as it was at N; a pending layer holds a context's
/// unsaved changes. Both answer for access paths (row, entity scan, index range, links), never for results: a
/// predicate that crosses a relationship would otherwise miss what changed at its far end. A layer may cover more
/// objects than it must, never fewer. Immutable; what its paths need is worked out when first asked, under `derived`.
package final class Layer: Sendable {
    /// An object at the layer's point.
    package enum State: Sendable {
        case absent
        case row(RowImage, RowLayout, revision: EventSequence)
    }

    package let schema: Schema
    let rows: [ObjectID: State]
    /// nil: not linked at this point.
    let pairs: [PairKey: PairPositions?]
    private let plan: LinkPlan
    private let derived: Locked<Derived>

    private struct Derived {
        var entities: [EntityID: [ObjectID]]?
        var links: [PropertyID: SortedKeys] = [:]
        var indexes: [IndexID: SortedKeys] = [:]
        var absent: [ObjectID]?
    }

    private init(schema: Schema, rows: [ObjectID: State], pairs: [PairKey: PairPositions?], plan: LinkPlan) {
        self.schema = schema
        self.rows = rows
        self.pairs = pairs
        self.plan = plan
        derived = Locked(Derived())
    }

    /// Collects the states of a layer; the last word on an object or pair counts.
    package struct Builder {
        private let schema: Schema
        private var rows: [ObjectID: State] = [:]
        private var pairs: [PairKey: PairPositions?] = [:]

        package init(schema: Schema) { self.schema = schema }

        /// `image` is canonical, in the newest layout of the object's entity.
        package mutating func setRow(_ id: ObjectID, _ image: RowImage, revision: EventSequence) {
            guard let entity = schema.entity(id.entityID) else { return }
            rows[id] = .row(image, entity.layout, revision: revision)
        }

        package mutating func setAbsent(_ id: ObjectID) { rows[id] = .absent }

        /// nil: not linked.
        package mutating func setPair(_ key: PairKey, _ positions: PairPositions?) { pairs[key] = .some(positions) }

        package func finish() -> Layer {
            Layer(schema: schema, rows: rows, pairs: pairs, plan: LinkPlan.of(schema))
        }
    }

    package var isEmpty: Bool { rows.isEmpty && pairs.isEmpty }
    /// Objects and pairs it speaks of, a measure of its memory.
    package var count: Int { rows.count + pairs.count }

    /// This layer with `older`, which lies above it, laid over it.
    func merged(under older: Layer) -> Layer {
        Layer(
            schema: schema, rows: rows.merging(older.rows) { _, above in above },
            pairs: pairs.merging(older.pairs) { _, above in above }, plan: plan)
    }

    // MARK: What the paths ask

    func touches(_ id: ObjectID) -> Bool { rows[id] != nil }

    func isAbsent(_ id: ObjectID) -> Bool {
        if case .absent? = rows[id] { true } else { false }
    }

    /// Objects of exactly this entity that the layer speaks of, present or not, sorted.
    func touched(_ entity: EntityID) -> [ObjectID] {
        derived.withLock { derived in
            if let entities = derived.entities { return entities[entity] ?? [] }
            let entities = Dictionary(grouping: rows.keys, by: \.entityID).mapValues { $0.sorted() }
            derived.entities = entities
            return entities[entity] ?? []
        }
    }

    /// Objects that are absent at this point, sorted.
    var absentObjects: [ObjectID] {
        derived.withLock { derived in
            if let absent = derived.absent { return absent }
            let absent = rows.keys.filter(isAbsent).sorted()
            derived.absent = absent
            return absent
        }
    }

    /// Keys of `links` that hold at this point for the objects and pairs it speaks of.
    func addedLinks(_ link: PropertyID) throws(CorruptRecord) -> SortedKeys {
        if let known = derived.withLock({ $0.links[link] }) { return known }
        let keys = try makeLinks(link)
        derived.withLock { $0.links[link] = keys }
        return keys
    }

    /// Keys of `indexes` that hold at this point for the objects it speaks of.
    func addedEntries(_ index: IndexSchema) throws -> SortedKeys {
        if let known = derived.withLock({ $0.indexes[index.id] }) { return known }
        let keys = try makeEntries(index)
        derived.withLock { $0.indexes[index.id] = keys }
        return keys
    }

    private func makeLinks(_ link: PropertyID) throws(CorruptRecord) -> SortedKeys {
        var keys = SortedKeys.Builder()
        switch plan.source(of: link) {
        case .rows?:
            for (id, state) in rows {
                guard case .row(let image, let layout, _) = state else { continue }
                for rowLink in plan.rowLinks(of: id.entityID) where rowLink.link == link {
                    try Self.append(rowLink, of: id, image, layout, to: &keys)
                }
            }
        case .pairs(let canonical, _, _, _)?:
            for (key, positions) in pairs where key.property == canonical {
                guard let positions else { continue }
                for entry in plan.links(of: key, positions) where entry.link == link {
                    StoreKey.withLink(link, owner: entry.owner, position: entry.position, member: entry.member) {
                        keys.append($0)
                    }
                }
            }
        case nil: break
        }
        return keys.finish()
    }

    private static func append(
        _ rowLink: LinkPlan.RowLink, of id: ObjectID, _ image: RowImage, _ layout: RowLayout,
        to keys: inout SortedKeys.Builder
    ) throws(CorruptRecord) {
        let (owner, position) = try image.withReader(layout) { reader throws(CorruptRecord) in
            (reader.reference(rowLink.slot), rowLink.positionSlot.map { reader.position($0) ?? 0 })
        }
        guard !owner.isNil else { return }
        StoreKey.withLink(rowLink.link, owner: owner, position: position, member: id) { keys.append($0) }
    }

    private func makeEntries(_ index: IndexSchema) throws -> SortedKeys {
        var keys = SortedKeys.Builder()
        guard let declaring = schema.entity(index.entityID) else { return keys.finish() }
        let covered = Set(declaring.concreteEntityIDs)
        var writer = ByteWriter()
        for (id, state) in rows where covered.contains(id.entityID) {
            guard case .row(let image, let layout, _) = state, let entity = schema.entity(id.entityID),
                let own = entity.indexes.first(where: { $0.id == index.id })
            else { continue }
            let reader = try RowReader(image.unsafeBytes, layout: layout)
            if try IndexKeys.write(own, of: entity, reader, layout, id, schema, into: &writer) {
                keys.append(writer.bytes)
            }
        }
        return keys.finish()
    }
}
