/// What letters below U+0600 (Latin, Greek, Cyrillic, Armenian, Hebrew) fold to when no mark follows, made in advance:
/// most accented text is nothing else.
final class FoldedLetters: Sendable {
    /// Made, in about a millisecond, when the first text beyond ASCII is folded.
    static let shared = FoldedLetters()

    private static let scalars: Range<UInt32> = 0x80..<0x600
    /// The bytes of a form that is longer than seven are not kept.
    private static let unknown: UInt64 = 0xFF

    /// For each folding and each scalar: the length, and above it the bytes.
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

    /// Folds letters below U+0300, of which none joins another, up to the first that something else may join.
    ///
    /// - Returns: where it ended; may stop when the writer holds `end` bytes.
    func fold(
        _ utf8: UnsafeBufferPointer<UInt8>, from start: Int, _ folding: StringFolding, into writer: inout ByteWriter,
        end: Int
    ) -> Int {
        let upperBit: UInt8 = folding.contains(.caseInsensitive) ? 0x20 : 0
        var place = start
        while place < utf8.count, writer.count < end {
            let byte = utf8[place]
            let next = place + (byte < 0x80 ? 1 : 2)
            guard next <= utf8.count, byte < 0xCC, next == utf8.count || utf8[next] < 0xCC else { break }
            if byte < 0x80 {
                writer.append(byte &- 0x41 < 26 ? byte | upperBit : byte)
            } else {
                let second = utf8[place + 1]
                guard byte >= 0xC2, second & 0xC0 == 0x80,
                    append(UInt32(byte & 0x1F) << 6 | UInt32(second & 0x3F), folding, to: &writer)
                else { break }
            }
            place = next
        }
        return place
    }

    /// False, and nothing appended, for a scalar that is not kept here.
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
