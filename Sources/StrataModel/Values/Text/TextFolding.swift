// The form in which index keys and operators compare text. NFD and NFC are the normalisation forms of Unicode Standard
// Annex 15, fold is the full case folding of The Unicode Standard (section 3.13, statuses C and F, no Turkic rules), and
// strip removes nonspacing marks (general category Mn):
//
//   plain  NFC(text)
//   [c]    NFC(fold(NFD(text)))
//   [d]    NFC(strip(NFD(text)))
//   [cd]   NFC(strip(NFD(fold(strip(NFD(text))))))
//
// Canonically equivalent texts therefore compare equal, and the bytes of the result are in the order of its scalars.
// Letters whose bar or stroke is not a mark of its own (ø, ł, đ) do not change. Bytes that are not UTF-8 read as U+FFFD.
// The Unicode tables are part of Strata, so that keys do not change with the system.

/// Folds text for comparison, as the head of this file defines it.
package enum TextFolding {
    /// Increases whenever any text folds to other bytes. Indexes record the version that they were built with.
    package static let version: UInt32 = 1

    /// Appends the folded form of `utf8` to `writer`.
    ///
    /// It may stop after `limit` bytes; the first `limit` bytes are those of the complete form.
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
        var offset = plain
        if !folding.isEmpty { offset = FoldedLetters.shared.fold(utf8, from: plain, folding, into: &writer, end: end) }
        guard offset < utf8.count, writer.count < end else { return }
        var folder = Folder(folding, letters: .shared)
        folder.fold(UnsafeBufferPointer(rebasing: utf8[offset...]), into: &writer, end: end)
    }

    /// The folded form as a String.
    package static func fold(_ text: String, _ folding: StringFolding) -> String {
        var text = text
        var writer = ByteWriter(capacity: text.utf8.count)
        text.withUTF8 { fold($0, folding, into: &writer) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The number of bytes at the start that fold byte for byte and do not combine with what follows.
    ///
    /// Reads at most a few bytes past `limit`.
    private static func lengthOfPlainPrefix(
        _ utf8: UnsafeBufferPointer<UInt8>, _ folding: StringFolding, limit: Int
    ) -> Int {
        // The last scalar read is not counted unless the text ends with it, so more than one must fit past the limit.
        let reach = min(utf8.count, limit.addingClamped(8))
        if reach == utf8.count, UnsafeRawBufferPointer(utf8).isASCII { return utf8.count }
        var end = 0
        if folding.isEmpty {
            // Scalars below U+0300 do not compose and are not reordered.
            while end < reach, utf8[end] < 0xCC {
                let scalar = DecodedScalar(utf8, at: end)
                if scalar.value == DecodedScalar.replacement { break }
                end += scalar.length
            }
        } else {
            while end < reach, utf8[end] < 0x80 { end += 1 }
        }
        if end == utf8.count { return end }
        // The last scalar may combine with a mark that follows.
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
            for (offset, byte) in utf8.enumerated() {
                let isUpper = byte &- 0x41 < 26
                target.storeBytes(of: isUpper ? byte | 0x20 : byte, toByteOffset: offset, as: UInt8.self)
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
