import StrataModel

/// The Swift declaration of an attribute: its type, initial value, options and documentation.
struct AttributeCode {
    /// The storage of the values, which determines their accessors and their description.
    enum Storage {
        case row
        /// The values are bytes made by the transformer with this name.
        case transformed(String)
        case memory
    }

    let attribute: AttributeDescription
    let type: String
    let storage: Storage
    /// The enum generated for it; nil if there is none.
    let enumeration: EnumerationCode?
    /// Whether nil in the store reads as zero.
    private let readsNilAsZero: Bool
    private let names: CodeNames

    /// Core Data's default transformer, for an attribute that names none.
    private static let defaultTransformer = "NSSecureUnarchiveFromData"

    init(_ attribute: AttributeDescription, of entity: EntityDescription, _ names: CodeNames, _ types: inout TypeTable)
    {
        self.attribute = attribute
        self.names = names
        var enumeration: EnumerationCode?
        let isOptional: Bool
        if attribute.isTransient {
            storage = .memory
            // There is no value before the app sets one.
            isOptional = true
        } else if attribute.type == .transformable {
            storage = .transformed(attribute.valueTransformerName ?? Self.defaultTransformer)
            isOptional = attribute.isOptional
        } else {
            storage = .row
            isOptional = attribute.isOptional
            enumeration =
                names.enumerations[EnumerationCode.AttributeKey(entityName: entity.name, attributeName: attribute.name)]
        }
        self.enumeration = enumeration
        readsNilAsZero = isOptional && enumeration == nil && names.scalars == .nonOptional && attribute.isScalar
        let plain =
            enumeration.map { CodeNames.escaped($0.name) } ?? Self.type(of: attribute, of: entity, names, &types)
        type = plain + (isOptional && !readsNilAsZero ? "?" : "")
    }

    private static func type(
        of attribute: AttributeDescription, of entity: EntityDescription, _ names: CodeNames, _ types: inout TypeTable
    ) -> String {
        func swift(_ name: String) -> String { names.type(name, of: "Swift") }
        func foundation(_ name: String) -> String { names.type(name, of: "Foundation") }
        return switch attribute.type {
        case .integer16: swift("Int16")
        case .integer32: swift("Int32")
        case .integer64: swift("Int64")
        case .decimal: foundation("Decimal")
        case .double: swift("Double")
        case .float: swift("Float")
        case .string: swift("String")
        case .boolean: swift("Bool")
        case .date: foundation("Date")
        case .binaryData: foundation("Data")
        case .uuid: foundation("UUID")
        case .uri: foundation("URL")
        case .objectID: names.type("ObjectID", of: "StrataModel")
        case .composite: names.struct(names.composites.name(of: attribute, owner: entity.name))
        case .transformable, .undefined:
            attribute.attributeValueClassName.map { types.type($0, names) } ?? "Any"
        }
    }

    var isRequiredTransformable: Bool {
        if case .transformed = storage { !attribute.isOptional } else { false }
    }

    /// Whether the store computes the value, so that the app cannot set it.
    var isDerived: Bool { attribute.derivationExpression != nil }

    var accessorSuffix: String {
        switch storage {
        case .row: ""
        case .transformed: "Transformed"
        case .memory: "Transient"
        }
    }

    /// The initial value as source; nil for none.
    var initialValue: String? {
        guard case .row = storage, let value = attribute.defaultValue, !value.isNull else { return nil }
        if let enumeration { return enumeration.literal(value) }
        return CodeLiteral.of(value, names)
    }

    // MARK: Options

    /// The options of the declaration, as source.
    var options: [String] {
        if case .memory = storage { return [] }
        var options = readsNilAsZero ? [".optional"] : []
        if attribute.allowsExternalBinaryDataStorage { options.append(".externalStorage") }
        switch attribute.encryption {
        case .storeKey?: options.append(".encrypted")
        case .subjectKey(.object)?: options.append(".encrypted(subject: .object)")
        case .subjectKey(.property(let name))?: options.append(".encrypted(subject: \(CodeLiteral.string(name)))")
        case nil: break
        }
        if attribute.preservesValueInHistoryOnDeletion { options.append(".preservesValueInHistoryOnDeletion") }
        if let expression = attribute.derivationExpression {
            options.append(".derived(\(CodeLiteral.string(expression.description)))")
        }
        if enumeration == nil { options += attribute.validationRules.compactMap(option) }
        if let name = attribute.renamingIdentifier { options.append(".renamed(from: \(CodeLiteral.string(name)))") }
        if let text = attribute.versionHashModifier {
            options.append(".versionHashModifier(\(CodeLiteral.string(text)))")
        }
        if !attribute.userInfo.isEmpty { options.append(".userInfo(\(CodeLiteral.dictionary(attribute.userInfo)))") }
        return options
    }

