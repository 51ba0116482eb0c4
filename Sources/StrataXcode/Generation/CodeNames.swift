import StrataModel

/// The names in generated code for the entities, composites and enums of a model, unique and valid in Swift.
struct CodeNames {
    private var classes: [String: String] = [:]
    private var taken: Set<String> = []
    /// Names of properties, which hide types of these names in the code of a class.
    private let properties: Set<String>
    /// Names of elements of composites, which hide types of these names in the code of a struct.
    private let elements: Set<String>
    let composites: CompositeNames
    /// The names of structs by the names of composites.
    private var structs: [String: String] = [:]
    /// The classes `_Movie` with the properties, in the form without macros.
    private var bases: [String: String] = [:]
    /// Other names of classes, where a property or a parameter has their name.
    private var aliases: [String: String] = [:]
    /// The type that lists all classes.
    private(set) var modelType = ""
    /// The enums by their names in the model.
    private var enumerationsByName: [String: [EnumerationCode]] = [:]
    private(set) var enumerations: [EnumerationCode.AttributeKey: EnumerationCode] = [:]
    let form: ModelCode.Form
    let scalars: ModelCode.Scalars

    /// The names for a model. With macros a class has the entity's name; otherwise it has the class name in the model.
    ///
    /// - Parameter typeName: the wanted name of the type that lists all classes.
    init(
        _ model: ManagedObjectModel, _ form: ModelCode.Form, _ scalars: ModelCode.Scalars, typeName: String
    ) {
        self.form = form
        self.scalars = scalars
        properties = Set(model.entities.flatMap { $0.properties.map(\.name) })
        composites = CompositeNames(model.entities)
        elements = Set(composites.byName.values.joined().map(\.name))
        let wanted = model.entities.map { entity in
            [form == .macro ? nil : entity.managedObjectClassName.flatMap(Self.className), entity.name]
                .compactMap(\.self)
        }
        // A class named as a module would hide the types of the module, which are asked for by its name.
        let areModulesNamed = !properties.union(wanted.joined()).isDisjoint(with: Self.libraryTypes)
        if areModulesNamed { taken.formUnion(Self.modules) }
        // A class of such a name would hide what the code calls.
        taken.formUnion(Self.accessors)
        for (entity, wanted) in zip(model.entities, wanted) {
            let name = wanted.first { !isTaken($0) } ?? entity.name
            // Members of the class for all objects end with its name.
            classes[entity.name] = take(name == "ManagedObject" ? "\(name)2" : name)
        }
        for name in composites.byName.keys.sorted() {
            structs[name] = take(Self.identifier(of: name))
        }
        for entity in model.entities { addEnumerations(of: entity) }
        modelType = take(isTaken(typeName) ? "_\(typeName)" : typeName)
        for entity in model.entities {
            let name = plainClass(entity.name)
            bases[entity.name] = take("_\(name)")
            if properties.contains(name) || Self.locals.contains(name) {
                aliases[entity.name] = take("_Class_\(name)")
            }
        }
    }

    /// The name, with a number if it is taken; from now on it is.
    private mutating func take(_ name: String) -> String {
        let name = Self.unique(name, beside: taken)
        taken.insert(name)
        return name
    }

    /// Adds the enums of an entity. Attributes that name the same enum with the same cases share it.
    private mutating func addEnumerations(of entity: EntityDescription) {
        for case .attribute(let attribute) in entity.properties {
            guard !attribute.isTransient, var code = EnumerationCode(attribute, ofClass: plainClass(entity.name)) else {
                continue
            }
            let wanted = code.name
            if let other = enumerationsByName[wanted]?.first(where: code.isSame) {
                code.name = other.name
                code.isDeclared = false
            } else {
                code.name = take(wanted)
                enumerationsByName[wanted, default: []].append(code)
            }
            enumerations[EnumerationCode.AttributeKey(entityName: entity.name, attributeName: attribute.name)] = code
        }
    }

    /// The name, with a number after it if it is taken.
    static func unique(_ name: String, beside taken: Set<String>) -> String {
        var candidate = name
        var number = 1
        while taken.contains(candidate) {
            number += 1
            candidate = "\(name)\(number)"
        }
        return candidate
    }

    /// The struct of a composite, as source.
    func `struct`(_ compositeName: String) -> String { Self.escaped(structs[compositeName] ?? compositeName) }

    /// The class name of an entity, as source.
    func `class`(_ entityName: String) -> String { Self.escaped(plainClass(entityName)) }

