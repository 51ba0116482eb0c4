/// Measures the columns of a terminal that text takes, and cuts text to some columns.
///
/// The text has no scalars that drive a terminal: they are escaped before. Terminals differ on rare text; this is what most
/// of them do. East Asian Width W and F and emoji take two columns, marks that combine and invisible characters none.
package enum TextWidth {
    package static func of(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    package static func of(_ character: Character) -> Int {
        if character.isASCII { return 1 }
        let scalars = character.unicodeScalars
        // A sequence of emoji is drawn as one picture.
        if scalars.contains(where: { $0.properties.isEmojiPresentation && !isRegionalIndicator($0) }) { return 2 }
        if scalars.count > 1, scalars.first?.properties.isEmoji ?? false, scalars.contains("\u{FE0F}") { return 2 }
        return scalars.reduce(0) { $0 + of($1) }
    }

    /// The text, or as much of its beginning as fits into the columns with an ellipsis.
    package static func cut(_ text: String, to columns: Int) -> String {
        of(text) > columns ? prefix(text, columns - 1) + "…" : text
    }

    /// Returns as much of the beginning as fits into the columns.
    private static func prefix(_ text: String, _ columns: Int) -> Substring {
        var left = columns
        return text.prefix { character in
            left -= of(character)
            return left >= 0
        }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: 0
        // A soft hyphen is drawn, and so are signs that stand before the numbers that they are about.
        case .format: scalar == "\u{AD}" || isBeforeNumbers(scalar) ? 1 : 0
        // The vowels and last consonants of a Hangul syllable are drawn inside its first consonant.
        case _ where isInSyllable(scalar): 0
        default: isWide(scalar.value) ? 2 : 1
        }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        0x1F1E6...0x1F1FF ~= scalar.value
    }

    private static func isInSyllable(_ scalar: Unicode.Scalar) -> Bool {
        0x1160...0x11FF ~= scalar.value || 0xD7B0...0xD7FF ~= scalar.value
    }

    private static func isBeforeNumbers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x600...0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD: true
        default: false
        }
    }

    /// Whether a range of the table has the scalar.
    private static func isWide(_ scalar: UInt32) -> Bool {
        var (low, high) = (0, WideCharacters.bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if WideCharacters.bounds[middle] < scalar { low = middle + 1 } else { high = middle }
        }
        // The first bound that is not below it: a last one, or the scalar itself.
        return low < WideCharacters.bounds.count && (low % 2 == 1 || WideCharacters.bounds[low] == scalar)
    }
}

extension Unicode.Scalar {
    /// Whether the scalar could control a terminal, end a line, or change the direction of the text after it (Unicode annex
    /// 9: embeddings, overrides, isolates).
    package var drivesTerminal: Bool {
        switch value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
        }
    }
}
