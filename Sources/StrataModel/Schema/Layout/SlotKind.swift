/// The encoding of a slot's bytes: the type and whether it allows external storage, in one byte.
@usableFromInline package enum SlotKind: UInt8, Sendable, Hashable {
    /// The row does not hold the property.
    case absent
    case boolean, integer16, integer32, integer64, float, double, date, decimal, uuid
    /// An attribute that holds an object id.
    case objectID
    /// A to-one relationship.
    case reference
    /// A position in an ordered relationship.
    case position
    case string, url
    /// Data without external storage, and the bytes of transformables.
    case data
    /// Data that begins with the external-storage byte.
    case externalData
    case composite
    /// A value of any type, in the format of the value codec.
    case undefined
    /// An encrypted value.
    case encrypted
    /// An encrypted value that begins with the external-storage byte.
    case externalEncrypted

    package init(_ slot: RowLayout.Slot) {
        self.init(slot.storage, allowsExternalStorage: slot.allowsExternalStorage)
    }

    package init(_ storage: SlotStorage?, allowsExternalStorage: Bool) {
        switch storage {
        case nil: self = .absent
        case .reference: self = .reference
        case .position: self = .position
        case .encrypted: self = allowsExternalStorage ? .externalEncrypted : .encrypted
        case .attribute(let type): self.init(type, allowsExternalStorage: allowsExternalStorage)
        }
    }

    private init(_ type: AttributeType, allowsExternalStorage: Bool) {
        self =
            switch type {
            case .undefined: .undefined
            case .integer16: .integer16
            case .integer32: .integer32
            case .integer64: .integer64
            case .decimal: .decimal
            case .double: .double
            case .float: .float
            case .string: .string
            case .boolean: .boolean
            case .date: .date
            case .binaryData: allowsExternalStorage ? .externalData : .data
            case .uuid: .uuid
            case .uri: .url
            case .transformable: .data
            case .objectID: .objectID
            case .composite: .composite
            }
    }

    /// The number of bytes in the fixed area; 0 if the slot is absent.
    @inlinable package var width: Int {
        switch self {
        case .absent: 0
        case .boolean: 1
        case .integer16: 2
        case .integer32, .float: 4
        case .integer64, .double, .date, .objectID, .reference, .position: 8
        case .decimal: 20
        case .uuid: 16
        case .string, .url, .data, .externalData, .composite, .undefined, .encrypted, .externalEncrypted: 8
        }
    }

    /// Whether the value may be stored outside the row, so that it begins with the external-storage byte.
    @inlinable package var isExternal: Bool { self == .externalData || self == .externalEncrypted }

    /// Whether values are encrypted.
    @inlinable package var isEncrypted: Bool { self == .encrypted || self == .externalEncrypted }

    /// Whether the fixed area holds the value's offset and length instead of the value.
    @inlinable package var isVariableWidth: Bool { rawValue >= SlotKind.string.rawValue }

    /// Whether a slot of this kind can be read as one of another kind: the same kind, a wider number, or data that may
    /// now be stored outside the row.
    ///
    /// Index keys stay the same only if both kinds have the same `KeyKind`.
    package func canBeRead(as later: SlotKind) -> Bool {
        switch (self, later) {
        case _ where self == later: true
        case (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64): true
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64): true
        case (.boolean, .float), (.boolean, .double): true
        case (.integer16, .float), (.integer16, .double), (.integer32, .double), (.float, .double): true
        case (.boolean, .decimal), (.integer16, .decimal), (.integer32, .decimal), (.integer64, .decimal): true
        case (.data, .externalData), (.encrypted, .externalEncrypted): true
        default: false
        }
    }
}
