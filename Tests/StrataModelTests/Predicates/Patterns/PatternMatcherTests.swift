import StrataModel
import Testing

struct PatternMatcherTests {
    @Test(arguments: [
        ("", "", true), ("", "a", false), ("a", "a", true), ("a", "A", false), ("a", "aa", false), ("abc", "abc", true),
        ("a.c", "abc", true), ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true), (".", "é", true), (".", "😀", true),
        ("[abc]+", "cab", true), ("[^abc]+", "xyz", true), ("[^abc]+", "xyza", false), ("[a-z0-9_]*", "a_9", true),
        ("[]a]+", "]a", true), ("[a-]+", "a-", true), ("[\\]]", "]", true), ("[\\d.]+", "1.5", true),
        ("\\d{4}-\\d{2}", "2024-07", true), ("\\d{4}-\\d{2}", "2024-7", false), ("\\d", "٣", true),
        ("\\D+", "abc", true), ("\\w+", "größe_1", true), ("\\W", "-", true), ("\\s*", " \t\n", true),
        ("\\S+", "a b", false), ("\\h\\v", " \n", true), ("\\p{Lu}\\p{Ll}*", "Ähre", true), ("\\P{L}+", "123", true),
        ("\\p{N}", "Ⅷ", true), ("a|b|cd", "cd", true), ("a|b|cd", "c", false), ("(a|b)c", "bc", true),
        ("(?:ab)+", "abab", true), ("(?<year>\\d+)", "1999", true), ("a*", "", true), ("a+", "", false),
        ("a?b", "b", true), ("a{2}", "aa", true), ("a{2,}", "aaaa", true), ("a{2,}", "a", false),
        ("a{2,3}", "aaaa", false), ("a{0}", "", true), ("a*?b+?", "aabb", true), ("(a*)*", "aaaa", true),
        ("(a*)*b", "aaaa", false), ("(|a)+", "aaa", true), ("(a|)", "", true), ("^abc$", "abc", true),
        ("^abc$", "abc\n", false), ("^abc$\\n", "abc\n", true), ("a^b", "ab", false),
        ("(?m)a$\\n^b", "a\nb", true), ("a$\\nb", "a\nb", false), ("\\Aa\\z", "a", true), ("a\\Z\\n", "a\n", true),
        ("\\bfoo\\b.*", "foo bar", true), ("foo\\b.*", "food", false), ("foo\\B.*", "food", true),
        ("(?i)straße", "STRASSE", false), ("(?i)ÄPFEL", "äpfel", true), ("(?i)[a-z]+", "ABC", true),
        ("(?i)[^a-z]+", "ABC", false), ("a(?i)b", "aB", true), ("a(?i)b", "AB", false), ("(?i:a)b", "Ab", true),
        ("(?i:a)b", "AB", false), ("((?i)a)b", "AB", false), ("(?i)a(?-i)b", "Ab", true), ("(?i)a(?-i)b", "AB", false),
        ("(?i)σς", "ΣΣ", true), ("\\x41\\u0042\\U00000043\\x{44}", "ABCD", true), ("\\t\\n", "\t\n", true),
        ("\\0101\\011[\\060-\\063]+\\cJ", "A\t0123\n", true), ("\\0400", " 0", true), ("\\c[", "\u{1B}", true),
        ("\\Qa.b*\\E+", "a.b*", true), ("\\.\\*\\\\", ".*\\", true), ("}", "}", true), ("]", "]", true),
        ("[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,4}", "john.smith@example.com", true),
        ("[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,4}", "john.smith@example", false),
    ])
    func wholeStringsMatch(pattern: String, text: String, expected: Bool) throws {
        #expect(try PatternMatcher(pattern).matches(text) == expected)
    }

    @Test(arguments: [
        ("(?=.*[A-Z])(?=.*\\d).{8,}", "Password1", true), ("(?=.*[A-Z])(?=.*\\d).{8,}", "password1", false),
        ("(?=.*[A-Z])(?=.*\\d).{8,}", "Pass1", false), (".*(CAT){3,}(?!CA).*", "GATTACACATCATCATGG", true),
        ("(CAT){3}(?!CA).*", "CATCATCATCAGG", false), ("(CAT){3}(?!CA).*", "CATCATCATGGCA", true),
        ("a(?=b)b", "ab", true),
        ("a(?=b)c", "ac", false), ("a(?!b).", "ac", true), ("a(?!b).", "ab", false), ("(?!.*xx).*", "axbx", true),
        ("(?!.*xx).*", "axxb", false), (".*(?<=a)b", "ab", true), (".*(?<=a)b", "cb", false), (".*(?<!a)b", "cb", true),
        (".*(?<!a)b", "ab", false), ("(?=(?!b).)a", "a", true), ("(?=a(?=b)).*", "ab", true),
        ("(?=a(?=b)).*", "ac", false),
        ("(?=^a)a", "a", true), ("a(?=$)", "a", true), ("(?i)(?=A)a", "a", true), ("(?=ab|a)ab?", "ab", true),
        ("(?:(?=a)a)*", "aaa", true), ("(?=abc)a.*", "abd", false), ("(?<=^|,)a(?=,|$)", "a", true), ("(?=)", "", true),
        ("(?!)", "", false), ("[[:alpha:][:digit:]]+", "aß9", true), ("[[:punct:]]", "a", false),
        ("[a-c[x-z]]+", "axz", true),
        ("[a-z&&[^aeiou]]+", "xyz", true), ("[a-z&&[^aeiou]]+", "xaz", false), ("[a-z--[aeiou]]+", "xyz", true),
        ("[a-z--[aeiou]]+", "xaz", false), ("[^a-z&&[aeiou]]", "b", true), ("[\\p{L}--[a-z]]", "Ä", true),
        ("[[^a]b]", "a", false), ("[a--b]", "a", true), ("[&-]+", "&-", true), ("\\p{Letter}\\p{gc=Nd}", "a1", true),
        ("\\p{IsAlphabetic}\\p{White_Space}\\p{ASCII}", "ä z", true), ("a(?#comment)b", "ab", true),
        ("a\\Rb", "a\r\nb", true), ("a\\Rb", "a\nb", true),
    ])
    func moreOfTheSyntaxOfICU(pattern: String, text: String, expected: Bool) throws {
        #expect(try PatternMatcher(pattern).matches(text) == expected, "\(pattern) on \(text)")
    }

    @Test(arguments: [
        "(", ")", "a)", "[", "[]", "[a", "[z-a]", "*", "+a", "a**", "a{2}{3}", "a++", "{2}", "a{", "a{x}", "a{3,2}",
        "a{1001}", "\\", "\\1", "\\k<a>", "(?=a", "(?=a)*", "(?<!a", "(?>a)", "(?z)", "(?", "(?<", "(?<a",
        "\\p", "\\p{Zz}", "\\p{", "\\xG0", "\\x4", "\\x{110000}", "\\uD800", "\\y", "[a[b]", "[a&&b", "[[:alfa:]]",
        "[[:alpha]]",
        "\\p{Han}", "^*", "\\b+", "[\\d-a", "\\u+041",
    ])
    func whatCannotBeMatchedIsRefused(pattern: String) {
        let error = #expect(throws: StrataError.self) { try PatternMatcher(pattern) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasPrefix("The pattern ") == true)
        #expect(error?.message.hasSuffix(".") == true)
    }

    @Test func hugePatternsAreRefusedWithoutBeingBuilt() {
        for pattern in [
            "((a{1000}){1000}){1000}", "(((){1000}){1000}){1000}", String(repeating: "(", count: 2_000),
            String(repeating: "a", count: 5_000), "(((a|b){1000}){1000}){1000}",
        ] {
            #expect(throws: StrataError.self) { try PatternMatcher(pattern) }
        }
    }

    @Test func patternsThatHangOthersEndSoon() throws {
        let text = String(repeating: "a", count: 2_000) + "!"
        for pattern in [
            "(a+)+", "(a|aa)*", "(a*)*b", "(.*)*(.*)*x", "(a|a)*", "(a?){500}a{500}",
            "(?=(a+)+b).*", "(?!(a+)+!).*", "(?<!(a|aa)*)!.*", "(?=.*(?=(a*)*b)).*",
        ] {
            #expect(try !PatternMatcher(pattern).matches(text))
        }
    }

    @Test func caseCanBeIgnoredFromOutside() throws {
        #expect(try PatternMatcher("\\D[b-d]x", caseInsensitive: true).matches("aCX"))
        #expect(try !PatternMatcher("\\Dx", caseInsensitive: true).matches("1x"))
    }

    /// Patterns and texts on which backtracking matchers take exponential time, because the last letter does not match.
    @Test(arguments: [
        "(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*a){12}b", "((a*)*)*b", "(?=(a+)+b)a*", "(a?){30}(a{30})*b",
        "(a|b|ab)*c", "(?:a+?)+?b", "(?i)(A+)+B", "(?!(a*)*b).*c", "^(([a-z])+.)+[A-Z]([a-z])+$",
    ])
    func hostilePatternsOverAMegabyteAnswerOrAreStoppedInBoundedSteps(pattern: String) throws {
        let limit = 300_000
        let text = String(repeating: "a", count: 1 << 20)
        let matcher = try PatternMatcher(pattern, stepLimit: limit)
        // A short text takes fewer steps than allowed, so there is a result.
        #expect(try !matcher.matches(String(repeating: "a", count: 60)))
        let error = #expect(throws: StrataError.self) { try matcher.matches(text) }
        #expect(error?.code == .invalidRequest && error?.context.predicate == pattern)
        #expect(error?.message.contains(pattern) ?? false && error?.message.contains("300000 steps") ?? false)
    }

    @Test func aMegabyteIsNoTroubleForAnHonestPattern() throws {
        let text = String(repeating: "a", count: 1 << 20)
        #expect(try PatternMatcher("a*").matches(text))
        // It ends before the text does.
        #expect(try !PatternMatcher("b.*", stepLimit: 10).matches(text))
    }

    @Test func theStepsOfOneMatchAreBoundedByPatternTimesText() throws {
        // 40 states over 100 characters.
        let matcher = try PatternMatcher("(a?){20}b", stepLimit: 40 * 101)
        #expect(try !matcher.matches(String(repeating: "a", count: 100)))
        let tight = try PatternMatcher("(a?){20}b", stepLimit: 20)
        #expect(throws: StrataError.self) { try tight.matches(String(repeating: "a", count: 100)) }
    }

    /// Every pattern of a small language against every short text, compared with a matcher that backtracks.
    @Test func agreesWithTryingAllWays() throws {
        let atoms = ["a", "b", ".", "[ab]", "(a|b)", "(ab|)", "(a*b)"]
        let marks = ["", "*", "+", "?", "{2}", "{1,2}"]
        var texts = [""]
        for _ in 0..<4 { texts += texts.filter { $0.count == texts.last?.count }.flatMap { ["\($0)a", "\($0)b"] } }
        for first in atoms {
            for second in atoms {
                for mark in marks {
                    let pattern = "\(first)\(mark)\(second)"
                    let matcher = try PatternMatcher(pattern)
                    let language = Self.language(first, mark, second, upTo: 4)
                    for text in Set(texts) {
                        #expect(try matcher.matches(text) == language.contains(text), "\(pattern) on \(text)")
                    }
                }
            }
        }
    }

    private static func words(_ atom: String, upTo length: Int) -> Set<String> {
        switch atom {
        case "a", "b": [atom]
        case ".", "[ab]", "(a|b)": ["a", "b"]
        case "(ab|)": ["ab", ""]
        default: Set((0..<length).map { String(repeating: "a", count: $0) + "b" })
        }
    }

    private static func language(_ first: String, _ mark: String, _ second: String, upTo length: Int) -> Set<String> {
        let words = words(first, upTo: length)
        var powers: [Set<String>] = [[""]]
        for _ in 0...length {
            powers.append(Set(powers[powers.count - 1].flatMap { left in words.map { left + $0 } }))
        }
        let counts: ClosedRange<Int> =
            switch mark {
            case "*": 0...length + 1
            case "+": 1...length + 1
            case "?": 0...1
            case "{2}": 2...2
            case "{1,2}": 1...2
            default: 1...1
            }
        let repeated = Set(counts.flatMap { powers[$0] })
        return Set(
            repeated.flatMap { left in Self.words(second, upTo: length).map { left + $0 } }.filter {
                $0.count <= length
            })
    }
}
