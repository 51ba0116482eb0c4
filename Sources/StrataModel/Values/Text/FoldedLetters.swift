/// The folded forms of letters below U+0600 (Latin, Greek, Cyrillic, Armenian, Hebrew), computed once: a fast path for most
/// accented text. They apply to letters that no combining mark follows.
final class FoldedLetters: Sendable {
    /// Computed when the first non-ASCII text is folded, in about a millisecond.
    static let shared = FoldedLetters()

    private static let scalars: Range<UInt32> = 0x80..<0x600
    /// Marks a form that is longer than seven bytes and not kept.
    private static let unknown: UInt64 = 0xFF

    /// The forms of each scalar under each folding: the length in the low byte, the bytes of the form above it.
    private let forms: [UInt64]

    private init() {
        var forms: [UInt64] = []
        var writer = ByteWriter()
        for folding in 0..<4 as Range<UInt8> {
            for scalar in Self.scalars {
                writer.reset()
                writer.append(scalar: scalar)
                let text = writer.array
                writer.reset()
                var folder = Folder(StringFolding(rawValue: folding), letters: nil)
                text.withUnsafeBufferPointer { folder.fold($0, into: &writer, end: .max) }
                let bytes = writer.bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
                forms.append(writer.count > 7 ? Self.unknown : bytes << 8 | UInt64(writer.count))
            }
        }
        self.forms = forms
    }

    /// Folds the text from `start` up to the first scalar that may combine with its neighbour.
    ///
    /// It may stop when the writer holds `end` bytes.
    /// - Returns: the offset of the first byte that is not folded.
    func fold(
        _ utf8: UnsafeBufferPointer<UInt8>, from start: Int, _ folding: StringFolding, into writer: inout ByteWriter,
        end: Int
    ) -> Int {
        let upperBit: UInt8 = folding.contains(.caseInsensitive) ? 0x20 : 0
        var offset = start
        while offset < utf8.count, writer.count < end {
            let byte = utf8[offset]
            let next = offset + (byte < 0x80 ? 1 : 2)
            guard next <= utf8.count, byte < 0xCC, next == utf8.count || utf8[next] < 0xCC else { break }
            if byte < 0x80 {
                writer.append(byte &- 0x41 < 26 ? byte | upperBit : byte)
            } else {
                let second = utf8[offset + 1]
                guard byte >= 0xC2, second & 0xC0 == 0x80,
                    append(UInt32(byte & 0x1F) << 6 | UInt32(second & 0x3F), folding, to: &writer)
                else { break }
            }
            offset = next
        }
        return offset
    }

    /// Appends the folded form of a scalar; returns false and appends nothing if its form is not kept.
    func append(_ scalar: UInt32, _ folding: StringFolding, to writer: inout ByteWriter) -> Bool {
        guard Self.scalars.contains(scalar) else { return false }
        let index = Int(folding.rawValue & 3) * Self.scalars.count + Int(scalar - Self.scalars.lowerBound)
        let form = forms[index]
        if form == Self.unknown { return false }
        let end = writer.count + Int(form & 0xFF)
        writer.append(littleEndian: form >> 8)
        writer.truncate(to: end)
        return true
    }
}
