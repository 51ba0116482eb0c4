import Foundation

/// Encodes the ordered keys of one index, from rows or from values, in the format of `KeyEncoding.swift`.
///
/// If the caller reuses its `ByteWriter`, keys of numbers and ASCII text take no allocation.
package struct IndexKeyCodec: Sendable {
    /// Stored in the index's record beside `TextFolding.version`. An index with another version is rebuilt.
    package static let formatVersion: UInt32 = 1
    /// LMDB's maximum of 511 bytes less the index id before the key and the object id after it.
    package static let maximumLength = 511 - 4 - 8

    package struct Element: Sendable, Hashable {
        package let slot: Int
        package let kind: KeyKind
        /// Element names below a composite attribute; empty for a plain property.
        package let path: [String]
        package let isAscending: Bool
        package let folding: StringFolding

        package init(
            slot: Int, kind: KeyKind, path: [String] = [], isAscending: Bool = true, folding: StringFolding = []
        ) {
            self.slot = slot
            self.kind = kind
            self.path = path
            self.isAscending = isAscending
            self.folding = folding
        }
    }

    package let elements: [Element]

    package init(elements: [Element]) { self.elements = elements }

    /// nil if an element cannot have keys (`KeyKind.init`).
    ///
    /// - Parameter properties: the properties of any entity whose rows the index has.
    package init?(_ index: IndexSchema, properties: [PropertySchema]) {
        var elements: [Element] = []
        for element in index.elements {
            guard properties.indices.contains(element.slot),
                let kind = Self.kind(properties[element.slot], element.compositePath)
            else { return nil }
            elements.append(
                Element(
                    slot: element.slot, kind: kind, path: element.compositePath, isAscending: element.isAscending,
                    folding: element.folding))
        }
        self.elements = elements
    }

    private static func kind(_ property: PropertySchema, _ path: [String]) -> KeyKind? {
        if path.isEmpty {
            let isExternal = property.attribute?.allowsExternalBinaryDataStorage ?? false
            return KeyKind(SlotKind(property.storage, allowsExternalStorage: isExternal))
        }
        guard property.storage != nil, var attribute = property.attribute else { return nil }
        for name in path {
            guard let element = attribute.elements.first(where: { $0.name == name }) else { return nil }
            attribute = element
        }
        return KeyKind(SlotKind(.attribute(attribute.type), allowsExternalStorage: false))
    }

    /// Appends the key of a row.
    package func append(_ row: RowReader, to writer: inout ByteWriter) throws(CorruptRecord) -> KeyFit {
        let start = writer.count
        // By index: a copy of each element would retain its path.
        for index in elements.indices where writer.count - start <= Self.maximumLength {
            let begin = writer.count
            try append(elements[index], of: row, to: &writer)
            if !elements[index].isAscending { writer.complement(from: begin) }
        }
        return Self.cut(&writer, from: start)
    }

    /// Appends the key of values, one for each element in order. Fewer values make a prefix of a key.
    package func append(
        _ values: [AttributeValue], to writer: inout ByteWriter
    ) throws(UncomparableKey) -> KeyFit {
        let start = writer.count
        for (index, value) in values.enumerated() where writer.count - start <= Self.maximumLength {
            try append(value, at: index, to: &writer)
        }
        return Self.cut(&writer, from: start)
    }

    /// Whether the row is nil in an element. Uniqueness ignores such rows.
    package func hasNull(_ row: RowReader) throws(CorruptRecord) -> Bool {
        for element in elements {
            if row.isNull(element.slot) { return true }
            if !element.path.isEmpty, try Self.value(row, element) == .null { return true }
        }
        return false
    }

    static func cut(_ writer: inout ByteWriter, from start: Int) -> KeyFit {
        if writer.count - start <= maximumLength { return .whole }
        writer.truncate(to: start + maximumLength)
        return .cut
    }
}

// MARK: One element

extension IndexKeyCodec {
    /// Text and data are encoded up to this many bytes; more cannot fit into a key.
    private static let textLimit = maximumLength + 1

    private func append(_ element: Element, of row: RowReader, to writer: inout ByteWriter) throws(CorruptRecord) {
        if !element.path.isEmpty { return try appendComposite(element, of: row, to: &writer) }
        let slot = element.slot
        if row.isNull(slot) { return writer.append(KeyEncoding.null) }
        switch element.kind {
        case .integer: KeyEncoding.append(row.integer(slot) ?? 0, to: &writer)
        case .double, .date: KeyEncoding.append(row.double(slot) ?? 0, to: &writer)
        case .objectID: KeyEncoding.append(row.reference(slot), to: &writer)
        case .uuid:
            writer.append(KeyEncoding.present)
            writer.append(UnsafeRawBufferPointer(start: row.base + Int(row.entry(slot).offset), count: 16))
        case .decimal:
            let parts = try DecimalParts(row.base, at: Int(row.entry(slot).offset))
            KeyEncoding.append(parts, to: &writer)
        case .text:
            guard let text = try row.bytes(slot) else { return writer.append(KeyEncoding.null) }
            append(text: text, element.folding, to: &writer)
        case .encrypted:
            guard let bytes = try row.bytes(slot), let blind = EncryptedValue.blind(of: bytes) else {
                throw CorruptRecord("encrypted value cut short", at: Int(row.entry(slot).offset))
            }
            writer.append(KeyEncoding.present)
            writer.append(blind)
        case .data:
            guard let data = try row.bytes(slot) else { return writer.append(KeyEncoding.null) }
            append(data: data, to: &writer)
        }
    }

