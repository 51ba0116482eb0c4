import StrataModel
import StrataStore

/// Maps the keys of a file to properties.
struct FieldMapping {
    /// The property that a value is for, and for a relationship the attribute that names the other object.
    struct Target {
        let path: String
        let property: PropertySchema
        let key: String?
    }

    private let entity: EntitySchema
    /// The mappings of the command line; an empty one leaves the key out.
    private let given: [String: String]
    private let ignoresUnknown: Bool
    private var found: [String: Target?] = [:]
    /// Mapped keys that no record has had so far.
    private(set) var unmet: Set<String>

    /// - Parameter words: `file key=property`, `owner=familyMember.name`, `comment=`.
    /// - Throws: `UsageError`.
    init(_ words: [String], ignoresUnknown: Bool, _ entity: EntitySchema) throws {
        self.entity = entity
        self.ignoresUnknown = ignoresUnknown
        var given: [String: String] = [:]
        for word in words {
            guard let sign = word.lastIndex(of: "="), sign > word.startIndex else {
                throw UsageError("--map '\(word)' is not a mapping. Write KEY=PROPERTY, or KEY= to leave it out.")
            }
            let key = String(word[..<sign])
            guard given.updateValue(String(word[word.index(after: sign)...]), forKey: key) == nil else {
                throw UsageError("--map has two mappings for '\(key)'.")
            }
        }
        self.given = given
        unmet = Set(given.filter { !$0.value.isEmpty }.keys)
        for (key, path) in given where !path.isEmpty { found[key] = try Self.target(path, entity) }
    }

    /// Checks that the file has every mapped key.
    ///
    /// - Parameter keys: all keys of the file.
    /// - Throws: `UsageError` for a mapped key that is not among them.
    func check(_ keys: [String]) throws {
        guard let key = unmet.subtracting(keys).min() else { return }
        throw UsageError("--map '\(key)=…': the file has no column '\(key)'.\(NameSuggestions(keys).hint(for: key))")
    }

    /// The target of a key; nil if the key is left out.
    mutating func target(of key: String) throws -> Target? {
        if !unmet.isEmpty { unmet.remove(key) }
        if let known = found[key] { return known }
        let target = try look(for: key)
        found[key] = .some(target)
        return target
    }

    private func look(for key: String) throws -> Target? {
        if given[key] == "" { return nil }
        let plain = Self.plain(key)
        let name =
            entity.properties.first { $0.name == key } ?? entity.properties.first { Self.plain($0.name) == plain }
        if let name, name.storage != .position { return Target(path: key, property: name, key: nil) }
        if key.contains("."), let target = try? Self.target(key, entity) { return target }
        if ignoresUnknown { return nil }
        let known = NameSuggestions(entity.properties.filter { $0.storage != .position }.map(\.name))
        throw UsageError(
            "\(entity.name) has no property '\(key)'.\(known.hint(for: key)) Say --map '\(key)=PROPERTY', "
                + "--map '\(key)=' to leave it out, or --ignore-unknown.")
    }

    /// The name without case, spaces and underscores: `first_name`, `First Name` and `firstName` are the same.
    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private static func target(_ path: String, _ entity: EntitySchema) throws -> Target {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard let property = entity.property(named: parts[0]), property.storage != .position else {
            let known = NameSuggestions(entity.properties.filter { $0.storage != .position }.map(\.name))
            throw UsageError("\(entity.name) has no property '\(parts[0])'.\(known.hint(for: parts[0]))")
        }
        guard parts.count == 1 || property.relationship != nil else {
            throw UsageError("\(path): \(parts[0]) is not a relationship.")
        }
        return Target(path: path, property: property, key: parts.count > 1 ? parts[1] : nil)
    }
}
