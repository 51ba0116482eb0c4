// Matches a whole string with a regular expression in time O(length of text x states of pattern). The pattern becomes a
// nondeterministic automaton, and all its states are followed at once (K. Thompson, Regular Expression Search
// Algorithm, CACM 11(6), 1968; R. Pike's form of it as in R. Cox, Regular Expression Matching: the Virtual Machine
// Approach, 2009). It never backtracks, so no pattern and no text can make it hang. That is the reason for an own
// matcher: Swift's Regex, and ICU's, which NSPredicate uses, backtrack. `(a+)+` over thirty letters occupies the one
// for hours and makes the other report no match.
//
// Lookarounds are evaluated first. Each has its own automaton, which runs over the text once (backwards for a
// lookahead) and records the indices at which it matches.
//
// Pattern and text can still be large together: 20,000 states over a megabyte are 20,000,000,000 steps. The matcher
// counts its steps, and beyond `Limits.steps` it throws an error that names the pattern.
//
// It supports no back references, possessive quantifiers or atomic groups.
//
// The syntax is the part of ICU's that such a matcher can support:
//
//   x              the character x; a pattern matches Unicode scalars
//   .              any scalar except a line end (any scalar with the flag s)
//   [abc] [^a-z]   a class: scalars, ranges, and the classes below; [a-z[0-9]] union, [a-z&&[^aeiou]] intersection,
//                  [a-z--[aeiou]] difference; [[:alpha:]] and the other POSIX classes
//   \d \w \s \h \v   digit, word character, white space, horizontal and vertical white space; \D \W \S \H \V not one
//   \p{L} \P{Lu}   in, or not in, a general category, by its short or long name (\p{Letter}, \p{gc=Lu}); also the
//                  properties Alphabetic, Uppercase, Lowercase, White_Space, ASCII, Any. Scripts are not supported
//   \t \n \r \f \e \a   tab, line feed, carriage return, form feed, escape, bell
//   \xhh \x{h…} \uhhhh \Uhhhhhhhh   the scalar with that number
//   \Q…\E          literal text; a backslash before punctuation means the character itself
//   ^ $ \A \z \Z   start and end (of each line with the flag m); \b \B   at, or not at, a word boundary
//   (…) (?:…) (?<name>…)   a group;   a|b   either;   (?#…)   a comment;   \R   a line end, CR LF as one
//   (?=…) (?!…)    lookahead and negative lookahead;   (?<=…) (?<!…)   lookbehind and negative lookbehind
//   * + ? {n} {n,} {n,m}   repetition; ? after it (lazy) changes nothing, + after it (possessive) is an error
//   (?ims-ims) (?i:…)   flags up to the end of the group, or for one group: i ignores case, m and s as above

/// A compiled regular expression that matches whole strings, without backtracking.
package struct PatternMatcher: Sendable {
    /// The largest patterns that are accepted, and the longest match.
    package enum Limits {
        package static let scalars = 4_096
        package static let states = 20_000
        package static let repetitions = 1_000
        package static let depth = 64
        package static let looks = 16
        /// The steps of one match (states tested against scalars), some tenths of a second.
        package static let steps = 10_000_000
    }

    package let pattern: String
    private let program: PatternProgram
    private let stepLimit: Int

    /// Compiles a pattern.
    ///
    /// - Parameter caseInsensitive: compiles the pattern as if it began with `(?i)`.
    /// - Throws: `invalidRequest` with the problem and the number of the character.
    package init(
        _ pattern: String, caseInsensitive: Bool = false, stepLimit: Int = Limits.steps
    ) throws(StrataError) {
        do {
            var parser = try PatternParser(pattern, caseInsensitive: caseInsensitive)
            var compiler = PatternCompiler()
            program = try compiler.compile(try parser.parse())
        } catch {
            throw StrataError(.invalidRequest, "The pattern \(error.sentence)")
        }
        self.pattern = pattern
        self.stepLimit = stepLimit
    }

    /// Whether the whole text matches.
    ///
    /// - Throws: `invalidRequest` if the match takes more than `Limits.steps` steps.
    /// - Complexity: O(length of `text` x states of the pattern)
    package func matches(_ text: String) throws(StrataError) -> Bool {
        var work = 0
        return try matches(text, work: &work)
    }

    /// - Parameter work: the cost is added to it, in units of `PredicateWork`.
    package func matches(_ text: String, work: inout Int) throws(StrataError) -> Bool {
        var run = PatternRun(program, text, stepLimit: stepLimit)
        defer { work += run.stepCount / PredicateWork.comparisons }
        do {
            return try run.matches()
        } catch {
            throw StrataError(
                .invalidRequest,
                "The pattern \(pattern) takes more than \(stepLimit) steps on a text of \(run.textLength) characters.",
                context: .init(predicate: pattern))
        }
    }
}
