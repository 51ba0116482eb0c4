import Foundation
import StrataModel
import StrataTestSupport
import Testing

struct TextFoldingTests {
    private static let both: StringFolding = [.caseInsensitive, .diacriticInsensitive]

    private func fold(_ text: String, _ folding: StringFolding = []) -> [Unicode.Scalar] {
        Array(TextFolding.fold(text, folding).unicodeScalars)
    }

    private func fold(_ bytes: [UInt8], _ folding: StringFolding, limit: Int = .max) -> [UInt8] {
        var writer = ByteWriter()
        bytes.withUnsafeBufferPointer { TextFolding.fold($0, folding, into: &writer, limit: limit) }
        return writer.array
    }

    @Test func caseAndDiacriticsFold() {
        #expect(fold("Straße", .caseInsensitive) == Array("strasse".unicodeScalars))
        #expect(fold("ÅNGSTRÖM", .caseInsensitive) == Array("ångström".unicodeScalars))
        #expect(fold("ÅNGSTRÖM", .diacriticInsensitive) == Array("ANGSTROM".unicodeScalars))
        #expect(fold("Zoë Ōe Ünal", Self.both) == Array("zoe oe unal".unicodeScalars))
        #expect(fold("Ǖ", Self.both) == Array("u".unicodeScalars))
        #expect(fold("İ", Self.both) == Array("i".unicodeScalars))
        #expect(fold("ØŁ", Self.both) == Array("øł".unicodeScalars), "a bar or stroke is no mark")
        #expect(fold("ΣΊΣΥΦΟΣ", Self.both) == fold("σίσυφος", Self.both))
        #expect(fold("ガ", .diacriticInsensitive) == Array("カ".unicodeScalars))
        #expect(fold("Plain ASCII 9", .caseInsensitive) == Array("plain ascii 9".unicodeScalars))
        #expect(fold("Plain ASCII 9", .diacriticInsensitive) == Array("Plain ASCII 9".unicodeScalars))
    }

    @Test func canonicallyEquivalentTextsAreEqual() {
        #expect(fold("e\u{301}") == ["\u{E9}"])
        #expect(fold("\u{212B}") == ["\u{C5}"])
        #expect(fold("q\u{307}\u{323}") == fold("q\u{323}\u{307}"))
        #expect(fold("\u{1112}\u{1161}\u{11AB}") == ["\u{D55C}"])
        #expect(fold("abce\u{301}") == Array("abc\u{E9}".unicodeScalars))
        #expect(fold("é\u{323}") == fold("ẹ\u{301}"))
        #expect(fold("\u{1FB3}\u{301}", .caseInsensitive) == fold("\u{1FB4}", .caseInsensitive))
    }

    @Test func illFormedBytesBecomeReplacementsAsInString() {
        let examples: [[UInt8]] = [
            [0x80], [0xC3], [0xC3, 0x41], [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98],
            [0xF5, 0x80], [0xC0, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0x41, 0xFF, 0x42], [0xE0, 0x80, 0x80],
            [0xF0, 0x80, 0x80, 0x41], [0xC3, 0xA9, 0xCC],
        ]
        for bytes in examples {
            #expect(fold(bytes, []) == Array(String(decoding: bytes, as: UTF8.self).utf8), "\(bytes.hex)")
        }
    }

    @Test func randomBytesNeverTrapAndFoldTwiceAlike() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1_000 {
            let count = Int.random(in: 0..<30, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            for raw in 0..<4 as Range<UInt8> {
                let folding = StringFolding(rawValue: raw)
                let once = fold(bytes, folding)
                #expect(String(validating: once, as: UTF8.self) != nil)
                #expect(fold(once, folding) == once)
            }
        }
    }

