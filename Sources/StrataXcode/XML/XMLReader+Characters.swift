// Reads names, text and references in XML, and converts offsets to locations.

extension XMLReader {
    var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    func has(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            position + text.count <= bytes.count
                && (0..<text.count).allSatisfy { bytes[position + $0] == text[$0] }
        }
    }

    mutating func skip(_ text: StaticString) {
        if has(text) { position += text.utf8CodeUnitCount }
    }

    /// Skips white space.
    ///
    /// - Returns: whether there was any.
    mutating func skipSpace() -> Bool {
        let start = position
        while let byte, Self.isSpace(byte) { position += 1 }
        return position > start
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Reads a name: letters, digits, `_ : - .` and any non-ASCII characters.
    mutating func name(_ what: String) throws(ModelFileError) -> String {
        let start = position
        while let byte, Self.isOfName(byte) { position += 1 }
        guard position > start, !(0x30...0x39).contains(bytes[start]), bytes[start] != 0x2D, bytes[start] != 0x2E else {
            throw error("expected \(what)", at: start)
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x5F, 0x3A, 0x2D, 0x2E, 0x80...: true
        default: false
        }
    }

    /// Skips `opening`, and reads the text up to `closing`, which it skips too.
    mutating func text(
        after opening: StaticString, until closing: StaticString, _ what: String
    ) throws(ModelFileError) -> String {
        let start = position
        position += opening.utf8CodeUnitCount
        let first = position
        while position < bytes.count, !has(closing) { position += 1 }
        guard position < bytes.count else { throw error("\(what) does not end", at: start) }
        defer { position += closing.utf8CodeUnitCount }
        return String(decoding: bytes[first..<position], as: UTF8.self)
    }

    /// Reads text up to `end` or the end of the file. It resolves references and converts line ends to newlines. In
    /// attribute values, white space becomes a space unless it is written as a reference.
    mutating func content(until end: UInt8, isAttribute: Bool) throws(ModelFileError) -> String {
        var result: [UInt8] = []
        while let byte, byte != end {
            switch byte {
            case UInt8(ascii: "&"):
                result.append(contentsOf: try reference().utf8)
                continue
            case UInt8(ascii: "<"):
                throw error("< must be written as &lt;")
            case 0x0D:
                if position + 1 < bytes.count, bytes[position + 1] == 0x0A { position += 1 }
                result.append(isAttribute ? 0x20 : 0x0A)
            case 0x09, 0x0A:
                result.append(isAttribute ? 0x20 : byte)
            case ..<0x20:
                throw error("the control character \(byte) is not allowed")
            default:
                result.append(byte)
            }
            position += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Reads a reference: one of the five entities of XML, or a character by number. Other entities are errors.
    private mutating func reference() throws(ModelFileError) -> String {
        let start = position
        position += 1
        let first = position
        while let byte, byte != UInt8(ascii: ";"), position - first < 12 { position += 1 }
        guard byte == UInt8(ascii: ";"), position > first else { throw error("& must be written as &amp;", at: start) }
        let name = String(decoding: bytes[first..<position], as: UTF8.self)
        position += 1
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else { throw error("the entity &\(name); is not known", at: start) }
        let isHexadecimal = name.hasPrefix("#x")
        guard let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(number), XMLText.isAllowed(scalar)
        else { throw error("&\(name); is not a character", at: start) }
        return String(Character(scalar))
    }
}

/// The offsets of the lines of a file, to convert offsets to locations.
struct LineTable {
    private let starts: [Int]
    /// The last location, from which columns further on the same line are counted.
    private var last = (offset: 0, location: FileLocation(line: 1, column: 1))

    init(_ bytes: [UInt8]) {
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == 0x0A { starts.append(offset + 1) }
        self.starts = starts
    }

    func location(of offset: Int, in bytes: [UInt8]) -> FileLocation {
        var low = 0, high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        let isOn = last.location.line == low + 1 && last.offset <= offset
        let (start, column) = isOn ? (last.offset, last.location.column) : (starts[low], 1)
        let rest = bytes[start..<max(start, min(offset, bytes.count))]
        // Continuation bytes of a scalar do not count.
        return FileLocation(line: low + 1, column: rest.reduce(column) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 })
    }

    /// The location of an offset that is after the last one. It counts from there, because the file can be one long
    /// line.
    mutating func nextLocation(of offset: Int, in bytes: [UInt8]) -> FileLocation {
        let location = location(of: offset, in: bytes)
        last = (offset, location)
        return location
    }
}

enum UTF8Check {
    /// The offset of the first byte that is not UTF-8.
    static func firstInvalidByte(in bytes: [UInt8]) -> Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}
