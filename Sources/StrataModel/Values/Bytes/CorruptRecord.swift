/// Bytes that do not say what their format promises; thrown by every codec, with the place in the record.
///
/// A layer that knows the table, key or path wraps it in a `StrataError`.
@usableFromInline package struct CorruptRecord: Error, Sendable, CustomStringConvertible {
    @usableFromInline package let reason: StaticString
    /// In bytes from the record's start.
    @usableFromInline package let offset: Int

    @inlinable package init(_ reason: StaticString, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    @usableFromInline package var description: String { "corrupt record: \(reason) at byte \(offset)" }
}

/// A value that the slot or the codec it was meant for cannot hold.
package struct UnstorableValue: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The value's kind is not that of the attribute.
        case wrongType
        /// An integer outside the attribute's width.
        case outOfRange
        /// The value, or the row with it, takes 4 GiB or more.
        case tooLong
        /// A composite within composites, more than `ValueCodec.maximumDepth` of them.
        case nestedTooDeep
        /// A blob's digest that is not 32 bytes.
        case malformedBlobReference
        /// A URL that its own absolute string does not make again.
        case malformedURL
        /// The row does not hold the property (to-many, transient).
        case notStored
    }

    package let reason: Reason
    /// nil where there is no row.
    package var slot: Int?

    package init(_ reason: Reason, slot: Int? = nil) {
        self.reason = reason
        self.slot = slot
    }

    package var description: String { "unstorable value: \(reason)" + (slot.map { " in slot \($0)" } ?? "") }
}
