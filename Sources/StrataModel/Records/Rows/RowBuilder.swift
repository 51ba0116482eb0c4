import Foundation

/// Builds a row image slot by slot.
///
/// Values of variable width are appended as they are set; `finish` puts them in order and removes replaced ones.
package struct RowBuilder {
    package let layout: RowLayout
    /// An image of `layout`, canonical or not.
    private var bytes: [UInt8]

    /// A builder with every property nil.
    package init(_ layout: RowLayout) {
        self.layout = layout
        bytes = []
        bytes.reserveCapacity(layout.fixedSize + Self.usualVariableSize(layout))
        bytes.append(contentsOf: layout.emptyRow)
    }

    /// A builder with the values of an image, canonical or not.
    package init(_ image: UnsafeRawBufferPointer, layout: RowLayout) throws(CorruptRecord) {
        _ = try RowReader(image, layout: layout)
        self.layout = layout
        bytes = []
        bytes.reserveCapacity(image.count + Self.usualVariableSize(layout))
        bytes.append(contentsOf: image)
    }

    /// A builder with the values of an image.
    package init(_ image: RowImage, layout: RowLayout) throws(CorruptRecord) {
        _ = try image.withReader(layout) { $0.count }
        self.layout = layout
        bytes = image.bytes
    }

    /// Capacity that makes one allocation enough for most rows.
    private static func usualVariableSize(_ layout: RowLayout) -> Int { 24 * layout.variableSlots.count }

    /// The image in canonical form.
    package func finish() throws(CorruptRecord) -> RowImage {
        let layout = layout
        let compact = try bytes.withUnsafeBufferPointer { (bytes) throws(CorruptRecord) -> RowImage? in
            let bytes = UnsafeRawBufferPointer(bytes)
            return try layout.isCanonical(bytes) ? nil : layout.canonicalize(bytes)
        }
        return compact ?? RowImage(canonical: bytes)
    }

    /// Sets a slot to a value of its attribute's kind, or nil. A reference takes an `objectID`, a position an
    /// `integer`.
    package mutating func set(_ slot: Int, _ value: AttributeValue) throws(UnstorableValue) {
        do {
            try write(slot, value)
        } catch {
            throw UnstorableValue(error.reason, slot: slot)
        }
    }

    /// Sets a to-one, or an attribute with an object id; the id 0 is nil.
    package mutating func setReference(_ slot: Int, _ id: ObjectID) throws(UnstorableValue) {
        let kind = entry(slot).kind
        guard kind == .reference || kind == .objectID else { throw UnstorableValue(.wrongType, slot: slot) }
        id.isNil ? setNull(slot) : store(slot, id.rawValue)
    }

    package mutating func setPosition(_ slot: Int, _ position: Int64) throws(UnstorableValue) {
        guard entry(slot).kind == .position else { throw UnstorableValue(.wrongType, slot: slot) }
        store(slot, position)
    }

    package mutating func setNull(_ slot: Int) {
        let entry = entry(slot)
        bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            base.setNullBit(slot: slot)
            base.zeroSlot(at: Int(entry.offset), width: entry.kind.width)
        }
    }

    private func entry(_ slot: Int) -> RowLayout.Entry {
        precondition(layout.slots.indices.contains(slot), "A slot of another entity.")
        return layout.entries[slot]
    }

    private mutating func write(_ slot: Int, _ value: AttributeValue) throws(UnstorableValue) {
        switch (value, entry(slot).kind) {
        case (_, .absent): throw UnstorableValue(.notStored)
        case (.null, _): setNull(slot)
        case (.boolean(let value), .boolean): store(slot, UInt8(value ? 1 : 0))
        case (.integer(let value), .integer16): store(slot, try Self.narrow(value, to: Int16.self))
        case (.integer(let value), .integer32): store(slot, try Self.narrow(value, to: Int32.self))
        case (.integer(let value), .integer64), (.integer(let value), .position): store(slot, value)
        case (.float(let value), .float): store(slot, value.bitPattern)
        case (.double(let value), .double): store(slot, value.bitPattern)
        case (.date(let value), .date): store(slot, value.timeIntervalSinceReferenceDate.bitPattern)
        case (.decimal(let value), .decimal): storeFixed(slot) { DecimalParts(value).store(to: $0, at: $1) }
        case (.uuid(let value), .uuid):
            storeFixed(slot) { $0.storeBytes(of: value.uuid, toByteOffset: $1, as: uuid_t.self) }
        case (.objectID(let id), .objectID), (.objectID(let id), .reference): try setReference(slot, id)
        case (_, let kind) where kind.isVariableWidth: try writeVariable(slot, kind, value)
        default: throw UnstorableValue(.wrongType)
        }
    }

    private mutating func writeVariable(
        _ slot: Int, _ kind: SlotKind, _ value: AttributeValue
    ) throws(UnstorableValue) {
        switch (value, kind) {
        case (.string(let text), .string): try append(slot, text: text)
        case (.url(let url), .url): try append(slot, text: ValueCodec.text(of: url))
        case (.data(let data), .data): try append(slot, data: data, lead: nil)
        case (.data(let data), .externalData): try append(slot, data: data, lead: 0)
        case (.encrypted(let value), .encrypted): try append(slot, data: value.stored, lead: nil)
        case (.encrypted(let value), .externalEncrypted): try append(slot, data: value.stored, lead: 0)
        case (.blob(let blob), .externalData), (.blob(let blob), .externalEncrypted):
            guard blob.digest.count == 32 else { throw UnstorableValue(.malformedBlobReference) }
            try append(slot, data: blob.digest, lead: 1, trail: blob.sizeInBytes)
        case (.composite, .composite), (_, .undefined):
            var writer = ByteWriter()
            try ValueCodec.encode(value, into: &writer)
            try append(slot, bytes: writer.bytes, lead: nil)
        default: throw UnstorableValue(.wrongType)
        }
    }

    private static func narrow<T: FixedWidthInteger>(_ value: Int64, to type: T.Type) throws(UnstorableValue) -> T {
        guard let narrowed = T(exactly: value) else { throw UnstorableValue(.outOfRange) }
        return narrowed
    }
}