    /// A rule as an option; nil for a predicate, which has no option and exists only in the model.
    private func option(_ rule: ValidationRule) -> String? {
        switch rule {
        case .range(let minimum, let maximum):
            return range("range", minimum, maximum)
        case .length(let minimum, let maximum):
            guard attribute.type != .uri else { return nil }
            func value(_ length: Int?) -> AttributeValue? { length.map { .integer(Int64($0)) } }
            return range("length", value(minimum), value(maximum))
        case .pattern(let pattern): return ".pattern(\(CodeLiteral.string(pattern)))"
        case .predicate: return nil
        }
    }

    /// A range with one bound or two as an option; nil for none.
    private func range(_ name: String, _ minimum: AttributeValue?, _ maximum: AttributeValue?) -> String? {
        let (lower, upper) = (minimum.flatMap(bound), maximum.flatMap(bound))
        guard lower != nil || upper != nil else { return nil }
        let space = lower != nil && upper != nil ? " " : ""
        return ".\(name)(\(lower ?? "")\(space)...\(space)\(upper ?? ""))"
    }

    /// A bound beside the dots of a range, where a sign would be read as part of the operator.
    private func bound(_ value: AttributeValue) -> String? {
        guard let text = CodeLiteral.of(value, names) else { return nil }
        switch value {
        case .float(let number) where !number.isFinite: return notFinite(text)
        case .double(let number) where !number.isFinite: return notFinite(text)
        default: return text.hasPrefix("-") ? "(\(text))" : text
        }
    }

    /// `.infinity` with its type, which a range does not determine.
    private func notFinite(_ text: String) -> String {
        "(\(text) as \(names.type(attribute.type == .float ? "Float" : "Double", of: "Swift")))"
    }

    /// The parts of the documentation, such as `Required` and `from 0 to 5`.
    var facts: [String] {
        var facts: [String] = [attribute.isOptional ? "optional" : "required"]
        if attribute.isTransient { facts.append("kept in memory only") }
        if let encryption = attribute.encryption { facts.append("\(encryption)") }
        for rule in attribute.validationRules {
            switch rule {
            case .range(let minimum, let maximum):
                if let minimum = minimum.flatMap({ CodeLiteral.of($0, names) }) { facts.append("at least \(minimum)") }
                if let maximum = maximum.flatMap({ CodeLiteral.of($0, names) }) { facts.append("at most \(maximum)") }
            case .length(let minimum, let maximum):
                if let minimum { facts.append("\(minimum) characters or more") }
                if let maximum { facts.append("\(maximum) characters or fewer") }
            case .pattern(let pattern): facts.append("like `\(pattern)`")
            case .predicate(let rule): facts.append("such that `\(rule.predicate)`")
            }
        }
        if case .transformed(let name) = storage { facts.append("as the transformer `\(name)` makes it") }
        if let expression = attribute.derivationExpression { facts.append("derived from `\(expression)`") }
        return facts.map(CodeLiteral.comment)
    }
}

/// The app's own types that attributes name and the generator does not know.
struct TypeTable {
    /// The types that need placeholder declarations.
    private(set) var unknown: Set<String> = []

    private static let known: Set<String> = [
        "Any", "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
        "Double",
        "Float", "String", "Character", "Data", "Date", "URL", "UUID", "Decimal", "IndexPath", "IndexSet", "NSObject",
        "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet",
        "NSString", "NSNumber", "NSDecimalNumber", "NSData", "NSDate", "NSURL", "NSUUID", "NSAttributedString",
        "NSError",
    ]

    /// The type as source: `[Int64]` unchanged, `Module.Color` as `Color`.
    mutating func type(_ name: String, _ names: CodeNames) -> String {
        let text = name.filter { !$0.isWhitespace }
        if text.hasPrefix("["), text.hasSuffix("]") {
            let inner = text.dropFirst().dropLast()
            let parts = inner.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return "[\(parts.map { type($0, names) }.joined(separator: ": "))]"
        }
        let last = text.split(separator: ".").last.map(String.init) ?? text
        // The code uses the library's own types where they have these names.
        guard CodeNames.isName(last), Self.known.contains(last) || !CodeNames.libraryTypes.contains(last) else {
            return "Any"
        }
        if !Self.known.contains(last) {
            // A transformer cannot make objects of the model's classes.
            if names.isTaken(last) { return "Any" }
            unknown.insert(last)
        }
        return CodeNames.escaped(last)
    }
}

extension AttributeDescription {
    /// Whether Xcode generates a scalar for it.
    fileprivate var isScalar: Bool {
        guard editorInfo["usesScalarValueType"] == "YES", !isTransient else { return false }
        return type.isInteger || [.double, .float, .boolean].contains(type)
    }
}
