// Matching a whole string against a regular expression in time that grows with (length of text) x (states of the
// pattern) and never faster: the pattern becomes a nondeterministic automaton, all of whose states are followed at
// once (K. Thompson, Regular Expression Search Algorithm, CACM 11(6), 1968; R. Pike's form of it as in R. Cox,
// Regular Expression Matching: the Virtual Machine Approach, 2009). Nothing is ever tried twice, so no text and no
// pattern can make it hang. The price: no back references and no looking around.
//
// The syntax is the part of ICU's that such a matcher can keep:
//
//   x              the character x; a pattern matches Unicode scalars
//   .              any scalar but a line end (any at all under s)
//   [abc] [^a-z]   a class: single ones, ranges, and the classes below; [[:alpha:]] and set operations are refused
//   \d \w \s \h \v   digit, word character, white space, horizontal and vertical white space; \D \W \S \H \V not one
//   \p{L} \P{Lu}   of, or not of, a general category: one letter for the group or two for the category itself
//   \t \n \r \f \e \a   tab, line feed, carriage return, form feed, escape, bell
//   \xhh \x{h…} \uhhhh \Uhhhhhhhh   the scalar of that number
//   \Q…\E          literal text; a backslash before any other sign means the sign itself
//   ^ $ \A \z \Z   start and end (of each line under m); \b \B   at, or not at, the edge of a word
//   (…) (?:…) (?<name>…)   a group;   a|b   either
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
    }

    package let pattern: String
    private let program: PatternProgram

    /// Compiles a pattern; `caseInsensitive` is as if it began with `(?i)`.
    ///
    /// - Throws: `invalidRequest` with a sentence that says what is wrong and where.
    package init(_ pattern: String, caseInsensitive: Bool = false) throws(StrataError) {
        do {
            var parser = try PatternParser(pattern, caseInsensitive: caseInsensitive)
            var compiler = PatternCompiler()
            program = try compiler.compile(try parser.parse())
        } catch {
            throw StrataError(.invalidRequest, "The pattern \(error.sentence)")
        }
        self.pattern = pattern
    }

    /// Whether the whole text matches.
    ///
    /// - Complexity: O(length of `text` x states of the pattern)
    package func matches(_ text: String) -> Bool {
        var run = PatternRun(program)
        return run.matches(text.unicodeScalars)
    }
}

/// The sets of states on the way through one text.
private struct PatternRun {
    private let instructions: [PatternProgram.Instruction]
    private let classes: [PatternClass]
    private var current: StateSet
    private var next: StateSet
    private var stack: [Int] = []

    init(_ program: PatternProgram) {
        instructions = program.instructions
        classes = program.classes
        current = StateSet(capacity: instructions.count)
        next = StateSet(capacity: instructions.count)
    }

    mutating func matches(_ text: String.UnicodeScalarView) -> Bool {
        var previous: Unicode.Scalar?
        var rest = text[...]
        follow(0, from: (previous, rest.first), isLast: rest.dropFirst().isEmpty)
        while let scalar = rest.popFirst() {
            (current, next) = (next, current)
            next.removeAll()
            previous = scalar
            let isLast = rest.dropFirst().isEmpty
            for index in current.indices {
                let state = current[index]
                if consumes(instructions[state], scalar) {
                    follow(state + 1, from: (previous, rest.first), isLast: isLast)
                }
            }
            if next.isEmpty { return false }
        }
        return next.indices.contains { if case .match = instructions[next[$0]] { true } else { false } }
    }

    private func consumes(_ instruction: PatternProgram.Instruction, _ scalar: Unicode.Scalar) -> Bool {
        switch instruction {
        case .scalar(let expected): scalar == expected
        case .folded(let expected): PatternClass.fold(scalar) == expected
        case .any: true
        case .anyInLine: !PatternClass.isLineEnd(scalar)
        case .member(let index): classes[index].contains(scalar)
        case .split, .jump, .assert, .match: false
        }
    }

    /// Adds to `next` a state and every state that is reached from it without a scalar.
    private mutating func follow(_ state: Int, from neighbours: (Unicode.Scalar?, Unicode.Scalar?), isLast: Bool) {
        stack.append(state)
        while let state = stack.popLast() {
            guard next.insert(state) else { continue }
            switch instructions[state] {
            case .jump(let target): stack.append(target)
            case .split(let first, let second):
                stack.append(second)
                stack.append(first)
            case .assert(let assertion):
                if assertion.holds(between: neighbours.0, and: neighbours.1, isLast: isLast) {
                    stack.append(state + 1)
                }
            default: break
            }
        }
    }
}

/// A set of small numbers that is emptied in no time (P. Briggs, L. Torczon, An Efficient Representation for Sparse
/// Sets, 1993).
private struct StateSet {
    private var members: [Int] = []
    private var places: [Int]

    init(capacity: Int) { places = Array(repeating: 0, count: capacity) }

    var isEmpty: Bool { members.isEmpty }
    var indices: Range<Int> { members.indices }
    subscript(index: Int) -> Int { members[index] }

    mutating func removeAll() { members.removeAll(keepingCapacity: true) }

    /// Returns whether the member is new.
    mutating func insert(_ member: Int) -> Bool {
        let place = places[member]
        if place < members.count && members[place] == member { return false }
        places[member] = members.count
        members.append(member)
        return true
    }
}
