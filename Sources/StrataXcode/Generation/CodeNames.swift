import Foundation
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

    /// The class as a value or in a key path: another name for it where a property has the name of the class.
    func classValue(_ entityName: String) -> String {
        let plain = plainClass(entityName)
        return properties.contains(plain) ? "_Class_\(plain)" : Self.escaped(plain)
    }

    /// The class name without backticks, for making other names.
    func plainClass(_ entityName: String) -> String { classes[entityName] ?? entityName }

    /// A type of a library, with its module if a class of the model has the same name.
    func type(_ name: String, of module: String) -> String { taken.contains(name) ? "\(module).\(name)" : name }

    /// A type of a library that the code uses as a value, with its module if a class or a property has the same name.
    func value(_ name: String, of module: String) -> String {
        properties.contains(name) ? "\(module).\(name)" : type(name, of: module)
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
        "else",
        "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as",
        "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type", "Protocol",
    ]
}

/// Writes values as Swift literals.
enum CodeLiteral {
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    static func strings(_ texts: [String]) -> String { "[\(texts.map(string).joined(separator: ", "))]" }

    static func dictionary(_ values: [String: String]) -> String {
        let entries = values.sorted { $0.key < $1.key }.map { "\(string($0.key)): \(string($0.value))" }
        return entries.isEmpty ? "[:]" : "[\(entries.joined(separator: ", "))]"
    }

    private static func notFinite(_ value: some FloatingPoint) -> String {
        value.isNaN ? ".nan" : value < 0 ? "-.infinity" : ".infinity"
    }

    /// The literal of a value; nil if it has none.
    static func of(_ value: AttributeValue, _ names: CodeNames) -> String? {
        func foundation(_ name: String) -> String { names.type(name, of: "Foundation") }
        switch value {
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .float(let value): return value.isFinite ? "\(value)" : notFinite(value)
        case .double(let value): return value.isFinite ? "\(value)" : notFinite(value)
        case .decimal(let value): return "(\(foundation("Decimal"))(string: \(string("\(value)"))) ?? 0)"
        case .string(let text): return string(text)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isFinite ? "\(foundation("Date"))(timeIntervalSinceReferenceDate: \(seconds))" : nil
        case .uuid(let uuid):
            let bytes = withUnsafeBytes(of: uuid.uuid) { $0.map { "0x" + String($0, radix: 16) } }
            return "\(foundation("UUID"))(uuid: (\(bytes.joined(separator: ", "))))"
        case .url(let url):
            return
                "(\(foundation("URL"))(string: \(string(url.absoluteString))) ?? \(foundation("URL"))(filePath: \"/\"))"
        case .data(let data): return "\(foundation("Data"))([\(data.map { String($0) }.joined(separator: ", "))])"
        case .null, .blob, .objectID, .composite: return nil
        }
    }
}
