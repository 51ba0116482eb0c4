@testable import StrataStore
import StrataTestSupport
import Testing

struct CaselessSearchTests {
    private func isFound(_ part: String, in text: String) -> Bool? {
        guard let search = CaselessSearch(Array(part.utf8)) else { return nil }
        return Array(text.utf8).withUnsafeBytes { search.isFound(in: $0) }
    }

    @Test func onlyAsciiIsSearchedFor() {
        #expect(isFound("", in: "abc") == nil)
        #expect(isFound("é", in: "abc") == nil)
        #expect(isFound("a", in: "") == false)
        #expect(isFound("ab", in: "A") == false)
    }

    @Test func signsBesideLettersAreNotTakenForThem() {
        // Each differs from the other in the bit that tells upper from lower case.
        for (one, other) in [("@", "`"), ("[", "{"), ("\\", "|"), ("]", "}"), ("^", "~"), ("_", "\u{7F}"), (" ", "\0")]
        {
            for padding in ["", "xxxxxxxxxxx"] {
                #expect(isFound(one, in: padding + other) == false)
                #expect(isFound(other, in: other + padding) == true)
                #expect(isFound("k" + one, in: padding + "K" + other) == false)
                #expect(isFound("k" + one, in: padding + "K" + one + padding) == true)
            }
        }
    }

    @Test(arguments: RandomTesting.seeds) func whatIsFoundIsWhatLowercaseTextContains(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = Array("aAbB1 @`")
        for _ in 0..<5000 {
            let text = String(
                (0..<Int.random(in: 0...40, using: &random)).map { _ in letters.randomElement(using: &random)! })
            let part = String(
                (0..<Int.random(in: 1...5, using: &random)).map { _ in letters.randomElement(using: &random)! }
            ).lowercased()
            let bytes = Array(text.lowercased().utf8), wanted = Array(part.utf8)
            let holds = bytes.indices.contains { bytes[$0...].starts(with: wanted) }
            #expect(isFound(part, in: text) == holds, "\(part) in \(text)")
        }
    }
}