    private func appendComposite(
        _ element: Element, of row: RowReader, to writer: inout ByteWriter
    ) throws(CorruptRecord) {
        let value = try Self.value(row, element)
        guard appendAscending(value, element, to: &writer) else {
            throw CorruptRecord("element of a composite with another type", at: Int(row.entry(element.slot).offset))
        }
    }

    private static func value(_ row: RowReader, _ element: Element) throws(CorruptRecord) -> AttributeValue {
        var value = try row.value(element.slot)
        for name in element.path {
            guard case .composite(let elements) = value else { return .null }
            value = elements[name] ?? .null
        }
        return value
    }

    /// Appends element `index` of a key in the element's direction.
    func append(_ value: AttributeValue, at index: Int, to writer: inout ByteWriter) throws(UncomparableKey) {
        precondition(elements.indices.contains(index), "More values than the index has elements.")
        let begin = writer.count
        guard appendAscending(value, elements[index], to: &writer) else { throw UncomparableKey(element: index) }
        if !elements[index].isAscending { writer.complement(from: begin) }
    }

    /// Appends a value; returns false and appends nothing if it is of another kind. Numbers are converted if that is
    /// exact.
    private func appendAscending(
        _ value: AttributeValue, _ element: Element, to writer: inout ByteWriter
    ) -> Bool {
        switch (value, element.kind) {
        case (.null, _): writer.append(KeyEncoding.null)
        case (.boolean(let value), .integer): KeyEncoding.append(Int64(value ? 1 : 0), to: &writer)
        case (.integer(let value), .integer): KeyEncoding.append(value, to: &writer)
        case (.float(let value), .double): KeyEncoding.append(Double(value), to: &writer)
        case (.double(let value), .double): KeyEncoding.append(value, to: &writer)
        case (.integer(let value), .double):
            guard let double = Double(exactly: value) else { return false }
            KeyEncoding.append(double, to: &writer)
        case (.date(let value), .date): KeyEncoding.append(value.timeIntervalSinceReferenceDate, to: &writer)
        case (.decimal(let value), .decimal): KeyEncoding.append(DecimalParts(value), to: &writer)
        case (.integer(let value), .decimal): KeyEncoding.append(DecimalParts(Decimal(value)), to: &writer)
        case (.string(let text), .text): append(text: text, element.folding, to: &writer)
        case (.url(let url), .text): append(text: url.absoluteString, element.folding, to: &writer)
        case (.uuid(let value), .uuid): KeyEncoding.append(value, to: &writer)
        case (.data(let data), .data): data.withUnsafeBytes { append(data: $0, to: &writer) }
        case (.encrypted(let value), .encrypted):
            guard let blind = value.blind else { return false }
            writer.append(KeyEncoding.present)
            blind.withUnsafeBytes { writer.append($0) }
        case (.objectID(let id), .objectID):
            if id.isNil { writer.append(KeyEncoding.null) } else { KeyEncoding.append(id, to: &writer) }
        default: return false
        }
        return true
    }

    private func append(text: String, _ folding: StringFolding, to writer: inout ByteWriter) {
        var text = text
        text.withUTF8 { append(text: UnsafeRawBufferPointer($0), folding, to: &writer) }
    }

    private func append(text: UnsafeRawBufferPointer, _ folding: StringFolding, to writer: inout ByteWriter) {
        KeyEncoding.appendUnterminated(text: text, folding, limit: Self.textLimit, to: &writer)
        KeyEncoding.appendTerminator(to: &writer)
    }

    private func append(data: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        KeyEncoding.appendUnterminated(data: data, limit: Self.textLimit, to: &writer)
        KeyEncoding.appendTerminator(to: &writer)
    }

    /// Appends the common prefix of the keys of all texts that begin with `text`, in the element's direction.
    func append(prefix text: String, at index: Int, to writer: inout ByteWriter) throws(UncomparableKey) {
        guard elements[index].kind == .text else { throw UncomparableKey(element: index) }
        var text = text
        let begin = writer.count
        text.withUTF8 {
            KeyEncoding.appendUnterminated(
                text: UnsafeRawBufferPointer($0), elements[index].folding, limit: Self.textLimit, to: &writer)
        }
        if !elements[index].isAscending { writer.complement(from: begin) }
    }
}
