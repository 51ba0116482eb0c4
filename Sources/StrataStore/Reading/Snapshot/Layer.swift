import Locking
package import StrataModel

/// The state of some objects and pairs at one point, above the state below it.
///
/// A lag layer holds what later events changed, as it was at its event number; a pending layer holds a context's
/// unsaved changes. Layers are merged into access paths (row, entity scan, index range, links) and never into results,
/// because a predicate may cross a relationship to an object that a layer changes. A layer may cover more objects than
/// it must, never fewer. It is immutable; what an access path needs is computed when first used, and guarded by the
/// mutex of `derived`.
package final class Layer: Sendable {
    /// An object in the layer's state.
    package enum State: Sendable {
        case absent
        case row(RowImage, RowLayout, revision: EventNumber)
        /// The row below the layer, with some values replaced.
        case delta(Delta)
    }

    /// The values that a layer replaces in the row below. The row is assembled when it is read, because most rows in
    /// the layers of a distant past are never read.
    package struct Delta: Sendable {
        var values: [(property: PropertyID, value: AttributeValue)]
        var revision: EventNumber

        func value(_ property: PropertyID) -> AttributeValue? {
            values.first { $0.property == property }?.value
        }

        /// The image with these values, in the entity's layout.
        func applied(to image: RowImage, _ entity: EntitySchema) throws -> RowImage {
            var builder = try RowBuilder(image, layout: entity.layout)
            for (property, value) in values {
                guard let slot = entity.slot(of: property) else { continue }
                try builder.set(slot, value.fitting(entity.layout.slots[slot]))
            }
            return try builder.finish()
        }
    }

    package let schema: Schema
    let rows: LayerRows
    let pairs: LayerPairs
    /// The difference in the number of objects of each entity between this state and the state below; nil if that
    /// depends on the state below.
    private let balances: [EntityID: Int]?
    /// The entities of which this state may lack values, because their history was thinned.
    let thinned: Set<EntityID>
    private let derived: Locked<Derived>

    private struct Derived {
        var entities: [EntityID: [ObjectID]]?
        var present: [EntityID: SortedKeys] = [:]
        var links: [PropertyID: SortedKeys] = [:]
        var indexes: [IndexID: SortedKeys] = [:]
        var absent: [ObjectID]?
        /// By link, the balances of owners.
        var members: [PropertyID: [ObjectID: Int]] = [:]
        /// Rows assembled from deltas.
        var images: [ObjectID: RowImage] = [:]
    }

    private init(
        schema: Schema, rows: LayerRows, pairs: LayerPairs, balances: [EntityID: Int]?,
        thinned: Set<EntityID>
    ) {
        self.schema = schema
        self.rows = rows
        self.pairs = pairs
        self.balances = balances
        self.thinned = thinned
        derived = Locked(Derived())
    }

    /// Collects the states of a layer; the last one set for an object or pair counts.
    package struct Builder {
        private let schema: Schema
        var rows = LayerRows()
        var pairs = LayerPairs()
        private var balances: [EntityID: Int]?
        private var thinned: Set<EntityID> = []

        package init(schema: Schema) { self.schema = schema }

        /// - Parameter image: canonical, in the newest layout of the object's entity.
        package mutating func setRow(_ id: ObjectID, _ image: RowImage, revision: EventNumber) {
            guard let entity = schema.entity(id.entityID) else { return }
            rows.setRow(id, image, entity.layout, revision: revision)
        }

        package mutating func setAbsent(_ id: ObjectID) { rows.setAbsent(id) }

        /// Nil: not linked.
        package mutating func setPair(_ key: PairKey, _ positions: PairPositions?) { pairs.set(key, positions) }

        /// - Parameter counts: how many more objects there are in this state than below; nothing for an entity without
        ///   a difference.
        mutating func setBalances(_ counts: [EntityID: Int]) { balances = counts }

        /// Notes that an event of the entity has lost values.
        mutating func setThinned(_ entity: EntityID) { thinned.insert(entity) }

        package func finish() -> Layer {
            Layer(schema: schema, rows: rows, pairs: pairs, balances: balances, thinned: thinned)
        }
    }

    package var isEmpty: Bool { rows.isEmpty && pairs.isEmpty }
    /// The number of objects and pairs in the layer, a measure of its memory.
    package var count: Int { rows.count + pairs.count }

    /// The number of objects that the layer covers.
    package var objectCount: Int { rows.count }
    /// The objects that the layer covers, in no particular order.
    package var objectIDs: [ObjectID] { Array(rows.ids) }
    /// Whether the layer covers an object.
    package func covers(_ id: ObjectID) -> Bool { touches(id) }

    /// This layer with `older`, which lies above it, merged into one.
    func merged(under older: Layer) throws -> Layer {
        var rows = rows
        for entry in older.rows.indices { try Self.lay(older.rows, entry, over: &rows, schema) }
        let sum = balances.flatMap { own in older.balances.map { own.merging($0, uniquingKeysWith: +) } }
        return Layer(
            schema: schema, rows: rows, pairs: pairs.merged(under: older.pairs), balances: sum,
            thinned: thinned.union(older.thinned))
    }

    private static func lay(
        _ older: LayerRows, _ entry: Int, over rows: inout LayerRows, _ schema: Schema
    ) throws {
        let id = older.id(at: entry)
        switch try older.state(at: entry) {
        case .absent: rows.setAbsent(id)
        case .row(let image, let layout, let revision): rows.setRow(id, image, layout, revision: revision)
        case .delta(let delta):
            guard let entity = schema.entity(id.entityID) else { return rows.setAbsent(id) }
            switch try rows.state(of: id) {
            case .row(let image, let layout, _)? where layout === entity.layout:
                rows.setRow(id, try delta.applied(to: image, entity), layout, revision: delta.revision)
            case let below:
                var values: [(PropertyID, AttributeValue)] = []
                if case .delta(let lower)? = below {
                    values = lower.values.filter { delta.value($0.property) == nil }
                }
                let fresh = rows.beginDelta(of: id, revision: delta.revision)
                for (property, value) in delta.values + values { try rows.add(value, of: property, at: fresh) }
            }
        }
    }

    // MARK: Access paths

    /// Nil for an object that the layer does not cover.
    ///
    /// - Throws: `corrupt` if a value recorded by an event cannot be decoded.
    func state(of id: ObjectID) throws -> State? {
        do {
            return try rows.state(of: id)
        } catch let error as CorruptRecord {
            throw StrataError.corrupt(
                error, "events", .init(entityName: schema.entity(id.entityID)?.name, objectID: id))
        }
    }

    func touches(_ id: ObjectID) -> Bool { rows.contains(id) }

    /// Whether the object's key in an index may differ from that below the layer.
    func touches(_ id: ObjectID, _ index: IndexSchema) -> Bool {
        rows.index(of: id).map { touches($0, index) } ?? false
    }

    private func touches(_ entry: Int, _ index: IndexSchema) -> Bool {
        guard rows.isDelta(at: entry), index.partialPredicate == nil else { return true }
        return index.elements.contains { rows.hasValue($0.propertyID, at: entry) }
    }

    /// Whether one of these properties may differ from its value below the layer.
    func touches(_ id: ObjectID, _ properties: [PropertyID]) -> Bool {
        guard let entry = rows.index(of: id) else { return false }
        return !rows.isDelta(at: entry) || properties.contains { rows.hasValue($0, at: entry) }
    }

    /// Whether the layer may insert or remove the object.
    func changesExistence(of id: ObjectID) -> Bool {
        rows.index(of: id).map { !rows.isDelta(at: $0) } ?? false
    }

    /// A row already assembled from a delta.
    func image(of id: ObjectID) -> RowImage? { derived.withLock { $0.images[id] } }

    func keep(_ image: RowImage, of id: ObjectID) { derived.withLock { $0.images[id] = image } }

    func isAbsent(_ id: ObjectID) -> Bool {
        rows.index(of: id).map { rows.isAbsent(at: $0) } ?? false
    }

    /// The objects of exactly this entity that the layer covers, present or not, sorted.
    func touched(_ entity: EntityID) -> [ObjectID] {
        derived.withLock { derived in
            if let entities = derived.entities { return entities[entity] ?? [] }
            let entities = Dictionary(grouping: rows.ids, by: \.entityID).mapValues { $0.sorted() }
            derived.entities = entities
            return entities[entity] ?? []
        }
    }

    /// The keys of the objects of exactly this entity that the layer covers and that are present, sorted.
    func presentKeys(_ entity: EntityID) -> SortedKeys {
        if let known = derived.withLock({ $0.present[entity] }) { return known }
        var builder = SortedKeys.Builder()
        for id in touched(entity) where !isAbsent(id) {
            withUnsafeBytes(of: id.rawValue.bigEndian) { builder.append($0) }
        }
        let keys = builder.finish()
        derived.withLock { $0.present[entity] = keys }
        return keys
    }

    /// The difference in the number of objects of exactly this entity between this state and the state below; nil if
    /// the layer cannot say.
    func balance(of entity: EntityID) -> Int? { balances.map { $0[entity] ?? 0 } }

    /// The difference in the number of members between this state and the state below, for a link that pairs record; nil
    /// if the layer cannot say.
    ///
    /// - Complexity: O(pairs) for the first owner of the link, O(1) for others.
    func balance(of link: Link, _ owner: ObjectID) -> Int? {
        guard balances != nil, link.isPairs else { return nil }
        return derived.withLock { derived in
            if let known = derived.members[link.id] { return known[owner] ?? 0 }
            let members = pairs.balances(of: link)
            derived.members[link.id] = members
            return members[owner] ?? 0
        }
    }

    /// The objects that are absent in this state, sorted.
    var absentObjects: [ObjectID] {
        derived.withLock { derived in
            if let absent = derived.absent { return absent }
            let absent = rows.indices.filter { rows.isAbsent(at: $0) }.map { rows.id(at: $0) }.sorted()
            derived.absent = absent
            return absent
        }
    }

    /// At most how many objects and pairs may change the members of an owner.
    func changeCount(of link: Link) -> Int {
        switch link.source {
        case .rows: link.memberEntityIDs.reduce(0) { $0 + touched($1).count }
        case .pairs: pairs.count + absentObjects.count
        }
    }

    /// The keys of `links` in this state, for the objects and pairs whose links the layer may change.
    ///
    /// - Parameter snapshot: a snapshot in which this is layer `level - 1`.
    func addedLinks(_ link: PropertyID, _ snapshot: Snapshot, below level: Int) throws -> SortedKeys {
        if let known = derived.withLock({ $0.links[link] }) { return known }
        let keys = try makeLinks(link, snapshot, level)
        derived.withLock { $0.links[link] = keys }
        return keys
    }

    /// The keys of `indexes` in this state, for the objects whose keys the layer may change; as `addedLinks`.
    func addedEntries(_ index: IndexSchema, _ snapshot: Snapshot, below level: Int) throws -> SortedKeys {
        if let known = derived.withLock({ $0.indexes[index.id] }) { return known }
        let keys = try makeEntries(index, snapshot, level)
        derived.withLock { $0.indexes[index.id] = keys }
        return keys
    }

    private func makeLinks(_ link: PropertyID, _ snapshot: Snapshot, _ level: Int) throws -> SortedKeys {
        var keys = SortedKeys.Builder()
        switch schema.links.link(link)?.source {
        case .rows?:
            for id in rows.ids {
                for rowLink in schema.links.rowLinks(of: id.entityID) where rowLink.link == link {
                    guard touches(id, rowLink.properties),
                        let row = try snapshot.row(id, below: level)
                    else { continue }
                    try Self.append(rowLink, of: id, row, schema, to: &keys)
                }
            }
        case .pairs(let canonical, _, _, _)?:
            for (key, positions) in pairs where key.property == canonical {
                guard let positions else { continue }
                for entry in schema.links.entries(of: key, positions) where entry.link == link {
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
        _ rowLink: RowLink, of id: ObjectID, _ row: SnapshotRow, _ schema: Schema,
        to keys: inout SortedKeys.Builder
    ) throws {
        guard let ownSlot = row.layout.slotNumber(rowLink.slot, of: schema, id) else { return }
        let reader = try row.reader
        let owner = reader.reference(ownSlot)
        guard !owner.isNil else { return }
        let position = rowLink.positionSlot.flatMap { row.layout.slotNumber($0, of: schema, id) }
            .map { reader.position($0) ?? 0 }
        StoreKey.withLink(
            rowLink.link, owner: owner, position: rowLink.positionSlot == nil ? nil : position ?? 0, member: id
        ) { keys.append($0) }
    }

    private func makeEntries(_ index: IndexSchema, _ snapshot: Snapshot, _ level: Int) throws -> SortedKeys {
        var keys = SortedKeys.Builder()
        guard let declaring = schema.entity(index.entityID) else { return keys.finish() }
        let covered = Set(declaring.concreteEntityIDs)
        let plan = IndexMap.of(schema)
        let prepared = try plan.index(index.id)
        var writer = ByteWriter()
        var entity: EntitySchema?
        var elements: [DeltaElement]?
        var values: [AttributeValue] = []
        for entry in rows.indices {
            let id = rows.id(at: entry)
            if entity?.id != id.entityID {
                entity = covered.contains(id.entityID) ? schema.entity(id.entityID) : nil
                elements = entity.flatMap { Self.deltaElements(prepared, $0) }
            }
            guard let entity else { continue }
            if let elements, rows.isDelta(at: entry) {
                try rows.read(elements, at: entry, into: &values)
                if values.isEmpty { continue }
                if values.count == elements.count, Self.write(values, prepared, id, into: &writer) {
                    keys.append(writer.bytes)
                    continue
                }
            } else if !touches(entry, index) {
                continue
            }
            guard let row = try snapshot.row(id, below: level),
                let own = entity.indexes.first(where: { $0.id == index.id })
            else { continue }
            if try IndexKeys.write(own, of: entity, try row.reader, row.layout, id, plan, into: &writer) {
                keys.append(writer.bytes)
            }
        }
        return keys.finish()
    }

    /// The elements of an index as deltas hold them; nil if only the row determines its key.
    private static func deltaElements(
        _ prepared: IndexMap.PreparedIndex, _ entity: EntitySchema
    ) -> [DeltaElement]? {
        guard prepared.partial == nil else { return nil }
        var elements: [DeltaElement] = []
        for element in prepared.index.elements {
            guard element.compositePath.isEmpty, let slot = entity.slot(of: element.propertyID) else { return nil }
            elements.append(DeltaElement(property: element.propertyID, slot: entity.layout.slots[slot]))
        }
        return elements
    }

    /// - Returns: false for a value whose order only the row determines.
    private static func write(
        _ values: [AttributeValue], _ prepared: IndexMap.PreparedIndex, _ id: ObjectID, into writer: inout ByteWriter
    ) -> Bool {
        writer.reset()
        writer.append(bigEndian: prepared.index.id.rawValue)
        do { _ = try prepared.codec.append(values, to: &writer) } catch { return false }
        writer.append(bigEndian: id.rawValue)
        return true
    }
}

/// One element of an index, and the slot that its value comes from.
struct DeltaElement {
    let property: PropertyID
    let slot: RowLayout.Slot
}
