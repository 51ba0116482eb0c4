import LMDB
import Locking
import StrataModel

/// The layers that lead from the base back to a past event number, made from the log and shared by contexts at the same
/// number.
///
/// For one event number N they form a stack of chunks, the newest at the bottom. The chunk over (A, B] lies above a
/// base at B and holds the state at A of everything touched in between. A chunk stays correct for ever: when the head
/// moves a new chunk is added below, and many chunks are merged into one. `state` is guarded by its mutex.
final class LagLayers: Sendable {
    /// The chunks of one event number, bottom to top, reaching up to `head`.
    private struct Entry {
        var chunks: [Layer]
        var head: EventNumber
        var lastUse: UInt64
    }

    /// A state, and the model that it is read through.
    private struct Key: Hashable {
        let eventNumber: EventNumber
        let model: ModelVersion?
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var clock: UInt64 = 0
    }

    private let state = Locked(State())
    let parts = PastParts()
    /// Objects and pairs kept in all stacks; the least recently used stack is dropped first.
    private static let budget = 2_000_000
    private static let mostChunks = 8

    /// The stack that leads from a base at `head` back to `eventNumber`, bottom to top.
    func layers(
        at eventNumber: EventNumber, head: EventNumber, _ transaction: ReadTransaction, _ file: StoreFile,
        _ histories: SchemaHistory
    ) throws -> [Layer] {
        guard eventNumber < head else { return [] }
        if let size = file.options.pastPartSize, !histories.isPast {
            return try parts.layers(at: eventNumber, head: head, size, histories.newest?.version) { start, end in
                try LagBuilder.layer(after: start, through: end, transaction, file, histories)
            }
        }
        let key = Key(eventNumber: eventNumber, model: histories.newest?.version)
        let known = state.withLock { state -> Entry? in
            state.clock += 1
            state.entries[key]?.lastUse = state.clock
            return state.entries[key]
        }
        // A reader with a newer head may have extended the stack; then it does not fit this base.
        let usable = known.flatMap { $0.head <= head ? $0 : nil }
        if let usable, usable.head == head { return usable.chunks }
        let fresh = try LagBuilder.layer(
            after: usable?.head ?? eventNumber, through: head, transaction, file, histories)
        var chunks = [fresh] + (usable?.chunks ?? [])
        if chunks.count > Self.mostChunks { chunks = try Self.merged(chunks) }
        state.withLock { state in
            if let newer = state.entries[key], newer.head > head { return }
            state.entries[key] = Entry(chunks: chunks, head: head, lastUse: state.clock)
            Self.trim(&state)
        }
        return chunks
    }

    /// Drops everything, because rows look different under a new model or were damaged.
    func removeAll() {
        state.withLock { $0.entries.removeAll() }
        parts.removeAll()
    }

    /// One chunk made of all; higher chunks are older and override lower ones.
    private static func merged(_ chunks: [Layer]) throws -> [Layer] {
        guard let bottom = chunks.first else { return [] }
        return [try chunks.dropFirst().reduce(bottom) { try $0.merged(under: $1) }]
    }

    private static func trim(_ state: inout State) {
        var total = state.entries.values.reduce(0) { $0 + $1.chunks.reduce(0) { $0 + $1.count } }
        while total > budget, state.entries.count > 1,
            let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            total -= oldest.value.chunks.reduce(0) { $0 + $1.count }
            state.entries[oldest.key] = nil
        }
    }
}

/// Makes one chunk by a single forward pass over the log: the first event after A on a property, or a pair, has its
/// value at A.
struct LagBuilder {
    /// The values of an object at A as far as the events up to now give them, to be read through an older model.
    private struct Past {
        /// The first event on the row is its insertion, so the object did not exist at A.
        var isAbsent = false
        /// The event that deleted the object later; its last values, with earlier changes undone, are its state at A.
        var deletedAt: EventNumber?
        /// The first before-image of each property, and the event before the one that holds it.
        var before: [PropertyID: (value: RecordedValue, asOf: EventNumber)] = [:]
        var revision = EventNumber.zero
        var isOver: Bool { isAbsent || deletedAt != nil }
    }

    private let reader: LogReader
    private let schema: Schema
    private let snapshot: Snapshot
    private var layer: Layer.Builder
    /// By entity, what `leaving` has found.
    private var left: [EntityID: Set<PropertyID>] = [:]
    /// Used only for reading through an older model.
    private var pasts: [ObjectID: Past] = [:]
    /// Whether pairs of a relationship between two entities are of none in the model; of the last pair that was asked for.
    private var strays: (property: PropertyID, source: EntityID, target: EntityID, areStray: Bool)?
    /// Deletions less insertions of each entity, apart from those of `countedEntity` since it was the last.
    private var balances: [EntityID: Int] = [:]
    private var countedEntity = EntityID(rawValue: 0)
    private var counted = 0
    /// The entity of the last event on a row, and whether the model has it.
    private var entityID = EntityID(rawValue: 0)
    private var isKnown = false