extension RowBuilder {
    /// Writes an integer of the slot's width.
    private mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ slot: Int, _ value: T) {
        storeFixed(slot) { $0.storeLittleEndian(value, at: $1) }
    }

    /// Marks the slot as not nil and calls `body` with the image and the slot's offset.
    mutating func storeFixed(_ slot: Int, _ body: (UnsafeMutableRawPointer, Int) -> Void) {
        let offset = Int(layout.entries[slot].offset)
        bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            base.clearNullBit(slot: slot)
            body(base, offset)
        }
    }

    private mutating func append(_ slot: Int, text: String) throws(UnstorableValue) {
        var text = text
        try makeRoom(slot, text.utf8.count)
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private mutating func append(
        _ slot: Int, data: Data, lead: UInt8?, trail: UInt64? = nil
    ) throws(UnstorableValue) {
        try makeRoom(slot, data.count + (lead == nil ? 0 : 1) + (trail == nil ? 0 : 8))
        if let lead { bytes.append(lead) }
        data.withUnsafeBytes { bytes.append(contentsOf: $0) }
        if let trail { withUnsafeBytes(of: trail.littleEndian) { bytes.append(contentsOf: $0) } }
    }

    /// Appends a variable value. The caller must pass bytes that fit the slot's kind.
    mutating func append(_ slot: Int, bytes value: UnsafeRawBufferPointer, lead: UInt8?) throws(UnstorableValue) {
        try makeRoom(slot, value.count + (lead == nil ? 0 : 1))
        if let lead { bytes.append(lead) }
        bytes.append(contentsOf: value)
    }

    /// Points the slot to the next `count` bytes, which the caller then appends.
    private mutating func makeRoom(_ slot: Int, _ count: Int) throws(UnstorableValue) {
        if bytes.count + count > Int(UInt32.max) { try compact() }
        guard bytes.count + count <= Int(UInt32.max) else { throw UnstorableValue(.tooLong) }
        let start = UInt32(bytes.count)
        storeFixed(slot) { $0.storeVariable(start: start, length: UInt32(count), at: $1) }
    }

    private mutating func compact() throws(UnstorableValue) {
        do {
            bytes = try finish().bytes
        } catch {
            throw UnstorableValue(.tooLong)
        }
    }
}
