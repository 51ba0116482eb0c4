// The canonical form of a value, of which the blind of an encrypted value is made (EncryptedValue.swift): values that `==`
// finds equal have one form.
//
//   numbers, dates, text, URLs, UUIDs, data, object ids   as in the key of a view's group (GroupKey.swift)
//   composites                                            as in the value codec (ValueCodec.swift)

/// Makes the canonical forms of values.
package enum CanonicalForm {
    /// Appends the form of a value of an attribute.
    ///
    /// - Throws: for a value that no row can hold.
    package static func append(
        _ value: AttributeValue, of type: AttributeType, to writer: inout ByteWriter
    ) throws(UnstorableValue) {
        if let kind = KeyKind(SlotKind(.attribute(type), allowsExternalStorage: false)) {
            GroupKey.append(value, kind, to: &writer)
        } else {
            try ValueCodec.encode(value, into: &writer)
        }
    }
}