    /// The state at `start` of everything that events in (start, end] touch, for a base at `end`.
    static func layer(
        after start: EventNumber, through end: EventNumber, _ transaction: ReadTransaction, _ file: StoreFile,
        _ histories: SchemaHistory
    ) throws -> Layer {
        guard let schema = histories.newest else {
            throw StrataError(.corrupt, "The log has events before the first model.")
        }
        let first = start.advanced(by: 1)
        try LogReader(transaction, file.tables, histories).checkKept(from: first, file.readHead(transaction))
        let snapshot = Snapshot(
            eventNumber: end, schema: schema, transaction: transaction, tables: file.tables, histories: histories,
            layers: [])
        var builder = LagBuilder(
            reader: LogReader(transaction, file.tables, histories), schema: schema, snapshot: snapshot)
        builder.layer.rows.reserve(Int(clamping: end.rawValue - start.rawValue))
        var waiting: [(event: EventView, eventNumber: EventNumber)] = []
        waiting.reserveCapacity(Self.eventsAtOnce)
        // Events out of blocks wait in copies.
        var copies = EventCopies()
        try builder.reader.events(from: first, through: end) { event, eventNumber in
            if event.isDecoded, !copies.hasRoom(for: event) {
                try builder.note(&waiting)
                copies.removeAll()
            }
            waiting.append((event.isDecoded ? copies.copy(event) : event, eventNumber))
            if waiting.count == Self.eventsAtOnce {
                try builder.note(&waiting)
                copies.removeAll()
            }
            return true
        }
        try builder.note(&waiting)
        copies.removeAll()
        return try builder.finish()
    }

    private init(reader: LogReader, schema: Schema, snapshot: Snapshot) {
        self.reader = reader
        self.schema = schema
        self.snapshot = snapshot
        layer = Layer.Builder(schema: schema)
    }

    /// The number of memory accesses that a processor can have under way at once.
    private static let eventsAtOnce = 32

    /// The events' bytes must be valid until it returns.
    private mutating func note(_ events: inout [(event: EventView, eventNumber: EventNumber)]) throws {
        layer.rows.fetchSlots(of: events)
        for (event, eventNumber) in events { try note(event, eventNumber) }
        events.removeAll(keepingCapacity: true)
    }

    private mutating func note(_ event: EventView, _ eventNumber: EventNumber) throws {
        let kind = event.header.kind
        if kind.isOnPair { return try notePair(event) }
        guard kind.isOnRow else { return }
        if kind != .updated { count(kind, event.header.object.entityID) }
        if event.header.flags.contains(.thinned) { layer.setThinned(event.header.object.entityID) }
        if reader.histories.isPast { return try notePast(event, eventNumber) }
        let id = event.header.object
        switch kind {
        case .inserted: layer.rows.setAbsent(unlessWhole: id)
        case .deleted: try noteDeletion(id, event.header.previous, eventNumber)
        default: try noteUpdate(id, event)
        }
    }

    private mutating func count(_ kind: EventKind, _ entity: EntityID) {
        if entity != countedEntity {
            balances[countedEntity, default: 0] += counted
            (countedEntity, counted) = (entity, 0)
        }
        if kind == .inserted { counted -= 1 } else if kind == .deleted { counted += 1 }
    }

    private mutating func noteDeletion(
        _ id: ObjectID, _ previous: EventNumber, _ eventNumber: EventNumber
    ) throws {
        let known = try layer.rows.state(of: id)
        switch known {
        case .absent?, .row?: return
        case .delta?, nil: break
        }
        guard let entity = schema.entity(id.entityID) else { return layer.setAbsent(id) }
        let last = try reader.lastRow(id, entity, deletedAt: eventNumber)
        if case .delta(let delta)? = known {
            layer.setRow(id, try delta.applied(to: last, entity), revision: delta.revision)
        } else {
            layer.setRow(id, last, revision: previous)
        }
    }

    private mutating func noteUpdate(_ id: ObjectID, _ event: EventView) throws {
        if id.entityID != entityID {
            entityID = id.entityID
            isKnown = schema.entity(id.entityID) != nil
        }
        guard isKnown else { return layer.setAbsent(id) }
        let previous = event.header.previous
        guard let index = layer.rows.delta(of: id, revision: previous) else { return }
        try event.forEachBeforeImage { property, value in
            if layer.rows.hasValue(property, at: index) { return }
            if let value { return layer.rows.add(value, of: property, at: index) }
            try layer.rows.add(try reader.value(of: property, id, asOf: previous), of: property, at: index)
        }
    }

