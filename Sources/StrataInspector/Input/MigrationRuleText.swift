import Foundation
import StrataModel

/// Reads the rules of a migration from the command line and from files.
struct MigrationRuleText {
    private let model: ManagedObjectModel
    private(set) var rules: [MigrationRule] = []

    init(_ model: ManagedObjectModel) { self.model = model }

    /// A rule a line: `set Order.status="pending"`, `delete-misfits Order`; a line that begins with `#` is a comment.
    ///
    /// - Throws: `UsageError`, with the number of the line.
    mutating func read(file: String) throws {
        let text: String
        do {
            text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        } catch {
            throw UsageError("\(file) cannot be read: \(error.systemReason)")
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let rule = line.trimmingCharacters(in: .whitespaces)
            if rule.isEmpty || rule.hasPrefix("#") { continue }
            do {
                try read(rule)
            } catch let error as UsageError {
                throw UsageError("\(file), line \(index + 1): \(error.message)")
            }
        }
    }

    private mutating func read(_ rule: String) throws {
        let words = rule.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.count) {
        case ("set", 2): try set(words[1].trimmingCharacters(in: .whitespaces))
        case ("delete-misfits", 2): try deleteMisfits(words[1].trimmingCharacters(in: .whitespaces))
        default:
            throw UsageError("'\(rule)' is not a rule. Write set Entity.property=value, or delete-misfits Entity.")
        }
    }

    /// - Parameter word: `Order.status="pending"`; the quotes may be left out.
    mutating func set(_ word: String) throws {
        let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let names = sides[0].split(separator: ".", maxSplits: 1).map(String.init)
        guard sides.count == 2, names.count == 2 else {
            throw UsageError("'\(word)' is not an assignment. Write Entity.property=value.")
        }
        let entity = try entity(names[0])
        guard !rules.contains(where: { $0.entityName == entity && $0.propertyName == names[1] }) else {
            throw UsageError("\(entity).\(names[1]) is set twice.")
        }
        guard let attribute = model.hierarchy.declaration(of: names[1], in: entity)?.property.attribute else {
            let known = NameSuggestions(
                model.hierarchy.declarations(of: entity).filter { $0.property.attribute != nil }.map(\.property.name))
            throw UsageError("\(entity) has no attribute '\(names[1])'.\(known.hint(for: names[1]))")
        }
        do {
            let value = try AttributeInput().value(.text(Self.unquoted(sides[1])), for: attribute)
            rules.append(MigrationRule(entity: entity, property: names[1], value: value))
        } catch let error as InputError {
            throw UsageError("\(sides[0]): \(error.message)")
        }
    }

    mutating func deleteMisfits(_ name: String) throws {
        rules.append(.deletingMisfits(of: try entity(name)))
    }

    private func entity(_ name: String) throws -> String {
        if model.hierarchy.entity(named: name) != nil { return name }
        let known = NameSuggestions(model.entities.map(\.name))
        throw UsageError("The new model has no entity '\(name)'.\(known.hint(for: name))")
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, let first = text.first, first == "\"" || first == "'", text.last == first else {
            return text
        }
        return String(text.dropFirst().dropLast())
    }
}
