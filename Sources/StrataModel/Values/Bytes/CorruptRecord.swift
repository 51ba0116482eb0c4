/// The error of every codec: bytes that break their format, with their offset in the record.
///
/// A layer that knows the table, the key or the path wraps it in a `StrataError`.
@usableFromInline package struct CorruptRecord: Error, Sendable, CustomStringConvertible {
    @usableFromInline package let reason: StaticString
    /// Bytes from the start of the record.
    @usableFromInline package let offset: Int

    @inlinable package init(_ reason: StaticString, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    @usableFromInline package var description: String { "corrupt record: \(reason) at byte \(offset)" }
}

/// The error for a value that its slot or codec cannot hold.
package struct UnstorableValue: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The value's kind is not that of the attribute.
        case wrongType
        /// An integer outside the attribute's width.
        case outOfRange
        /// The value, or the row with it, takes 4 GiB or more.
        case tooLong
        /// Composites are nested more than `ValueCodec.maximumDepth` deep.
        case nestedTooDeep
        /// A blob's digest that is not 32 bytes.
        case malformedBlobReference
        /// A URL that cannot be made again from its own absolute string.
        case malformedURL
        /// The row does not hold the property, because it is to-many or transient.
        case notStored
    }

    package let reason: Reason
    /// The slot of the row; nil if there is no row.
    package var slot: Int?

    package init(_ reason: Reason, slot: Int? = nil) {
        self.reason = reason
        self.slot = slot
    }

    package var description: String { "unstorable value: \(reason)" + (slot.map { " in slot \($0)" } ?? "") }
}
