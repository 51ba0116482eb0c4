// A row image: all stored values of one object, in the layout of one model version. The same bytes are in memory, in
// the `inserted` event and in the `objects` view. Format 1. All integers little-endian, without alignment.
//
//   offset  width  field
//   0       4      model version whose layout this is
//   4       2      entity id
//   6       2      number of slots
//   8       b      null bits, one a slot, set = nil, bit i in byte i/8 at 1 << i%8; b = slots/8 rounded up to whole
//                  8 bytes. Set too for properties that rows do not hold (to-many, transient); zero past the last slot.
//   8+b     ...    fixed area, offsets given by the layout: slots of 20 (decimal), 16 (UUID), 8, 4, 2, 1 bytes, widest
//                  first, then by slot. A variable-width slot is {UInt32 offset from the image's start, UInt32 length}.
//                  A nil slot is all zero.
//   ...     ...    variable area. In a canonical image (events and views) the values are in slot order without gaps,
//                  and an empty value's offset is where its bytes would be.
//
// Values: Bool one byte 0 or 1; integers two's complement; Float and Double IEEE bits as given; Date a Double of
// seconds since 2001-01-01 00:00 UTC; UUID its 16 bytes; Decimal {UInt64 low, UInt64 high mantissa, Int16 exponent,
// UInt8 sign, UInt8 0}, normalised (no trailing zeros in the mantissa, zero is all zero, NaN is sign 1 and mantissa 0);
// a reference or objectID the raw id, never 0 unless nil; a position Int64; String UTF-8 as given, no normalisation;
// Data its bytes; URL its absolute string; transformable the transformer's bytes; composite the value codec's bytes.
// An encrypted value of any type is as EncryptedValue.swift has it. Data that allows external storage, encrypted or not,
// begins with one byte: 0 and then the bytes, or 1 and then digest (32) and size (8).

/// The layout of an entity's rows under one model version: the offset and kind of each slot.
///
/// Offsets are in memory that is not freed while the layout lives; objects keep the raw pointer for speed.
@usableFromInline package final class RowLayout: Sendable {
    /// One property of a row.
    package struct Slot: Sendable {
        package let propertyID: PropertyID
        /// nil if the row does not hold the property, because it is to-many or transient.
        package let storage: SlotStorage?
        /// Whether the slot holds data that begins with the external-storage byte.
        package let allowsExternalStorage: Bool
        /// The offset from the image's start; 0 if the row does not hold the property.
        package fileprivate(set) var offset = 0

        package init(propertyID: PropertyID, storage: SlotStorage?, allowsExternalStorage: Bool) {
            self.propertyID = propertyID
            self.storage = storage
            self.allowsExternalStorage = allowsExternalStorage
        }
    }

    /// The part of a slot that readers need, in eight bytes.
    @usableFromInline package struct Entry: Sendable {
        /// The offset from the image's start; 0 if the row does not hold the property.
        @usableFromInline package let offset: UInt32
        @usableFromInline package let kind: SlotKind

        package init(offset: UInt32, kind: SlotKind) {
            self.offset = offset
            self.kind = kind
        }
    }

    @usableFromInline package static let headerSize = 8
    @usableFromInline package static let modelVersionOffset = 0
    @usableFromInline package static let entityOffset = 4
    @usableFromInline package static let slotCountOffset = 6
    @usableFromInline package static let nullBitsOffset = 8

    package let entityID: EntityID
    package let version: ModelVersion
    package let slots: [Slot]
    /// The number of bytes before the variable area.
    @usableFromInline package let fixedSize: Int
    /// The first eight bytes of every row of this layout, as a little-endian number.
    @usableFromInline package let header: UInt64
    /// The number of slots.
    @usableFromInline package let slotCount: Int
    /// The slots with variable width, ascending.
    package let variableSlots: [Int]
    /// `variableSlots` for reading without a bounds check.
    @usableFromInline nonisolated(unsafe) let variable: UnsafeBufferPointer<UInt16>
    /// The image of an object whose properties are all nil, from which new objects start.
    @usableFromInline package let emptyRow: [UInt8]
    /// The offset of each slot, for reading without a bounds check.
    @usableFromInline nonisolated(unsafe) package let offsets: UnsafePointer<UInt32>
    /// The offset and kind of each slot, for reading without a bounds check.
    @usableFromInline nonisolated(unsafe) package let entries: UnsafePointer<Entry>

    /// Lays out slots, whose offsets it sets.
    package init(entityID: EntityID, version: ModelVersion, slots: [Slot]) {
        precondition(slots.count <= UInt16.max, "An entity has at most 65,535 properties.")
        self.entityID = entityID
        self.version = version
        var slots = slots
        let kinds = slots.map(SlotKind.init)
        var next = Self.headerSize + (slots.count + 63) / 64 * 8
        for width in [20, 16, 8, 4, 2, 1] {
            for slot in slots.indices where kinds[slot].width == width {
                slots[slot].offset = next
                next += width
            }
        }
        fixedSize = next
        self.slots = slots
        slotCount = slots.count
        let variableSlots = slots.indices.filter { kinds[$0].isVariableWidth }
        self.variableSlots = variableSlots
        header =
            UInt64(version.rawValue) | UInt64(entityID.rawValue) << 32 | UInt64(UInt16(slots.count)) << 48
        emptyRow = Self.emptyRow(header: header, size: next, slotCount: slots.count)
        // These are written here, before the layout is shared, and only read afterwards.
        let capacity = max(1, slots.count)
        let offsets = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
        offsets.initialize(repeating: 0, count: capacity)
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        entries.initialize(repeating: Entry(offset: 0, kind: .absent), count: capacity)
        for (index, slot) in slots.enumerated() {
            offsets[index] = UInt32(slot.offset)
            entries[index] = Entry(offset: UInt32(slot.offset), kind: kinds[index])
        }
        self.offsets = UnsafePointer(offsets)
        self.entries = UnsafePointer(entries)
        let variable = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: variableSlots.count)
        _ = variable.initialize(from: variableSlots.map { UInt16($0) })
        self.variable = UnsafeBufferPointer(variable)
    }

    deinit {
        offsets.deallocate()
        entries.deallocate()
        variable.deallocate()
    }

    /// Whether the image has this layout and all its values of variable width are inside it, so that it can be read
    /// without checks. If not, a `RowReader` throws the reason.
    @inlinable package func fits(_ image: UnsafeRawBufferPointer) -> Bool {
        guard let base = image.baseAddress, image.count >= fixedSize,
            base.loadLittleEndian(at: 0, as: UInt64.self) == header
        else { return false }
        for slot in variable where !base.isNull(slot: Int(slot)) {
            let offset = Int(entries[Int(slot)].offset)
            let start = Int(base.loadLittleEndian(at: offset, as: UInt32.self))
            let length = Int(base.loadLittleEndian(at: offset + 4, as: UInt32.self))
            guard start >= fixedSize, length <= image.count - start else { return false }
        }
        return true
    }

    private static func emptyRow(header: UInt64, size: Int, slotCount: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        for index in 0..<headerSize { bytes[index] = UInt8(truncatingIfNeeded: header >> (8 * index)) }
        for slot in 0..<slotCount { bytes[nullBitsOffset + slot >> 3] |= 1 << UInt8(slot & 7) }
        return bytes
    }
}
