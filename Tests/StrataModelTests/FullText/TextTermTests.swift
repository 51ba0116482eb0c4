import Foundation
import Testing

@testable import StrataModel

/// Words of text, and the terms that are made of them.
@Suite struct TextTermTests {
    /// Texts with their words as Perl's `\b{wb}` cuts them (Unicode 14.0): the segments with a letter or number.
    static let cases: [(String, [String])] = [
        ("\u{6F22}.Z\u{AD},0", ["\u{6F22}", "Z\u{AD}", "0"]),
        ("aX\u{41F}\u{1F600}\u{5D0}\u{1F600},\u{22}ac-", ["aX\u{41F}", "\u{5D0}", "ac"]),
        ("\u{E17};\u{AC00}a", ["\u{E17}", "\u{AC00}a"]),
        (".\u{5D0}\u{3042};\u{41F}\u{30AB}", ["\u{5D0}", "\u{3042}", "\u{41F}", "\u{30AB}"]),
        ("\u{30BF}\u{664}\u{5B57}'Ya", ["\u{30BF}", "\u{664}", "\u{5B57}", "Ya"]),
        ("\u{E34}0\u{440}", ["0\u{440}"]),
        ("\u{FF21}a_1,\u{30BF}\u{1F600}\u{6F22}\u{22}", ["\u{FF21}a_1", "\u{30BF}", "\u{6F22}"]),
        ("\u{3042}\u{B2}'1'X\u{1100}", ["\u{3042}", "\u{B2}", "1", "X\u{1100}"]),
        ("1\u{6F22};Z\u{1F600}cb\u{200D}\u{664}c\u{E34}_", ["1", "\u{6F22}", "Z", "cb\u{200D}\u{664}c\u{E34}_"]),
        ("\u{2019}\u{6F22}X\u{664}", ["\u{6F22}", "X\u{664}"]),
        ("/ \u{6F22}", ["\u{6F22}"]),
        ("\u{AC00}\u{5B57}_\u{301}c. ;X,\u{22}\u{2019}b", ["\u{AC00}", "\u{5B57}", "_\u{301}c", "X", "b"]),
        (",\u{30BF}\u{2019}\u{440}_\u{5D0}", ["\u{30BF}", "\u{440}_\u{5D0}"]),
        ("\u{B7}\u{30AB}\u{E34}\u{1F600}00X\u{6F22}", ["\u{30AB}\u{E34}", "00X", "\u{6F22}"]),
        ("\u{22}\u{5D1}\u{41F}\u{200D}/1", ["\u{5D1}\u{41F}\u{200D}", "1"]),
        (" \u{301}\u{41F}\u{22}\u{FF21}0\u{30AB}\u{AD}", ["\u{41F}", "\u{FF21}0", "\u{30AB}\u{AD}"]),
        ("Z\u{1100}_',", ["Z\u{1100}_"]),
        ("\u{B7}a \u{440}", ["a", "\u{440}"]),
        ("\u{AD}- ", []),
        ("_b\u{E9}\u{AD}\u{5D0}0\u{FF21}YZ\u{AD}X_'", ["_b\u{E9}\u{AD}\u{5D0}0\u{FF21}YZ\u{AD}X_"]),
        (". ..\u{6F22}'\u{5D0}", ["\u{6F22}", "\u{5D0}"]),
        ("\u{30BF}\u{5B57} \u{B7}0'\u{41F}\u{B7}", ["\u{30BF}", "\u{5B57}", "0", "\u{41F}"]),
        ("\u{301}1a\u{41F}", ["1a\u{41F}"]),
        ("\u{200D}a'\u{5B57}\u{200D}Y._/a9\u{22}1\u{5D1}", ["a", "\u{5B57}\u{200D}", "Y", "a9", "1\u{5D1}"]),
        ("b99", ["b99"]),
        ("0\u{E34}\u{664}\u{440}\u{30AB}\u{B7}\u{6F22}", ["0\u{E34}\u{664}\u{440}", "\u{30AB}", "\u{6F22}"]),
        ("\u{440}\u{AD}c\u{5D1}\u{301}.\u{5D1}c\u{AC00}", ["\u{440}\u{AD}c\u{5D1}\u{301}.\u{5D1}c\u{AC00}"]),
        ("\u{1F600}\u{AC00}\u{1100}Z", ["\u{AC00}\u{1100}Z"]),
        ("0\u{3042}\u{5D0}", ["0", "\u{3042}", "\u{5D0}"]),
        ("1.\u{B2}Y9bb", ["1", "\u{B2}", "Y9bb"]),
        ("\u{5B57}\u{E17}Z", ["\u{5B57}", "\u{E17}", "Z"]),
        ("\u{E34} \u{B2}\u{30AB}b", ["\u{B2}", "\u{30AB}", "b"]),
        ("X\u{22}-;\u{2019}\u{E17}\u{6F22}\u{5D0}\u{6F22}", ["X", "\u{E17}", "\u{6F22}", "\u{5D0}", "\u{6F22}"]),
        (".X\u{41F}Y/\u{664}__\u{E34}\u{E34}\u{AC00}", ["X\u{41F}Y", "\u{664}__\u{E34}\u{E34}\u{AC00}"]),
        ("\u{2019}/.\u{200D}", []),
        ("\u{22}cZ\u{5D0}\u{AC00},\u{2019}\u{2019}", ["cZ\u{5D0}\u{AC00}"]),
        ("\u{AC00}\u{440}\u{AD}X;", ["\u{AC00}\u{440}\u{AD}X"]),
        ("\u{30AB}X\u{5B57}XY,\u{301}YY\u{3042}/", ["\u{30AB}", "X", "\u{5B57}", "XY", "YY", "\u{3042}"]),
        ("a\u{1F600}1\u{1100}\u{6F22}Y_\u{200D}", ["a", "1\u{1100}", "\u{6F22}", "Y_\u{200D}"]),
        ("\u{B2}\u{1F600}\u{200D}.1", ["\u{B2}", "1"]),
        ("-\u{5B57}\u{200D}", ["\u{5B57}\u{200D}"]),
    ]

