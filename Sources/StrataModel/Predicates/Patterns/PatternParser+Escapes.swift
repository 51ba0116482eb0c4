// Parses the escapes and character classes of regular expressions.

extension PatternParser {
    /// Parses an escape outside a class.
    mutating func parseEscape() throws(PatternError) -> (PatternNode, canRepeat: Bool) {
        if accept("Q") { return (parseQuoted(), true) }
        switch peek {
        case "A": return assertion(.start)
        case "z": return assertion(.end)
        case "Z": return assertion(.endOrLastLineEnd)
        case "b": return assertion(.wordEdge)
        case "B": return assertion(.noWordEdge)
        case "R":
            index += 1
            var ends = PatternClass()
            ends.insert(.verticalSpace, isNegated: false)
            let pair = [UInt8(0x0D), 0x0A].map { PatternNode.scalar(Unicode.Scalar($0), ignoresCase: false) }
            return (.alternatives([.sequence(pair), .member(ends)]), true)
        default: break
        }
        switch try parseMember() {
        case .scalar(let scalar): return (literal(scalar), true)
        case .kind(let kind, let isNegated):
            var members = PatternClass()
            members.ignoresCase = flags.ignoresCase
            members.insert(kind, isNegated: isNegated)
            return (.member(members), true)
        }
    }

    private mutating func assertion(_ assertion: PatternAssertion) -> (PatternNode, canRepeat: Bool) {
        index += 1
        return (.assertion(assertion), false)
    }

    /// Parses literal text up to `\E`, or to the end.
    private mutating func parseQuoted() -> PatternNode {
        var nodes: [PatternNode] = []
        while !accept("\\E"), let scalar = next() { nodes.append(literal(scalar)) }
        return .sequence(nodes)
    }

    // MARK: Classes

    /// Parses a class after its opening bracket.
    mutating func parseClass() throws(PatternError) -> PatternClass {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PatternMatcher.Limits.depth else {
            throw error("has classes nested more than \(PatternMatcher.Limits.depth) deep")
        }
        let isNegated = accept("^")
        var members = try parseMembers(isFirst: true)
        while peek == "&" || peek == "-" {
            let operation: PatternClass.Operation = peek == "&" ? .intersection : .difference
            index += 2
            members.insert(try parseMembers(isFirst: false), operation)
        }
        guard accept("]") else { throw error("has a class that is not closed") }
        members.isNegated = isNegated
        return members
    }

    /// Parses members up to the end of the class or the next set operator.
    private mutating func parseMembers(isFirst: Bool) throws(PatternError) -> PatternClass {
        var members = PatternClass()
        members.ignoresCase = flags.ignoresCase
        var isFirst = isFirst
        while let scalar = peek, scalar != "]" || isFirst {
            if !isFirst, isNext("&&") || isNext("--") { return members }
            isFirst = false
            if accept("[:") {
                members.insert(try parsePosixName(), isNegated: false)
                continue
            }
            if accept("[") {
                members.insert(try parseClass(), .union)
                continue
            }
            switch try parseClassMember() {
            case .kind(let kind, let isNegated): members.insert(kind, isNegated: isNegated)
            case .scalar(let first): members.insert(try parseRange(from: first))
            }
        }
        return members
    }

    private mutating func parsePosixName() throws(PatternError) -> PatternClass.Kind {
        var name = ""
        while let scalar = peek, scalar != ":", scalar != "]" {
            name.unicodeScalars.append(scalar)
            index += 1
        }
        guard accept(":]"), let kind = PatternClass.Kind.posix[name] else {
            throw error("has an unknown class, [:\(name):]")
        }
        return kind
    }

    private mutating func parseRange(from first: Unicode.Scalar) throws(PatternError) -> ClosedRange<Unicode.Scalar> {
        guard peek == "-", !isNext("--"), index + 1 < scalars.count, scalars[index + 1] != "]" else {
            return first...first
        }
        index += 1
        guard case .scalar(let last) = try parseClassMember(), last >= first else {
            throw error("has a range whose end is before its start")
        }
        return first...last
    }

