import LMDB
import StrataModel

/// Makes the events that replace all events on a row, a pair or a note up to a cut.
struct BaselineEvents: ~Copyable {
    /// Events by number, in the arena.
    private(set) var made: [(number: EventNumber, offset: Int, size: Int)] = []
    private var arena = Arena(capacity: 1 << 16)
    private var salts: SaltSource
    private let log: LogReader
    private let models: StepModels

    init(_ log: LogReader, _ models: StepModels, expected: Int) {
        self.log = log
        self.models = models
        salts = SaltSource(expected: expected)
        made.reserveCapacity(expected)
    }

    func event(_ index: Int) -> UnsafeRawBufferPointer { arena.bytes(at: made[index].offset, count: made[index].size) }

    /// Makes an insertion with the row as it was after its last event before the cut.
    mutating func addRow(_ id: ObjectID, _ last: EventNumber, _ blobs: inout BlobCounts?) throws {
        if let row = try log.transaction.get(log.tables.objects, id.rawValue) {
            let stored = try StoredRow(row)
            if stored.revision == last {
                try blobs?.add(image: stored.image, of: id, 1, log.histories)
                return try add(.inserted, id, last, stored.image)
            }
        }
        let image = try row(id, at: last)
        try image.bytes.withUnsafeBytes { bytes in
            try blobs?.add(image: bytes, of: id, 1, log.histories)
            try add(.inserted, id, last, bytes)
        }
    }

    mutating func addPair(_ key: PairKey, _ positions: PairPositions, _ last: EventNumber) throws {
        var writer = ByteWriter()
        writer.append(pair: PairEvent(key: key, positions: positions))
        try add(.linked, key.source, last, writer.bytes)
    }

    mutating func addMetadata(_ entries: [String: AttributeValue], _ last: EventNumber) throws {
        let writer = try MaintenanceRecord.metadata(before: [:], after: entries).encoded()
        try add(.maintenance, ObjectID(rawValue: 0), last, writer.bytes)
    }

    /// - Parameter number: of the event whose place it takes; it keeps that one's transaction.
    private mutating func add(
        _ kind: EventKind, _ id: ObjectID, _ number: EventNumber, _ payload: UnsafeRawBufferPointer
    ) throws {
        let transaction = try log.event(number) { $0.header.transaction }
        let room = arena.allocate(EventHeader.size + payload.count)
        guard let base = room.bytes.baseAddress else { return }
        EventHeader(
            kind: kind, flags: .baseline, object: id, transaction: transaction, previous: .zero,
            payloadSize: payload.count
        ).encode(into: base)
        UnsafeMutableRawBufferPointer(rebasing: room.bytes[EventHeader.size...]).copyMemory(from: payload)
        salts.next(into: base + EventHeader.saltOffset)
        EventDigest.write(
            saltAndPayload: UnsafeRawBufferPointer(rebasing: room.bytes[EventHeader.saltOffset...]),
            into: base + EventHeader.digestOffset)
        EventHeader.seal(room.bytes)
        made.append((number, room.offset, room.bytes.count))
    }

    /// The row just after an event, as the projector made it: the object's insertion, and each change in the layout of
    /// its time.
    private func row(_ id: ObjectID, at last: EventNumber) throws -> RowImage {
        var updates: [(changes: [PropertyChange], number: EventNumber)] = []
        var image: RowImage?
        try log.chain(from: last, of: id) { event, number in
            guard event.header.kind == .updated else {
                if event.header.kind == .inserted { image = RowImage(canonical: Array(event.payload)) }
                return false
            }
            updates.append((try event.changes(), number))
            return true
        }
        guard var image else {
            throw StrataError(
                .corrupt, "The events of an object do not begin with its insertion.",
                context: log.histories.context(of: id, at: last))
        }
        // Changes under one model are applied together, the last of each property.
        while let (last, number) = updates.popLast() {
            var changes = last
            let histories = try models.histories(at: number)
            while let next = updates.last, try models.histories(at: next.number) === histories {
                for change in next.changes {
                    if let index = changes.firstIndex(where: { $0.property == change.property }) {
                        changes[index] = change
                    } else {
                        changes.append(change)
                    }
                }
                updates.removeLast()
            }
            guard let entity = histories.newest?.entity(id.entityID) else {
                throw StrataError(
                    .corrupt, "An event names an entity that no model has.",
                    context: log.histories.context(of: id, at: number))
            }
            image = try image.bytes.withUnsafeBytes { bytes in
                let row = Projector.CurrentRow(
                    image: bytes, layout: try histories.layout(of: bytes, id: id), owner: nil)
                return try Projector.applying(changes, to: row, of: entity, histories)
            }
        }
        return image
    }
}

/// The model that was the newest at each event of a stretch.
struct StepModels {
    private let newest: SchemaHistory
    /// The first event of each model, ascending.
    private let begins: [(event: EventNumber, version: ModelVersion)]

    init(_ newest: SchemaHistory, at start: ModelVersion, _ installed: [(event: EventNumber, version: ModelVersion)]) {
        self.newest = newest
        begins = [(EventNumber.zero, start)] + installed
    }

    /// The newest model at the end.
    var last: ModelVersion { begins.last?.version ?? .init(rawValue: 0) }

    func histories(at event: EventNumber) throws -> SchemaHistory {
        try newest.through(begins.last { $0.event <= event }?.version ?? last)
    }
}
