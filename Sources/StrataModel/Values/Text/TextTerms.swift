/// Cuts text into terms: its words without case, diacritical marks and format characters.
///
/// A term is at most 200 bytes of UTF-8; longer words are cut. Terms depend on nothing but the text, so that views made
/// of them are the same everywhere.
package struct TextTerms: ~Copyable {
    /// Increases whenever any text gives other terms.
    package static let version: UInt32 = 1
    /// The longest term, in bytes.
    package static let longest = 200

    private var term = ByteWriter(capacity: 256)
    private var word = ByteWriter(capacity: 256)

    package init() {}

    /// Calls `body` with each term in order, and the bytes of its word in the text, until it returns false. The bytes of
    /// the term are valid during the call.
    @inline(__always)
    package mutating func forEach(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Bool
    ) rethrows {
        try WordBreaks.forEachWord(in: text) { range, isASCII in
            term.reset()
            if isASCII, range.count <= Self.longest {
                term.append(count: range.count) { target in
                    for (index, offset) in range.enumerated() {
                        let byte = text[offset]
                        target.storeBytes(
                            of: byte &- 0x41 < 26 ? byte | 0x20 : byte, toByteOffset: index, as: UInt8.self)
                    }
                }
            } else {
                fold(UnsafeBufferPointer(rebasing: text[range]))
                // A word of marks alone has no term.
                if term.count == 0 { return true }
            }
            return try body(term.bytes, range)
        }
    }

    /// Calls `body` with the terms of a string.
    package mutating func forEach(
        in text: String, _ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Bool
    ) rethrows {
        var text = text
        try text.withUTF8 { try forEach(in: $0, body) }
    }

    private mutating func fold(_ bytes: UnsafeBufferPointer<UInt8>) {
        word.reset()
        var offset = 0
        while offset < bytes.count {
            let scalar = DecodedScalar(bytes, at: offset)
            offset += scalar.length
            if !Self.isFormat(scalar.value) { word.append(scalar: scalar.value) }
        }
        let folding: StringFolding = [.caseInsensitive, .diacriticInsensitive]
        word.bytes.withMemoryRebound(to: UInt8.self) { TextFolding.fold($0, folding, into: &term) }
        guard term.count > Self.longest else { return }
        var end = Self.longest
        while end > 0, term.bytes[end] & 0xC0 == 0x80 { end -= 1 }
        term.truncate(to: end)
    }

    /// Format characters, which readers do not see: soft hyphens, joiners, marks of direction.
    private static func isFormat(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xAD, 0x061C, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0xFEFF: true
        default: false
        }
    }
}
