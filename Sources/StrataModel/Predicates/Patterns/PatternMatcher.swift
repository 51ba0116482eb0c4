// Matching a whole string against a regular expression in time that grows with (length of text) x (states of the
// pattern) and never faster: the pattern becomes a nondeterministic automaton, all of whose states are followed at
// once (K. Thompson, Regular Expression Search Algorithm, CACM 11(6), 1968; R. Pike's form of it as in R. Cox,
// Regular Expression Matching: the Virtual Machine Approach, 2009). Nothing is ever tried twice, so no text and no
// pattern can make it hang. That is why it is ours: Swift's Regex and ICU's, which NSPredicate has, try ways one after
// the other, and `(a+)+` over thirty letters keeps the one busy for hours and makes the other say "no match".
//
// Looking around is done beforehand: each look has an automaton of its own, which goes over the text once (from the end
// for a look ahead) and notes the places where it sees something.
//
// Pattern and text together can still be large: 20,000 states over a megabyte are 20,000,000,000 steps. So the steps of
// one match are counted, and beyond `Limits.steps` it throws an error that names the pattern.
//
// The price: no back references, and none of the ways to forbid trying others (possessive quantifiers, atomic groups).
//
// The syntax is the part of ICU's that such a matcher can keep:
//
//   x              the character x; a pattern matches Unicode scalars
//   .              any scalar but a line end (any at all under s)
//   [abc] [^a-z]   a class: single ones, ranges, and the classes below; [a-z[0-9]] both, [a-z&&[^aeiou]] in both,
//                  [a-z--[aeiou]] in the first alone; [[:alpha:]] and the other names of POSIX
//   \d \w \s \h \v   digit, word character, white space, horizontal and vertical white space; \D \W \S \H \V not one
//   \p{L} \P{Lu}   of, or not of, a general category, by its short or long name (\p{Letter}, \p{gc=Lu}); also the
//                  properties Alphabetic, Uppercase, Lowercase, White_Space, ASCII, Any. Scripts are refused
//   \t \n \r \f \e \a   tab, line feed, carriage return, form feed, escape, bell
//   \xhh \x{h…} \uhhhh \Uhhhhhhhh   the scalar of that number
//   \Q…\E          literal text; a backslash before any other sign means the sign itself
//   ^ $ \A \z \Z   start and end (of each line under m); \b \B   at, or not at, the edge of a word
//   (…) (?:…) (?<name>…)   a group;   a|b   either;   (?#…)   a comment;   \R   a line end, CR LF as one
//   (?=…) (?!…)    what follows begins so, or does not;   (?<=…) (?<!…)   what comes before ends so, or does not
//   * + ? {n} {n,} {n,m}   repeated; a following ? (lazy) changes nothing, a following + (possessive) is refused
//   (?ims-ims) (?i:…)   flags from here to the group's end, or for the group: i ignores case, m as above, s as above

/// A compiled regular expression that whole strings are held against, in linear time.
package struct PatternMatcher: Sendable {
    /// How large a pattern may be.
    package enum Limits {
        package static let scalars = 4_096
        package static let states = 20_000
        package static let repetitions = 1_000
        package static let depth = 64
        package static let looks = 16
        /// States held against scalars in one match, some tenths of a second.
        package static let steps = 50_000_000
    }

    package let pattern: String
    private let program: PatternProgram
    private let stepLimit: Int

    /// Compiles a pattern; `caseInsensitive` is as if it began with `(?i)`.
    ///
    /// - Throws: `invalidRequest` with a sentence that says what is wrong and where.
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
    /// - Throws: `invalidRequest` naming the pattern when it takes more than `Limits.steps` steps.
    /// - Complexity: O(length of `text` x states of the pattern)
    package func matches(_ text: String) throws(StrataError) -> Bool {
        var run = PatternRun(program, text, stepLimit: stepLimit)
        do {
            return try run.matches()
        } catch {
            throw StrataError(
                .invalidRequest,
                "The pattern \(pattern) takes more than \(stepLimit) steps over a text of \(run.textLength) characters.",
                context: .init(predicate: pattern))
        }
    }
}
