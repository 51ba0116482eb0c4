/// A regular expression as a tree.
indirect enum PatternNode {
    case empty
    case scalar(Unicode.Scalar, ignoresCase: Bool)
    case any(acrossLines: Bool)
    case member(PatternClass)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// `most` nil: without bound.
    case repeated(PatternNode, least: Int, most: Int?)
}

/// What is wrong with a pattern, as a sentence that follows "The pattern".
struct PatternFault: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

/// A set of scalars.
struct PatternClass: Sendable {
    /// A set with a name.
    enum Kind: Sendable {
        case digit, word, space, horizontalSpace, verticalSpace
        /// General categories by their short names, one or two letters.
        case category(String)

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

    var isEmpty: Bool { ranges.isEmpty && kinds.isEmpty }

    mutating func insert(_ range: ClosedRange<Unicode.Scalar>) { ranges.append(range) }
    mutating func insert(_ kind: Kind, isNegated: Bool) { kinds.append((kind, isNegated)) }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        (holds(scalar) || ignoresCase && Self.otherCases(of: scalar).contains(where: holds)) != isNegated
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar) } || kinds.contains { $0.kind.contains(scalar) != $0.isNegated }
    }

    /// The lower case of the upper case, where both are single scalars.
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

extension Unicode.GeneralCategory {
    /// The two letters of the Unicode Character Database.
    var shortName: String {
        switch self {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }

    /// Every short name, and the one-letter names of their groups.
    static let shortNames: Set<String> = {
        let names = [
            "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",
            "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
        ]
        return Set(names + names.map { String($0.prefix(1)) })
    }()
}
