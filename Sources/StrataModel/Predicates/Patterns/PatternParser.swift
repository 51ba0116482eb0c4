/// Parses a regular expression by recursive descent. The depth of groups is limited.
struct PatternParser {
    /// The flags that apply to the next part of the pattern.
    struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotCrossesLines = false
    }

    private(set) var scalars: [Unicode.Scalar]
    var index = 0
    var flags = Flags()
    var depth = 0

    init(_ pattern: String, caseInsensitive: Bool) throws(PatternError) {
        scalars = Array(pattern.unicodeScalars.prefix(PatternMatcher.Limits.scalars + 1))
        flags.ignoresCase = caseInsensitive
        if scalars.count > PatternMatcher.Limits.scalars {
            throw PatternError("is longer than \(PatternMatcher.Limits.scalars) characters.")
        }
    }

    mutating func parse() throws(PatternError) -> PatternNode {
        let node = try parseAlternatives()
        if peek != nil { throw error("has a closing parenthesis without an opening one") }
        return node
    }

    // MARK: Reading

    var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    mutating func next() -> Unicode.Scalar? {
        guard let scalar = peek else { return nil }
        index += 1
        return scalar
    }

    func isNext(_ text: String) -> Bool { scalars[index...].starts(with: text.unicodeScalars) }

    mutating func accept(_ text: String) -> Bool {
        guard isNext(text) else { return false }
        index += text.unicodeScalars.count
        return true
    }

    func error(_ what: String) -> PatternError { PatternError("\(what), at character \(index).") }

    // MARK: Structure

    /// Parses alternatives up to a closing parenthesis or the end. Flags set inside end there.
    private mutating func parseAlternatives() throws(PatternError) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PatternMatcher.Limits.depth else {
            throw error("has groups nested more than \(PatternMatcher.Limits.depth) deep")
        }
        var alternatives: [PatternNode] = []
        repeat { alternatives.append(try parseSequence()) } while accept("|")
        return alternatives.count == 1 ? alternatives[0] : .alternatives(alternatives)
    }

    private mutating func parseSequence() throws(PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = peek, scalar != "|", scalar != ")" {
            let (node, canRepeat) = try parseItem()
            nodes.append(try parseQuantifiers(of: node, canRepeat: canRepeat))
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    /// Parses one item; returns it and whether a quantifier may follow.
    private mutating func parseItem() throws(PatternError) -> (PatternNode, canRepeat: Bool) {
        guard let scalar = next() else { return (.empty, false) }
        switch scalar {
        case "(": return try parseGroup()
        case "[": return (.member(try parseClass()), true)
        case ".": return (.any(acrossLines: flags.dotCrossesLines), true)
        case "^": return (.assertion(flags.isMultiline ? .lineStart : .start), false)
        case "$": return (.assertion(flags.isMultiline ? .lineEnd : .endOrLastLineEnd), false)
        case "\\": return try parseEscape()
        case "*", "+", "?": throw error("repeats nothing")
        case "{": throw error("has a brace that repeats nothing; write \\{ for a literal brace")
        default: return (literal(scalar), true)
        }
    }

    func literal(_ scalar: Unicode.Scalar) -> PatternNode { .scalar(scalar, ignoresCase: flags.ignoresCase) }

    private mutating func parseGroup() throws(PatternError) -> (PatternNode, canRepeat: Bool) {
        let outer = flags
        if accept("?") {
            if let look = try parseLook() { return (look, false) }
            if accept("#") {
                while let scalar = next(), scalar != ")" {}
                return (.empty, false)
            }
            if accept("<") {
                try skipGroupName()
            } else if !accept(":") {
                guard try parseFlags() else { return (.empty, false) }
            }
        }
        let node = try parseAlternatives()
        guard accept(")") else { throw error("has a parenthesis that is not closed") }
        flags = outer
        return (node, true)
    }

    /// Parses a lookaround after `(?`; nil if it is another kind of group.
    private mutating func parseLook() throws(PatternError) -> PatternNode? {
        let isBehind = isNext("<=") || isNext("<!")
        guard isBehind || isNext("=") || isNext("!") else { return nil }
        if isBehind { index += 1 }
        let isNegated = next() == "!"
        let outer = flags
        let node = try parseAlternatives()
        guard accept(")") else { throw error("has a parenthesis that is not closed") }
        flags = outer
        return .look(node, isBehind: isBehind, isNegated: isNegated)
    }

    private mutating func skipGroupName() throws(PatternError) {
        while let scalar = next() {
            if scalar == ">" { return }
            guard PatternClass.Kind.word.contains(scalar) else { break }
        }
        throw error("has a bad group name")
    }

    /// Parses flags; returns whether a colon ended them, so that a group follows.
    private mutating func parseFlags() throws(PatternError) -> Bool {
        var value = true
        while let scalar = next() {
            switch scalar {
            case "i": flags.ignoresCase = value
            case "m": flags.isMultiline = value
            case "s": flags.dotCrossesLines = value
            case "-" where value: value = false
            case ":": return true
            case ")": return false
            case ">": throw error("has an atomic group, which is not supported")
            default: throw error("has an unknown flag \(scalar)")
            }
        }
        throw error("has a parenthesis that is not closed")
    }

    // MARK: Quantifiers

    private mutating func parseQuantifiers(of node: PatternNode, canRepeat: Bool) throws(PatternError) -> PatternNode {
        var (least, most): (Int, Int?)
        switch peek {
        case "*": (least, most) = (0, nil)
        case "+": (least, most) = (1, nil)
        case "?": (least, most) = (0, 1)
        case "{": (least, most) = (0, 0)
        default: return node
        }
        guard canRepeat else { throw error("repeats something that cannot be repeated") }
        index += 1
        if scalars[index - 1] == "{" { (least, most) = try parseBounds() }
        if accept("+") { throw error("has a possessive quantifier, which is not supported") }
        // For whole matches a lazy quantifier makes no difference.
        _ = accept("?")
        if let scalar = peek, ["*", "+", "?", "{"].contains(scalar) { throw error("repeats a repetition") }
        return .repeated(node, least: least, most: most)
    }

    private mutating func parseBounds() throws(PatternError) -> (Int, Int?) {
        let least = try parseNumber()
        var most: Int? = least
        if accept(",") { most = peek == "}" ? nil : try parseNumber() }
        guard accept("}") else { throw error("has a repetition without a closing brace") }
        if let most, most < least { throw error("has a repetition whose maximum is less than its minimum") }
        return (least, most)
    }

    private mutating func parseNumber() throws(PatternError) -> Int {
        var number = 0
        let start = index
        while let scalar = peek, ("0"..."9").contains(scalar) {
            index += 1
            number = number * 10 + Int(scalar.value - 0x30)
            guard number <= PatternMatcher.Limits.repetitions else {
                throw error("repeats more than \(PatternMatcher.Limits.repetitions) times")
            }
        }
        if index == start { throw error("has a repetition without a number") }
        return number
    }
}
