// A row image: everything one object holds, in the layout of one model version. The same bytes stand in memory,
// in the `inserted` event and in the `objects` view. All integers little-endian, no alignment is promised.
//
//   offset  width  field
//   0       4      model version whose layout this is
//   4       2      entity id
//   6       2      number of slots
//   8       b      null bits, one a slot, set = nil; b = slots/8 rounded up to whole 8 bytes
//   8+b     ...    fixed area, offsets given by the layout: slots of 20 (decimal), 16 (UUID), 8, 4, 2, 1 bytes, widest
//                  first, then by slot. A variable-width slot is {UInt32 offset from the image's start, UInt32 length}.
//                  A nil slot is all zero.
//   ...     ...    variable area. In a canonical image (events and views) the values stand in slot order without gaps.
//
// Values: Bool one byte 0 or 1; integers two's complement; Float and Double IEEE bits; Date a Double of seconds since
// 2001-01-01 00:00 UTC; UUID its 16 bytes; Decimal {UInt64 low, UInt64 high mantissa, Int16 exponent, UInt8 sign,
// UInt8 0}, normalised (no trailing zeros in the mantissa, zero is all zero, NaN is sign 1 and mantissa 0); a reference
// or objectID the raw id; a position Int64; String UTF-8 as given, no normalisation; Data its bytes; URL its absolute
// string; transformable the transformer's bytes; composite the value codec's bytes.
// Data that allows external storage is led by one byte: 0 then the bytes, or 1 then digest (32) and size (8).

/// What a slot of a row holds.
package enum SlotStorage: Sendable, Hashable {
    case attribute(AttributeType)
    /// A to-one relationship: an object id, 0 for nil.
    case reference
    /// A place in an ordered relationship, Int64.
    case position

    package var width: Int {
        switch self {
        case .attribute(let type): type.fixedWidth
        case .reference, .position: 8
        }
    }

    package var isVariableWidth: Bool {
        if case .attribute(let type) = self { type.isVariableWidth } else { false }
    }
}

/// Where each slot of an entity's rows stands under one model version.
///
/// Offsets live in memory that is never freed while the layout lives; objects keep the raw pointer for speed.
package final class RowLayout: Sendable {
    package struct Slot: Sendable {
        package let propertyID: PropertyID
        /// nil when the row does not hold the property (to-many, transient).
        package let storage: SlotStorage?
        /// Data led by the external-storage byte.
        package let allowsExternalStorage: Bool
        /// From the image's start; 0 when the row does not hold the property.
        package let offset: Int

        package init(propertyID: PropertyID, storage: SlotStorage?, allowsExternalStorage: Bool, offset: Int) {
            self.propertyID = propertyID
            self.storage = storage
            self.allowsExternalStorage = allowsExternalStorage
            self.offset = offset
        }
    }

    package static let headerSize = 8
    package static let modelVersionOffset = 0
    package static let entityOffset = 4
    package static let slotCountOffset = 6
    package static let nullBitsOffset = 8

    package let entityID: EntityID
    package let version: ModelVersion
    package let slots: [Slot]
    /// Bytes before the variable area; the size of a row with no variable values.
    package let fixedSize: Int
    /// Slot -> offset, for reading without a bounds check.
    nonisolated(unsafe) package let offsets: UnsafePointer<UInt32>

    /// Lays out `properties` (in slot order).
    package init(entityID: EntityID, version: ModelVersion, properties: [PropertySchema]) {
        self.entityID = entityID
        self.version = version
        let nullBytes = (properties.count + 63) / 64 * 8
        var next = Self.headerSize + nullBytes
        var offsetOfSlot = [Int](repeating: 0, count: properties.count)
        for width in [20, 16, 8, 4, 2, 1] {
            for property in properties where property.storage?.width == width {
                offsetOfSlot[property.slot] = next
                next += width
            }
        }
        fixedSize = next
        slots = properties.map {
            Slot(
                propertyID: $0.id, storage: $0.storage,
                allowsExternalStorage: $0.attribute?.allowsExternalBinaryDataStorage ?? false,
                offset: offsetOfSlot[$0.slot])
        }
        // Written here, before anybody else can see it, and only read afterwards.
        let table = UnsafeMutablePointer<UInt32>.allocate(capacity: max(1, properties.count))
        table.initialize(repeating: 0, count: max(1, properties.count))
        for (slot, offset) in offsetOfSlot.enumerated() { table[slot] = UInt32(offset) }
        offsets = UnsafePointer(table)
    }

    deinit { offsets.deallocate() }
}