    private func words(_ text: String) -> [String] {
        var words: [String] = []
        var text = text
        text.withUTF8 { bytes in
            WordBreaks.forEachWord(in: bytes) { range, _ in
                words.append(String(decoding: bytes[range], as: UTF8.self))
                return true
            }
        }
        return words
    }

    private func terms(_ text: String) -> [String] {
        var terms = TextTerms()
        var list: [String] = []
        terms.forEach(in: text) { term, _ in
            list.append(String(decoding: term, as: UTF8.self))
            return true
        }
        return list
    }

    @Test(arguments: cases)
    func wordsAreThoseOfTheStandard(text: String, expected: [String]) {
        #expect(words(text).map { Array($0.unicodeScalars) } == expected.map { Array($0.unicodeScalars) })
    }

    @Test func termsHaveNeitherCaseNorMarks() {
        #expect(terms("Die Straße der ÄPFEL, l’été") == ["die", "strasse", "der", "apfel", "l’ete"])
        #expect(terms("co\u{AD}operate") == ["cooperate"])
        #expect(
            terms("can't stop 3.14 1,000 foo_bar _ a.b key:value x-ray") == [
                "can't", "stop", "3.14", "1,000", "foo_bar", "a.b", "key", "value", "x", "ray",
            ])
        #expect(terms("漢字かなカタカナ") == ["漢", "字", "か", "な", "カタカナ"])
        #expect(terms("") == [] && terms(" \u{1F600}—…") == [])
    }

    @Test func longWordsAreCutAtAScalar() {
        let long = String(repeating: "é漢", count: 1) + String(repeating: "ж", count: 300)
        #expect(terms(long).map(\.utf8.count) == [1, 3, 200])
        #expect(terms(String(repeating: "a", count: 5_000)) == [String(repeating: "a", count: 200)])
    }

    @Test func bytesThatAreNoTextAreNoWords() {
        var terms = TextTerms()
        var list: [String] = []
        let bytes: [UInt8] = [0x61, 0xFF, 0x62, 0xC3, 0x20, 0x63, 0xE2, 0x82]
        bytes.withUnsafeBufferPointer { bytes in
            terms.forEach(in: bytes) { term, _ in
                list.append(String(decoding: term, as: UTF8.self))
                return true
            }
        }
        #expect(list == ["a", "b", "c"])
    }
}