    @Test func aLimitKeepsTheFirstBytes() {
        let text = Array(String(repeating: "Crème Brûlée e\u{301}\u{323} 한국 ", count: 4).utf8)
        for raw in 0..<4 as Range<UInt8> {
            let whole = fold(text, StringFolding(rawValue: raw))
            for limit in 0...(whole.count + 1) {
                let cut = fold(text, StringFolding(rawValue: raw), limit: limit)
                #expect(cut.prefix(limit) == whole.prefix(limit))
                #expect(cut.count <= max(limit, 0) + 32 || cut.count == whole.count)
            }
        }
    }

    @Test func longRunsOfMarksAreOrderedQuickly() {
        func time(_ count: Int) -> Double {
            let marks = (0..<count).map { $0 % 2 == 0 ? "\u{301}" as Unicode.Scalar : "\u{323}" }
            var text = "e"
            text.unicodeScalars.append(contentsOf: marks)
            var folded: [Unicode.Scalar] = []
            let time = processorTime { folded = fold(text) }
            #expect(folded.count == count && folded.first == "\u{1EB9}")
            return time
        }
        // Quadratic time would be 256 times as much.
        let (few, many) = (time(20_000), time(320_000))
        #expect(many < few * 80, "\(few) s, \(many) s")
    }

    // MARK: Against Python's unicodedata (Scripts/unicode-tables.py --digests)

    static let digests: [(StringFolding, scalars: UInt64, strings: UInt64)] = [
        ([], 0x8ADF_A831_99FC_F053, 0x8361_BF8A_BBF7_0674),
        (.diacriticInsensitive, 0x68EE_DEC9_A808_04AF, 0x65E2_6838_8A9B_A1C8),
        (.caseInsensitive, 0x1A82_9215_0D17_B088, 0xD6C4_4F05_31BB_2D57),
        (both, 0x826F_ECCC_8447_F40C, 0x1923_9185_02F2_A4FD),
    ]

    private struct Digest {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
            state = (state ^ 0xFF) &* 0x100_0000_01B3
        }
    }

    @Test(arguments: digests) func everyScalarFoldsAsTheUnicodeDatabaseSays(
        folding: StringFolding, scalars: UInt64, strings: UInt64
    ) {
        var digest = Digest()
        var writer = ByteWriter()
        let examined: [Range<UInt32>] = [0..<0x3_0000, 0xE_0000..<0xE_0200]
        for value in examined.joined() {
            guard let scalar = Unicode.Scalar(value) else { continue }
            writer.reset()
            UTF8.encode(scalar).map(Array.init)?.withUnsafeBufferPointer {
                TextFolding.fold($0, folding, into: &writer)
            }
            digest.add(writer.bytes)
        }
        #expect(digest.state == scalars)
    }

    @Test(arguments: digests) func randomTextsFoldAsTheUnicodeDatabaseSays(
        folding: StringFolding, scalars: UInt64, strings: UInt64
    ) {
        let dense: [Range<UInt32>] = [
            0x41..<0x7B, 0xC0..<0x250, 0x300..<0x370, 0x370..<0x460, 0x591..<0x5C8, 0x64B..<0x660, 0x900..<0xA00,
            0xB3C..<0xB58, 0xBBE..<0xBD8, 0xDCA..<0xDE0, 0x1100..<0x1200, 0x1B05..<0x1B45, 0x1E00..<0x2000,
            0x3040..<0x3100, 0xAC00..<0xAC40, 0xF900..<0xF940, 0xFB00..<0xFB50, 0x11099..<0x110BB, 0x11131..<0x11148,
            0x1D15E..<0x1D18C,
        ]
        let pool = dense.joined().compactMap { Unicode.Scalar($0) }
        var digest = Digest()
        var writer = ByteWriter()
        var state: UInt64 = 1
        for _ in 0..<4_000 {
            var text = ""
            for _ in 0..<8 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.unicodeScalars.append(pool[Int(state >> 33) % pool.count])
            }
            writer.reset()
            text.withUTF8 { TextFolding.fold($0, folding, into: &writer) }
            digest.add(writer.bytes)
        }
        #expect(digest.state == strings)
    }
}