    /// Parameters and constants in the code of accessors and descriptions.
    static let locals: Set<String> = ["newValue", "index", "visitor", "object", "entity", "key", "member", "members"]

    /// Types that the code of both forms names. A class of one of these names has the code name the type's module, too.
    static let libraryTypes: Set<String> = macroTypes.union([
        "Int16", "Int32", "Int64", "Double", "Float", "Sequence", "Sendable", "Codable", "CaseIterable", "Hashable",
        "Decimal", "Date", "Data", "UUID", "URL", "ToMany", "FetchRequest", "FetchRequestTemplate", "FetchPredicate",
        "FetchArgument", "FetchIndexDescription", "FetchIndexElement", "ObjectID",
    ])

    /// Types that the expansions of macros name without their module, or that a macro takes for types of values.
    static let macroTypes: Set<String> = [
        "ManagedObject", "ManagedEntity", "EntityDefinition", "EntityBuilder", "Bool", "Data", "Date", "Decimal",
        "Double", "Float", "Int", "Int16", "Int32", "Int64", "String", "URL", "UUID",
    ]

    private static let modules: Set<String> = ["Swift", "Foundation", "Strata", "StrataGraph", "StrataModel"]

    /// Members of `ManagedObject` and of structs, types for them that no app writes, and words of Swift.
    private static let accessors: Set<String> = [
        "_get", "_set", "_getTransformed", "_setTransformed", "_getTransient", "_setTransient", "_visitKeyPath",
        "_KeyPathVisitor", "_ObjectSeed",
        // Swift makes such a type in every struct of a composite.
        "CodingKeys",
        // Swift and the code mean other types by these.
        "Any", "Self", "self",
    ]

    /// Whether the expansions of macros would take a type of the model for one of a library.
    var hidesMacroTypes: Bool { !Self.macroTypes.isDisjoint(with: taken) }

    /// The class as a value or in a key path: another name for it where a property or a parameter has its name.
    func classValue(_ entityName: String) -> String {
        aliases[entityName] ?? Self.escaped(plainClass(entityName))
    }

    /// The class with the properties, in the form without macros.
    func base(_ entityName: String) -> String { bases[entityName] ?? "_\(plainClass(entityName))" }

    /// The class name without backticks, for making other names.
    func plainClass(_ entityName: String) -> String { classes[entityName] ?? entityName }

    /// A type of a library, with its module if a class of the model has the same name.
    func type(_ name: String, of module: String) -> String { taken.contains(name) ? "\(module).\(name)" : name }

    /// Returns the types of Swift that an enum or a struct inherits.
    func conformances(_ types: String...) -> String { types.map { type($0, of: "Swift") }.joined(separator: ", ") }

    /// A type of a library that the code uses as a value, with its module if a class or a property has the same name.
    func value(_ name: String, of module: String) -> String {
        properties.contains(name) ? "\(module).\(name)" : type(name, of: module)
    }

    /// Makes a value of a type of a library. Where a property or an element has the name of the type, the type follows `as`, where
    /// Swift looks for no properties.
    ///
    /// - Parameter canFail: whether the initializer can fail.
    func made(_ name: String, of module: String, canFail: Bool = false, _ arguments: String) -> String {
        let type = type(name, of: module)
        guard properties.contains(name) || elements.contains(name) else { return "\(type)(\(arguments))" }
        return "(.init(\(arguments)) as \(type)\(canFail ? "?" : ""))"
    }

    func isTaken(_ name: String) -> Bool { taken.contains(name) }

    // MARK: Swift's keywords

    /// A class name without its module; nil if it is not a name, such as `[Int64]`.
    private static func className(_ text: String) -> String? {
        let name = text.split(separator: ".", omittingEmptySubsequences: false).last.map(String.init) ?? text
        return isName(name) ? name : nil
    }

    static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return text.unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
    }

    /// A valid name made from any text.
    static func identifier(of text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.isXIDContinue ? $0 : "_" }
        let name = String(String.UnicodeScalarView(scalars))
        return isName(name) ? name : "_" + name
    }

    /// The name, in backticks if it is a keyword.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Keywords, and words that are not taken for a name at every place.
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while",
        "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type",
        "Protocol", "_", "any", "some", "each", "willSet", "didSet", "async", "reasync", "actor", "distributed",
        "nonisolated", "isolated", "sending", "borrowing", "consuming", "consume", "copy", "discard", "unsafe",
        "package", "macro", "override", "required", "convenience", "dynamic", "final", "indirect", "lazy", "mutating",
        "nonmutating", "optional", "unowned", "weak", "then", "yield",
    ]
}
