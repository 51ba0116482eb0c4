import StrataModel

/// The names in generated code for the entities, composites and enums of a model, unique and valid in Swift.
struct CodeNames {
    private var classes: [String: String] = [:]
    private var taken: Set<String> = []
    /// Names of properties, which hide types of these names in the code of a class.
    private let properties: Set<String>
    /// The names of structs by the names of composites.
    private(set) var composites: [String: String] = [:]
    /// The enums by their names in the model.
    private var enumerationsByName: [String: [EnumerationCode]] = [:]
    private(set) var enumerations: [EnumerationCode.AttributeKey: EnumerationCode] = [:]
    let form: ModelCode.Form
    let scalars: ModelCode.Scalars

    /// The names for a model. With macros a class has the entity's name; otherwise it has the class name in the model.
    init(_ model: ManagedObjectModel, _ form: ModelCode.Form, _ scalars: ModelCode.Scalars) {
        self.form = form
        self.scalars = scalars
        properties = Set(model.entities.flatMap { $0.properties.map(\.name) })
        for entity in model.entities {
            let wanted = form == .macro ? nil : entity.managedObjectClassName.flatMap(Self.className)
            let name = [wanted, entity.name].compactMap(\.self).first { !taken.contains($0) } ?? unique(entity.name)
            classes[entity.name] = name
            taken.insert(name)
        }
        for name in CompositeNames(model.entities).byName.keys.sorted() {
            let type = unique(Self.identifier(of: name))
            composites[name] = type
            taken.insert(type)
        }
        for entity in model.entities { addEnumerations(of: entity) }
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
                code.name = unique(wanted)
                taken.insert(code.name)
                enumerationsByName[wanted, default: []].append(code)
            }
            enumerations[EnumerationCode.AttributeKey(entityName: entity.name, attributeName: attribute.name)] = code
        }
    }

    private func unique(_ name: String) -> String { Self.unique(name, beside: taken) }

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

    /// The class name of an entity, as source.
    func `class`(_ entityName: String) -> String { Self.escaped(plainClass(entityName)) }

    /// Parameters and constants in the code of accessors and descriptions.
    static let locals: Set<String> = ["newValue", "index", "visitor", "object", "entity", "key", "member", "members"]

    /// The class as a value or in a key path: another name for it where a property or a parameter has its name.
    func classValue(_ entityName: String) -> String {
        let plain = plainClass(entityName)
        return properties.contains(plain) || Self.locals.contains(plain) ? "_Class_\(plain)" : Self.escaped(plain)
    }

    /// The class name without backticks, for making other names.
    func plainClass(_ entityName: String) -> String { classes[entityName] ?? entityName }

    /// A type of a library, with its module if a class of the model has the same name.
    func type(_ name: String, of module: String) -> String { taken.contains(name) ? "\(module).\(name)" : name }

    /// A type of a library that the code uses as a value, with its module if a class or a property has the same name.
    func value(_ name: String, of module: String) -> String {
        properties.contains(name) ? "\(module).\(name)" : type(name, of: module)
    }

    /// Makes a value of a type of a library. Where a property has the name of the type, the type follows `as`, where
    /// Swift looks for no properties.
    ///
    /// - Parameter canFail: whether the initializer can fail.
    func made(_ name: String, of module: String, canFail: Bool = false, _ arguments: String) -> String {
        let type = type(name, of: module)
        guard properties.contains(name) else { return "\(type)(\(arguments))" }
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

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while",
        "Any", "as",
        "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type", "Protocol",
        // Where a type is expected, or first in a class, these are no names either.
        "any", "some", "each", "willSet", "didSet",
    ]
}
