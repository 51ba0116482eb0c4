import Testing

@testable import StrataModel

/// The columns that text takes in a terminal.
@Suite struct TextWidthTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("Größe", 5), ("e\u{301}", 1), ("\u{301}", 0), ("漢字", 4), ("ｶﾞ", 2), ("ガ", 2),
        ("か\u{3099}", 2),
        ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("Ｈｉ", 4), ("\u{3000}", 2), ("…", 1), ("█", 1), ("─", 1),
    ])
    func lettersAndMarks(text: String, width: Int) { #expect(TextWidth.of(text) == width) }

    @Test(arguments: [
        ("😀", 2), ("👍🏽", 2), ("☝🏽", 2), ("👩‍👩‍👧‍👦", 2), ("👩🏽‍🚀", 2), ("🇩🇪", 2), ("🇩🇪🇫🇷", 4), ("🇩", 1), ("❤️", 2), ("❤", 1),
        ("1️⃣", 2), ("1", 1), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2), ("⌚", 2), ("™", 1), ("🪿", 2),
    ])
    func emojiAreOnePicture(text: String, width: Int) { #expect(TextWidth.of(text) == width) }

    @Test(arguments: [
        ("שלום", 4), ("مرحبا", 5), ("שָׁ", 1), ("\u{200F}a\u{200E}", 1), ("a\u{200B}b", 2), ("\u{FEFF}", 0),
        ("so\u{AD}ft", 5),
        ("ภาษาไทยสำ", 9), ("हिन्दी", 5), ("\u{600}1", 2),
    ])
    func otherScripts(text: String, width: Int) { #expect(TextWidth.of(text) == width) }

    /// Every bound of a range, and what is next to it.
    @Test func rangesOfTheTableAreClosed() throws {
        let bounds = WideCharacters.bounds
        #expect(bounds.count % 2 == 0 && bounds.count > 100 && zip(bounds, bounds.dropFirst()).allSatisfy { $0 <= $1 })
        func width(_ value: UInt32) -> Int? {
            Unicode.Scalar(value).flatMap { scalar in
                // Marks, Hangul's vowels and pictures of emoji have rules of their own.
                let category = scalar.properties.generalCategory
                let hasRule =
                    scalar.properties.isEmojiPresentation || 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value
                    || [.nonspacingMark, .enclosingMark, .format].contains(category)
                return hasRule ? nil : TextWidth.of(Character(scalar))
            }
        }
        for index in stride(from: 0, to: bounds.count, by: 2) {
            let (first, last) = (bounds[index], bounds[index + 1])
            for (value, expected) in [(first - 1, 1), (first, 2), (last, 2), (last + 1, 1)] {
                #expect(width(value) ?? expected == expected, "\(String(value, radix: 16))")
            }
        }
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("漢字漢", 5, "漢字…"), ("漢字漢", 4, "漢…"), ("👩🏽‍🚀👩🏽‍🚀", 3, "👩🏽‍🚀…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("abc", 1, "…"),
    ])
    func aTextIsCutBetweenCharacters(text: String, columns: Int, expected: String) {
        #expect(TextWidth.cut(text, to: columns) == expected)
    }

    @Test func whatDrivesATerminalIsKnown() {
        let driving = "\n\u{1B}\u{7F}\u{9B}\u{85}\u{202E}\u{2066}\u{2069}\u{2028}\u{2029}\u{0}"
        #expect(driving.unicodeScalars.allSatisfy { $0.drivesTerminal })
        #expect(!"aé漢👩🏽‍🚀 \u{200F}\u{301}".unicodeScalars.contains { $0.drivesTerminal })
    }
}