    private mutating func parseClassMember() throws(PatternError) -> Member {
        if accept("\\") { return try parseMember() }
        guard let scalar = next() else { throw error("has a class that is not closed") }
        return .scalar(scalar)
    }

    // MARK: Members

    enum Member {
        case scalar(Unicode.Scalar)
        case kind(PatternClass.Kind, isNegated: Bool)
    }

    /// Parses an escape for one scalar or class.
    private mutating func parseMember() throws(PatternError) -> Member {
        guard let scalar = next() else { throw error("ends with a backslash") }
        switch scalar {
        case "d", "D": return .kind(.digit, isNegated: scalar == "D")
        case "w", "W": return .kind(.word, isNegated: scalar == "W")
        case "s", "S": return .kind(.space, isNegated: scalar == "S")
        case "h", "H": return .kind(.horizontalSpace, isNegated: scalar == "H")
        case "v", "V": return .kind(.verticalSpace, isNegated: scalar == "V")
        case "p", "P": return .kind(try parseCategory(), isNegated: scalar == "P")
        case "t": return .scalar("\t")
        case "n": return .scalar("\n")
        case "r": return .scalar("\r")
        case "f": return .scalar("\u{0C}")
        case "e": return .scalar("\u{1B}")
        case "a": return .scalar("\u{07}")
        case "x" where accept("{"): return .scalar(try parseHexadecimal(upTo: "}"))
        case "x": return .scalar(try parseHexadecimal(digits: 2))
        case "u": return .scalar(try parseHexadecimal(digits: 4))
        case "U": return .scalar(try parseHexadecimal(digits: 8))
        case "0": return .scalar(try parseOctal())
        case "c":
            guard let letter = next(), letter.isASCII, let control = Unicode.Scalar(letter.value & 0x1F) else {
                throw error("has a \\c without a letter after it")
            }
            return .scalar(control)
        case "1"..."9", "k": throw error("has a back reference, which is not supported")
        case "A"..."Z", "a"..."z": throw error("has an unknown escape, \\\(scalar)")
        default: return .scalar(scalar)
        }
    }

    /// Parses up to three octal digits.
    private mutating func parseOctal() throws(PatternError) -> Unicode.Scalar {
        var value: UInt32 = 0
        var count = 0
        while count < 3, let digit = peek, "0"..."7" ~= digit, value * 8 + digit.value - 48 < 256 {
            _ = next()
            value = value * 8 + digit.value - 48
            count += 1
        }
        guard count > 0, let scalar = Unicode.Scalar(value) else {
            throw error("has a \\0 without octal digits after it")
        }
        return scalar
    }

    private mutating func parseCategory() throws(PatternError) -> PatternClass.Kind {
        guard accept("{") else { throw error("has a \\p without a category in braces") }
        var name = ""
        while let scalar = next(), scalar != "}" { name.unicodeScalars.append(scalar) }
        guard let kind = PatternClass.Kind(propertyName: name) else {
            throw error("has an unknown or unsupported property, \(name)")
        }
        return kind
    }

    private mutating func parseHexadecimal(upTo end: Unicode.Scalar) throws(PatternError) -> Unicode.Scalar {
        var digits = ""
        while let scalar = next(), scalar != end { digits.unicodeScalars.append(scalar) }
        return try scalar(fromHexadecimal: digits)
    }

    private mutating func parseHexadecimal(digits count: Int) throws(PatternError) -> Unicode.Scalar {
        var digits = ""
        for _ in 0..<count {
            if let scalar = next() { digits.unicodeScalars.append(scalar) }
        }
        guard digits.unicodeScalars.count == count else { throw error("has too few digits") }
        return try scalar(fromHexadecimal: digits)
    }

    private func scalar(fromHexadecimal digits: String) throws(PatternError) -> Unicode.Scalar {
        guard digits.utf8.allSatisfy({ UInt8(ascii: "+") != $0 && UInt8(ascii: "-") != $0 }),
            let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number)
        else { throw error("has a number that is not a Unicode character, \(digits)") }
        return scalar
    }
}
