/// A character class of a regular expression: a set of Unicode scalars.
struct PatternClass: Sendable {
    /// A class with a name.
    enum Kind: Sendable, Equatable {
        case digit, word, space, horizontalSpace, verticalSpace
        /// A general category, or a group of them, by its name of one or two letters.
        case category(String)
        case alphabetic, uppercase, lowercase, ascii, any
        /// The POSIX classes alnum, graph and print.
        case alphanumeric, graphic, printing

        func contains(_ scalar: Unicode.Scalar) -> Bool {
            let properties = scalar.properties
            switch self {
            case .digit: return properties.generalCategory == .decimalNumber
            case .word:
                if scalar.isASCII { return Self.isASCIIWord(scalar) }
                return properties.isAlphabetic || properties.isJoinControl
                    || ["Mn", "Mc", "Me", "Nd", "Pc"].contains(properties.generalCategory.shortName)
            case .space: return properties.isWhitespace
            case .horizontalSpace: return scalar == "\t" || properties.generalCategory == .spaceSeparator
            case .verticalSpace: return PatternClass.isLineEnd(scalar)
            case .category(let name): return properties.generalCategory.shortName.hasPrefix(name)
            case .alphabetic: return properties.isAlphabetic
            case .uppercase: return properties.isUppercase
            case .lowercase: return properties.isLowercase
            case .ascii: return scalar.isASCII
            case .any: return true
            case .alphanumeric: return properties.isAlphabetic || properties.generalCategory == .decimalNumber
            case .graphic, .printing:
                if properties.generalCategory == .spaceSeparator { return self == .printing }
                return !properties.isWhitespace
                    && !["Cc", "Cs", "Cn"].contains(properties.generalCategory.shortName)
            }
        }

        private static func isASCIIWord(_ scalar: Unicode.Scalar) -> Bool {
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || scalar == "_"
        }
    }

    var isNegated = false
    var ignoresCase = false
    private(set) var ranges: [ClosedRange<Unicode.Scalar>] = []
    private(set) var kinds: [(kind: Kind, isNegated: Bool)] = []
    /// The classes inside this one, in order.
    private(set) var inner: [(operation: Operation, members: PatternClass)] = []

    /// The operation that combines an inner class with the class before it.
    enum Operation: Sendable {
        case union, intersection, difference
    }

    mutating func insert(_ range: ClosedRange<Unicode.Scalar>) { ranges.append(range) }
    mutating func insert(_ kind: Kind, isNegated: Bool) { kinds.append((kind, isNegated)) }

    mutating func insert(_ members: PatternClass, _ operation: Operation) { inner.append((operation, members)) }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        (holds(scalar) || ignoresCase && Self.otherCases(of: scalar).contains(where: holds)) != isNegated
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool {
        var holds =
            ranges.contains { $0.contains(scalar) } || kinds.contains { $0.kind.contains(scalar) != $0.isNegated }
        for (operation, members) in inner {
            switch operation {
            case .union: holds = holds || members.contains(scalar)
            case .intersection: holds = holds && members.contains(scalar)
            case .difference: holds = holds && !members.contains(scalar)
            }
        }
        return holds
    }

    /// Folds case for comparison: the lower case of the upper case, if both are single scalars.
    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII {
            return ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
        }
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? scalar
    }

    private static func otherCases(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        let folded = fold(scalar)
        return [folded, single(scalar.properties.uppercaseMapping), single(folded.properties.uppercaseMapping)]
            .compactMap(\.self)
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }

    static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