    private mutating func notePast(_ event: EventView, _ eventNumber: EventNumber) throws {
        let id = event.header.object
        var past = pasts[id] ?? Past(revision: event.header.previous)
        guard !past.isOver else { return }
        switch event.header.kind {
        case .inserted: past.isAbsent = true
        case .deleted: past.deletedAt = eventNumber
        default:
            for change in try event.changes() where past.before[change.property] == nil {
                past.before[change.property] = (change.before, event.header.previous)
            }
        }
        pasts[id] = past
    }

    private mutating func notePair(_ event: EventView) throws {
        let pair = try event.pair()
        let isStray = isStray(pair.key)
        layer.pairs.note(pair.key, isLinkedBelow: event.header.kind != .unlinked) {
            // An object of an entity that has left the model is absent, and so are its links: they are not counted either.
            if isStray { return nil }
            return switch event.header.kind {
            case .linked: nil
            case .unlinked: pair.positions
            default: pair.positionsBefore
            }
        }
    }

    /// Pairs of one relationship come in rows, and are stray or not by their entities.
    private mutating func isStray(_ key: PairKey) -> Bool {
        let (source, target) = (key.source.entityID, key.target.entityID)
        if let strays, strays.property == key.property, strays.source == source, strays.target == target {
            return strays.areStray
        }
        let areStray = schema.isStray(key)
        strays = (key.property, source, target, areStray)
        return areStray
    }

    private consuming func finish() throws -> Layer {
        for (id, past) in pasts {
            guard !past.isAbsent, let entity = schema.entity(id.entityID) else {
                layer.setAbsent(id)
                continue
            }
            layer.setRow(id, try imageOfThen(id, past, entity), revision: past.revision)
        }
        balances[countedEntity, default: 0] += counted
        layer.setBalances(balances)
        return layer.finish()
    }

    // MARK: Through an older model

    /// The row in the layout of an older model. A row written under a newer model may lack properties of the older one,
    /// or hold wider numbers. So the row is assembled value by value, from later events, from the row, or from the
    /// object's chain.
    private mutating func imageOfThen(_ id: ObjectID, _ past: Past, _ entity: EntitySchema) throws -> RowImage {
        var builder = RowBuilder(entity.layout)
        let last = try lastValues(id, past)
        for (slot, description) in entity.layout.slots.enumerated() where description.storage != nil {
            let property = description.propertyID
            let value: AttributeValue
            if try leaving(entity).contains(property) {
                value = try reader.value(of: property, id, asOf: past.revision)
            } else if let before = past.before[property] {
                value = try reader.resolve(before.value, property, of: id, asOf: before.asOf)
            } else if let known = last[property] {
                value = try reader.resolve(known, property, of: id, asOf: past.revision)
            } else {
                value = try reader.value(of: property, id, asOf: past.revision)
            }
            try builder.set(slot, value.fitting(description))
        }
        return try builder.finish()
    }

    /// The properties of an entity that a later model took from it. If it has them again, the row and the events since
    /// say nothing of before.
    private mutating func leaving(_ entity: EntitySchema) throws -> Set<PropertyID> {
        if let known = left[entity.id] { return known }
        let histories = reader.histories
        let later = try histories.schemas(histories.versions.filter { $0 > schema.version })
        let entities = later.compactMap { $0.entity(entity.id) }
        let found = entity.properties.map(\.id).filter { number in entities.contains { $0.property(number) == nil } }
        left[entity.id] = Set(found)
        return Set(found)
    }

    /// The object's last values by property, from its row or from the event that deleted it.
    private func lastValues(_ id: ObjectID, _ past: Past) throws -> [PropertyID: RecordedValue] {
        guard let deletedAt = past.deletedAt else {
            guard let row = try snapshot.row(id) else {
                throw StrataError(
                    .corrupt, "The log names an object that is neither in `objects` nor in `tombstones`.",
                    context: snapshot.histories.context(of: id))
            }
            return try Self.values(try row.reader, row.layout)
        }
        return try reader.event(deletedAt) { event in
            switch try event.deleted() {
            case .image(let image):
                let layout = try reader.histories.layout(of: image, id: id)
                return try Self.values(try RowReader(image, layout: layout), layout)
            case .values(let values):
                return Dictionary(values.map { ($0.property, $0.value) }, uniquingKeysWith: { first, _ in first })
            }
        }
    }

    private static func values(
        _ reader: RowReader, _ layout: RowLayout
    ) throws -> [PropertyID: RecordedValue] {
        var values: [PropertyID: RecordedValue] = [:]
        for (slot, description) in layout.slots.enumerated() where description.storage != nil {
            values[description.propertyID] = .value(try reader.value(slot))
        }
        return values
    }
}
