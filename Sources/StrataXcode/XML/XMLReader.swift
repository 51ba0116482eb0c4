import Foundation

/// Reads XML documents as Xcode writes them: UTF-8, elements, attributes and character references.
///
/// It supports only that, because hostile files exploit the rest of XML: it rejects document types with declarations,
/// so files cannot define, expand or fetch entities. A document that is too deep, too long or not well-formed is
/// rejected with the location. Open elements are on a stack of the reader, so that deep nesting cannot overflow the
/// thread's.
package struct XMLReader {
    /// The largest documents that are accepted.
    package struct Limits: Sendable {
        package var sizeInBytes = 32 << 20
        package var depth = 32
        package var attributes = 128
        /// Whether the document may have a document type without declarations, which is skipped.
        package var allowsDocumentType = false

        package init() {}
    }

    let bytes: [UInt8]
    let limits: Limits
    var position = 0
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var lines: LineTable

    /// Reads the root element of a document.
    ///
    /// - Throws: `ModelFileError` with the problem and its location.
    package static func read(
        _ bytes: [UInt8], limits: Limits = Limits()
    ) throws(ModelFileError) -> XMLElement {
        guard bytes.count <= limits.sizeInBytes else {
            throw ModelFileError(
                "the file has \(bytes.count) bytes; \(limits.sizeInBytes) is the maximum",
                at: FileLocation(line: 1, column: 1))
        }
        var reader = XMLReader(bytes, limits)
        return try reader.document()
    }

    private init(_ bytes: [UInt8], _ limits: Limits) {
        self.bytes = bytes
        self.limits = limits
        lines = LineTable(bytes)
    }

    func error(_ sentence: String, at offset: Int? = nil) -> ModelFileError {
        ModelFileError(sentence, at: lines.location(of: offset ?? position, in: bytes))
    }

    // MARK: The document

    private mutating func document() throws(ModelFileError) -> XMLElement {
        if let offset = UTF8Check.firstInvalidByte(in: bytes) { throw error("the file is not UTF-8", at: offset) }
        skip("\u{FEFF}")
        if has("<?xml") { try declaration() }
        while position < bytes.count {
            if byte == UInt8(ascii: "<") {
                try markup()
            } else {
                try characters()
            }
        }
        if let element = open.last {
            throw error("the file ends inside <\(element.name)> of line \(element.location.line)")
        }
        guard let root else { throw error("the file has no element") }
        return root
    }

    private mutating func markup() throws(ModelFileError) {
        if has("</") { return try endTag() }
        if has("<!--") { return try comment() }
        if has("<![CDATA[") { return try literalText() }
        if has("<?") { return try instruction() }
        if has("<!DOCTYPE") { return try documentType() }
        if has("<!") { throw error("a declaration is not allowed here") }
        try startTag()
    }

    private mutating func declaration() throws(ModelFileError) {
        let start = position
        let text = try text(after: "<?xml", until: "?>", "the XML declaration")
        guard let range = text.range(of: "encoding") else { return }
        let value = text[range.upperBound...].drop { $0 == "=" || $0 == " " || $0 == "\"" || $0 == "'" }
        let encoding = value.prefix { $0 != "\"" && $0 != "'" }
        guard encoding.lowercased() == "utf-8" else {
            throw error("the file declares the encoding \(encoding.prefix(40)); only UTF-8 is supported", at: start)
        }
    }

    private mutating func documentType() throws(ModelFileError) {
        guard limits.allowsDocumentType, root == nil, open.isEmpty else {
            throw error("a document type is not allowed; it could define entities")
        }
        let start = position
        let text = try text(after: "<!DOCTYPE", until: ">", "the document type")
        if text.contains("[") { throw error("a document type with declarations is not allowed", at: start) }
    }

    private mutating func comment() throws(ModelFileError) {
        _ = try text(after: "<!--", until: "-->", "a comment")
    }

    private mutating func instruction() throws(ModelFileError) {
        _ = try text(after: "<?", until: "?>", "a processing instruction")
    }

    private mutating func literalText() throws(ModelFileError) {
        let start = position
        try append(try text(after: "<![CDATA[", until: "]]>", "a CDATA section"), start)
    }

    private mutating func characters() throws(ModelFileError) {
        let start = position
        try append(try content(until: UInt8(ascii: "<"), isAttribute: false), start)
    }

    private mutating func append(_ text: String, _ start: Int) throws(ModelFileError) {
        if open.isEmpty {
            guard text.allSatisfy(\.isWhitespace) else { throw error("text outside the root element", at: start) }
        } else {
            open[open.count - 1].text += text
        }
    }

    // MARK: Tags

    private mutating func startTag() throws(ModelFileError) {
        let start = position
        guard root == nil else { throw error("there is a second root element") }
        position += 1
        var element = XMLElement(try name("an element's name"), location: lines.nextLocation(of: start, in: bytes))
        guard open.count < limits.depth else {
            throw error("elements are nested more than \(limits.depth) levels deep", at: start)
        }
        while true {
            let hadSpace = skipSpace()
            if has("/>") {
                position += 2
                return close(element)
            }
            if has(">") {
                position += 1
                open.append(element)
                return
            }
            guard position < bytes.count else { throw error("the file ends inside the tag <\(element.name)") }
            guard hadSpace else { throw error("expected a space, > or /> in the tag <\(element.name)") }
            let location = position
            let attribute = try attribute(of: element.name)
            if element[attribute.name] != nil {
                throw error("<\(element.name)> has the attribute \(attribute.name) twice", at: location)
            }
            element.attributes.append(attribute)
            if element.attributes.count > limits.attributes {
                throw error("<\(element.name)> has more than \(limits.attributes) attributes", at: location)
            }
        }
    }

    private mutating func attribute(of element: String) throws(ModelFileError) -> XMLElement.Attribute {
        let name = try name("an attribute's name in <\(element)>")
        _ = skipSpace()
        guard has("=") else { throw error("expected = after the attribute \(name)") }
        position += 1
        _ = skipSpace()
        guard let quote = byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw error("the value of the attribute \(name) must be in quotes")
        }
        let start = position
        position += 1
        let value = try content(until: quote, isAttribute: true)
        guard byte == quote else { throw error("the value of the attribute \(name) does not end", at: start) }
        position += 1
        return XMLElement.Attribute(name, value)
    }

    private mutating func endTag() throws(ModelFileError) {
        let start = position
        position += 2
        let name = try name("an element's name")
        _ = skipSpace()
        guard has(">") else { throw error("expected > after </\(name)") }
        position += 1
        guard let element = open.popLast() else { throw error("</\(name)> has no start tag", at: start) }
        guard element.name == name else {
            throw error("expected </\(element.name)>, found </\(name)>", at: start)
        }
        close(element)
    }

    private mutating func close(_ element: XMLElement) {
        var element = element
        element.text = element.text.trimmed
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
}

extension String {
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
