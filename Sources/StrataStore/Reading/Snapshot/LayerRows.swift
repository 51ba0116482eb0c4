import StrataModel

/// The rows of a layer: a hash table of objects, each absent, whole, or with some values replaced.
///
/// A layer of a distant past consists of a hundred thousand events, and most of them are never read. So each object
/// takes one entry and each value the bytes that the event has; nothing is decoded or allocated for a single object.
struct LayerRows: Sendable {
    private enum Kind: UInt8 { case absent, row, delta }

    private struct Entry {
        let id: ObjectID
        var revision: EventNumber
        /// For a row, its index in `images`; for a delta, the index of its newest value; -1 for none.
        var first: Int32
        var kind: Kind
    }

    private struct Value {
        let property: PropertyID
        /// The previous value noted for the same object; -1 for none.
        let next: Int32
        let offset: Int
        let count: Int
    }

    /// Indices into `entries`, -1 in empty slots; a power of two of them, at most half used.
    private var table: [Int32] = []
    private var shift = 64
    private var entries: [Entry] = []
    private var values: [Value] = []
    private var bytes: [UInt8] = []
    private var images: [(image: RowImage, layout: RowLayout)] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    /// Every object, in no particular order.
    var ids: some Collection<ObjectID> { entries.lazy.map(\.id) }
    var indices: Range<Int> { entries.indices }

    init() {}

    /// Reserves memory for `count` objects, up to a limit.
    mutating func reserve(_ count: Int) {
        let count = min(count, 1 << 17)
        entries.reserveCapacity(count)
        values.reserveCapacity(count)
        while table.count < count * 2 { grow() }
    }

    // MARK: Finding

    func contains(_ id: ObjectID) -> Bool { index(of: id) != nil }

    @inline(__always)
    func id(at index: Int) -> ObjectID { entries[index].id }
    func isAbsent(at index: Int) -> Bool { entries[index].kind == .absent }
    func isDelta(at index: Int) -> Bool { entries[index].kind == .delta }

    /// Prefetches the slots of these objects. Without this each event would wait for memory, a third of the time that a
    /// large layer takes.
    func fetchSlots(of events: [(event: EventView, eventNumber: EventNumber)]) {
        guard !table.isEmpty else { return }
        var sum = 0
        for (event, _) in events { sum += Int(table[start(of: event.header.object)]) }
        precondition(sum >= -events.count, "An index in the table is below -1.")
    }

    func index(of id: ObjectID) -> Int? {
        guard !table.isEmpty else { return nil }
        var slot = start(of: id)
        while true {
            let index = Int(table[slot])
            if index < 0 { return nil }
            if entries[index].id == id { return index }
            slot = (slot + 1) & (table.count - 1)
        }
    }

    /// - Throws: `CorruptRecord` if a value cannot be decoded.
    func state(of id: ObjectID) throws -> Layer.State? { try index(of: id).map { try state(at: $0) } }

    func state(at index: Int) throws -> Layer.State {
        let entry = entries[index]
        switch entry.kind {
        case .absent: return .absent
        case .row:
            let row = images[Int(entry.first)]
            return .row(row.image, row.layout, revision: entry.revision)
        case .delta:
            var delta = Layer.Delta(values: [], revision: entry.revision)
            var next = entry.first
            while next >= 0 {
                let value = values[Int(next)]
                delta.values.append((value.property, try decoded(value)))
                next = value.next
            }
            return .delta(delta)
        }
    }

    /// Whether a delta replaces this property.
    func hasValue(_ property: PropertyID, at index: Int) -> Bool { find(property, at: index) != nil }

    /// The values of these elements in a delta, in their order.
    func read(_ elements: [DeltaElement], at index: Int, into values: inout [AttributeValue]) throws {
        values.removeAll(keepingCapacity: true)
        for element in elements {
            guard let value = find(element.property, at: index) else { continue }
            values.append(try decoded(value).fitting(element.slot))
        }
    }

    private func find(_ property: PropertyID, at index: Int) -> Value? {
        guard entries[index].kind == .delta else { return nil }
        var next = entries[index].first
        while next >= 0 {
            let value = values[Int(next)]
            if value.property == property { return value }
            next = value.next
        }
        return nil
    }

    private func decoded(_ value: Value) throws -> AttributeValue {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(
                UnsafeRawBufferPointer(rebasing: bytes[value.offset..<(value.offset + value.count)]))
            return try ValueCodec.decode(&reader)
        }
    }

    // MARK: Noting

    mutating func setAbsent(_ id: ObjectID) {
        let index = makeEntry(id)
        entries[index].kind = .absent
        entries[index].first = -1
    }

    /// The object was inserted after the layer's point. An object with a whole row existed before, and was deleted in
    /// between.
    mutating func setAbsent(unlessWhole id: ObjectID) {
        if let index = index(of: id), entries[index].kind == .row { return }
        setAbsent(id)
    }

    mutating func setRow(_ id: ObjectID, _ image: RowImage, _ layout: RowLayout, revision: EventNumber) {
        let index = makeEntry(id)
        entries[index].kind = .row
        entries[index].revision = revision
        entries[index].first = Int32(images.count)
        images.append((image, layout))
    }

    /// Begins an empty delta, whatever was known of the object.
    mutating func beginDelta(of id: ObjectID, revision: EventNumber) -> Int {
        let index = makeEntry(id)
        entries[index].kind = .delta
        entries[index].revision = revision
        entries[index].first = -1
        return index
    }

    /// The index of the object's delta, a new one if nothing is known of the object; nil if it is absent or whole.
    mutating func delta(of id: ObjectID, revision: EventNumber) -> Int? {
        let known = entries.count
        let index = makeEntry(id)
        if index == known {
            entries[index].kind = .delta
            entries[index].revision = revision
        }
        return entries[index].kind == .delta ? index : nil
    }

    /// Adds a value that the delta does not have, encoded by `ValueCodec`.
    mutating func add(_ value: UnsafeRawBufferPointer, of property: PropertyID, at index: Int) {
        values.append(
            Value(property: property, next: entries[index].first, offset: bytes.count, count: value.count))
        bytes.append(contentsOf: value)
        entries[index].first = Int32(values.count - 1)
    }

    mutating func add(_ value: AttributeValue, of property: PropertyID, at index: Int) throws {
        var writer = ByteWriter()
        try ValueCodec.encode(value, into: &writer)
        add(writer.bytes, of: property, at: index)
    }

    // MARK: The table

    @inline(__always)
    private func start(of id: ObjectID) -> Int {
        Int(truncatingIfNeeded: (id.rawValue &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(shift))
    }

    /// The index of the object's entry, of a new one if it has none.
    private mutating func makeEntry(_ id: ObjectID) -> Int {
        if entries.count * 2 >= table.count { grow() }
        var slot = start(of: id)
        while true {
            let index = Int(table[slot])
            if index < 0 { break }
            if entries[index].id == id { return index }
            slot = (slot + 1) & (table.count - 1)
        }
        table[slot] = Int32(entries.count)
        entries.append(Entry(id: id, revision: .zero, first: -1, kind: .absent))
        return entries.count - 1
    }

    private mutating func grow() {
        let size = max(8, table.count * 2)
        shift = 64 - size.trailingZeroBitCount
        table = [Int32](repeating: -1, count: size)
        for (index, entry) in entries.enumerated() {
            var slot = start(of: entry.id)
            while table[slot] >= 0 { slot = (slot + 1) & (size - 1) }
            table[slot] = Int32(index)
        }
    }
}
