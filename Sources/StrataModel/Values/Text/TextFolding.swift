// How text is compared, in index keys and by operators. With NFD and NFC the normalisation forms of Unicode Standard
// Annex 15, fold the full case folding of The Unicode Standard (section 3.13, statuses C and F, no Turkic rules), and
// strip the removal of nonspacing marks (general category Mn):
//
//   plain  NFC(text)
//   [c]    NFC(fold(NFD(text)))
//   [d]    NFC(strip(NFD(text)))
//   [cd]   NFC(strip(NFD(fold(strip(NFD(text))))))
//
// So canonically equivalent texts are equal, and the order of the bytes of the result is the order of its scalars, as
// `String` has it. Letters whose bar or stroke is no mark (ø, ł, đ) stay themselves. Bytes that are not UTF-8 count as
// U+FFFD. The tables are ours, so that keys do not change with the system's.

/// Folds text for comparison; the head of this file is the definition.
package enum TextFolding {
    /// Goes up whenever some text would fold to other bytes; indexes record the one that they were made with.
    package static let version: UInt32 = 1
    /// The Unicode version of the tables.
    package static let unicodeVersion = UnicodeData.version

    /// Appends the folded form of `utf8` to `writer`.
    ///
    /// It may stop once `limit` bytes or more are written, for callers that look at no more; the first `limit` bytes
    /// are those of the whole form.
    package static func fold(
        _ utf8: UnsafeBufferPointer<UInt8>, _ folding: StringFolding, into writer: inout ByteWriter,
        limit: Int = .max
    ) {
        let plain = lengthOfPlainPrefix(utf8, folding, limit: limit)
        let start = writer.count
        let taken = min(plain, limit)
        appendPlain(UnsafeBufferPointer(rebasing: utf8[..<taken]), folding, to: &writer)
        guard plain < utf8.count, taken == plain else { return }
        let end = limit.addingClamped(start)
        var place = plain
        if !folding.isEmpty { place = FoldedLetters.shared.fold(utf8, from: plain, folding, into: &writer, end: end) }
        guard place < utf8.count, writer.count < end else { return }
        var folder = Folder(folding, letters: .shared)
        folder.fold(UnsafeBufferPointer(rebasing: utf8[place...]), into: &writer, end: end)
    }

    /// The folded form as a String.
    package static func fold(_ text: String, _ folding: StringFolding) -> String {
        var text = text
        var writer = ByteWriter(capacity: text.utf8.count)
        text.withUTF8 { fold($0, folding, into: &writer) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// How many bytes from the start fold by themselves, byte for byte, and cannot join with what follows.
    ///
    /// Looks no further than a few bytes behind `limit`.
    private static func lengthOfPlainPrefix(
        _ utf8: UnsafeBufferPointer<UInt8>, _ folding: StringFolding, limit: Int
    ) -> Int {
        // The last scalar seen is not counted unless the text ends with it, so more than one has to fit behind the limit.
        let reach = min(utf8.count, limit.addingClamped(8))
        if reach == utf8.count, UnsafeRawBufferPointer(utf8).isASCII { return utf8.count }
        var end = 0
        if folding.isEmpty {
            // Below U+0300 nothing composes or is reordered.
            while end < reach, utf8[end] < 0xCC {
                let scalar = DecodedScalar(utf8, at: end)
                if scalar.value == DecodedScalar.replacement { break }
                end += scalar.length
            }
        } else {
            while end < reach, utf8[end] < 0x80 { end += 1 }
        }
        if end == utf8.count { return end }
        // The last scalar may take in a mark that follows.
        while end > 0 {
            end -= 1
            if utf8[end] & 0xC0 != 0x80 { break }
        }
        return end
    }

    private static func appendPlain(
        _ utf8: UnsafeBufferPointer<UInt8>, _ folding: StringFolding, to writer: inout ByteWriter
    ) {
        guard folding.contains(.caseInsensitive) else { return writer.append(UnsafeRawBufferPointer(utf8)) }
        writer.append(count: utf8.count) { target in
            for (place, byte) in utf8.enumerated() {
                let isUpper = byte &- 0x41 < 26
                target.storeBytes(of: isUpper ? byte | 0x20 : byte, toByteOffset: place, as: UInt8.self)
            }
        }
    }
}

extension Int {
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
