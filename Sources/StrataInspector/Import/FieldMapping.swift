import StrataModel
import StrataStore

/// Which property each key of a file goes to.
struct FieldMapping {
    /// Where a value goes: a property, and for a relationship the attribute that names the other object.
    struct Target {
        let path: String
        let property: PropertySchema
        let key: String?
    }

    private let entity: EntitySchema
    /// What was said on the command line; empty leaves the key out.
    private let said: [String: String]
    private let ignoresUnknown: Bool
    private var found: [String: Target?] = [:]
    /// Keys that were said and that no record has had.
    private(set) var unmet: Set<String>

    /// - Parameter words: `file key=property`, `owner=familyMember.name`, `comment=`.
    /// - Throws: `UsageError`.
    init(_ words: [String], ignoresUnknown: Bool, _ entity: EntitySchema) throws {
        self.entity = entity
        self.ignoresUnknown = ignoresUnknown
        var said: [String: String] = [:]
        for word in words {
            guard let sign = word.lastIndex(of: "="), sign > word.startIndex else {
                throw UsageError("--map '\(word)' is no mapping. Write KEY=PROPERTY, or KEY= to leave it out.")
            }
            let key = String(word[..<sign])
            guard said.updateValue(String(word[word.index(after: sign)...]), forKey: key) == nil else {
                throw UsageError("--map says twice where '\(key)' goes.")
            }
        }
        self.said = said
        unmet = Set(said.filter { !$0.value.isEmpty }.keys)
        for (key, path) in said where !path.isEmpty { found[key] = try Self.target(path, entity) }
    }

    /// - Parameter keys: all that the file has.
    /// - Throws: `UsageError` for a key that was said and is none of them.
    func check(_ keys: [String]) throws {
        guard let key = unmet.subtracting(keys).min() else { return }
        throw UsageError("--map '\(key)=…': the file has no column '\(key)'.\(NameSuggestions(keys).hint(for: key))")
    }

    /// nil for a key that is left out.
    mutating func target(of key: String) throws -> Target? {
        if !unmet.isEmpty { unmet.remove(key) }
        if let known = found[key] { return known }
        let target = try look(for: key)
        found[key] = .some(target)
        return target
    }

    private func look(for key: String) throws -> Target? {
        if said[key] == "" { return nil }
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

    /// `first_name`, `First Name` and `firstName` are one.
    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private static func target(_ path: String, _ entity: EntitySchema) throws -> Target {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard let property = entity.property(named: parts[0]), property.storage != .position else {
            let known = NameSuggestions(entity.properties.filter { $0.storage != .position }.map(\.name))
            throw UsageError("\(entity.name) has no property '\(parts[0])'.\(known.hint(for: parts[0]))")
        }
        guard parts.count == 1 || property.relationship != nil else {
            throw UsageError("\(path): \(parts[0]) is no relationship.")
        }
        return Target(path: path, property: property, key: parts.count > 1 ? parts[1] : nil)
    }
}
