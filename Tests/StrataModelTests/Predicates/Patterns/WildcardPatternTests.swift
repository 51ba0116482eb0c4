@testable import StrataModel
import StrataTestSupport
import Testing

@Suite struct WildcardPatternTests {
    private func matches(_ pattern: String, _ text: String) throws -> (holds: Bool, steps: Int) {
        var steps = 0
        let holds = try Array(text.utf8).withUnsafeBytes { try WildcardPattern(pattern, []).matches($0, steps: &steps) }
        return (holds, steps)
    }

    @Test(arguments: [
        ("", "", true), ("", "a", false), ("*", "", true), ("**", "ab", true), ("?", "", false), ("?", "é", true),
        ("?", "ab", false), ("a*", "abc", true), ("*c", "abc", true), ("*b", "abc", false), ("a*c", "ac", true),
        ("ab*ba", "aba", false), ("ab*ba", "abba", true), ("*?b", "b", false), ("*?b", "ab", true), ("a?*", "a", false),
        ("*a?c*", "xabcx", true), ("*a?c*", "xaécx", true), ("*a?c*", "xacx", false), ("?*?", "a", false),
        ("?*?", "ab", true), ("*a*a*a*", "aa", false), ("*a*a*a*", "aaa", true), ("a\\*b", "a*b", true),
        ("a\\*b", "axb", false), ("a\\?", "a?", true), ("a\\", "a\\", true), ("*ab?", "abab€", true),
        ("?a*", "€abc", true), ("a??", "a€", false), ("*é", "caf\u{E9}", true), ("a?b*c?d", "axbyycxd", true),
    ])
    func wholeTextsMatch(pattern: String, text: String, expected: Bool) throws {
        #expect(try matches(pattern, text).holds == expected)
    }

    /// Many stars over a text that nearly matches take no more than a few comparisons a byte.
    @Test(arguments: [
        String(repeating: "*a", count: 30_000) + "*b", "*" + String(repeating: "a", count: 30_000) + "b*",
        "*" + String(repeating: "a", count: 10_000) + "*" + String(repeating: "a", count: 50_001) + "*",
        String(repeating: "a*", count: 20_000) + "b",
    ])
    func manyStarsAreLinear(pattern: String) throws {
        let text = String(repeating: "a", count: 60_000)
        let (holds, steps) = try matches(pattern, text)
        #expect(!holds)
        #expect(steps <= 20 * (text.utf8.count + pattern.utf8.count), "\(steps)")
    }

    /// A question mark between letters makes a search that is not linear; it ends with an error.
    @Test func questionMarksBetweenLettersAreStopped() throws {
        let pattern = "*" + String(repeating: "a?", count: 15_000) + "b*"
        let text = String(repeating: "a", count: 60_000)
        let error = #expect(throws: WildcardPattern.Exhausted.self) { try matches(pattern, text) }
        #expect(error?.steps == PatternMatcher.Limits.steps)
        let predicate = FetchPredicate.comparison(
            ComparisonPredicate(.constant(.string(text)), .like, .constant(.string(pattern))))
        let refusal = #expect(throws: StrataError.self) { try predicate.evaluate { (_) -> AttributeValue in .null } }
        #expect(refusal?.code == .invalidRequest && refusal?.message.contains("10000000 steps") == true)
    }

    /// Every pattern of a small language against short texts, compared with a matcher that tries all ways.
    @Test(arguments: RandomTesting.seeds) func agreesWithTryingAllWays(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let pattern = String(
                (0..<Int.random(in: 0...7, using: &random)).map { _ in "ab€?**".randomElement(using: &random)! })
            let text = String(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in "ab€".randomElement(using: &random)! })
            #expect(try matches(pattern, text).holds == Self.isLike(text[...], pattern[...]), "\(pattern) on \(text)")
        }
    }

    private static func isLike(_ text: Substring, _ pattern: Substring) -> Bool {
        guard let sign = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch sign {
        case "*": return isLike(text, rest) || !text.isEmpty && isLike(text.dropFirst(), pattern)
        case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
        default: return text.first == sign && isLike(text.dropFirst(), rest)
        }
    }
}
