// Unicode general categories, Unicode properties and POSIX classes by name.

extension Unicode.GeneralCategory {
    /// The two-letter name in the Unicode Character Database.
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

    /// Every two-letter name, and the one-letter names of groups.
    static let shortNames: Set<String> = {
        let names = [
            "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",
            "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
        ]
        return Set(names + names.map { String($0.prefix(1)) })
    }()
}

extension PatternClass.Kind {
    /// The POSIX classes by name, as in `[[:alpha:]]`.
    static let posix: [String: PatternClass.Kind] = [
        "alpha": .alphabetic, "digit": .digit, "alnum": .alphanumeric, "upper": .uppercase, "lower": .lowercase,
        "punct": .category("P"), "space": .space, "blank": .horizontalSpace, "cntrl": .category("Cc"),
        "graph": .graphic, "print": .printing, "word": .word,
    ]

    /// The class of a Unicode property, as in `\p{Letter}`; case, spaces, hyphens and underscores in the name are
    /// ignored.
    init?(propertyName name: String) {
        if Unicode.GeneralCategory.shortNames.contains(name) {
            self = .category(name)
            return
        }
        var key = name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
        for prefix in ["generalcategory=", "gc="] where key.hasPrefix(prefix) { key.removeFirst(prefix.count) }
        if let short = Unicode.GeneralCategory.shortNames.first(where: { $0.lowercased() == key }) {
            self = .category(short)
            return
        }
        if key.hasPrefix("is") { key.removeFirst(2) }
        guard let kind = Self.named[key] else { return nil }
        self = kind
    }

    private static let named: [String: PatternClass.Kind] = [
        "alphabetic": .alphabetic, "uppercase": .uppercase, "lowercase": .lowercase, "whitespace": .space,
        "ascii": .ascii, "any": .any, "letter": .category("L"), "uppercaseletter": .category("Lu"),
        "lowercaseletter": .category("Ll"), "titlecaseletter": .category("Lt"), "modifierletter": .category("Lm"),
        "otherletter": .category("Lo"), "mark": .category("M"), "number": .category("N"),
        "decimalnumber": .category("Nd"), "digit": .category("Nd"), "letternumber": .category("Nl"),
        "othernumber": .category("No"), "punctuation": .category("P"), "punct": .category("P"),
        "symbol": .category("S"), "mathsymbol": .category("Sm"), "currencysymbol": .category("Sc"),
        "separator": .category("Z"), "spaceseparator": .category("Zs"), "other": .category("C"),
        "control": .category("Cc"), "format": .category("Cf"), "alpha": .alphabetic, "alnum": .alphanumeric,
    ]
}
