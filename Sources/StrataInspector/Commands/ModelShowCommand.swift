import ArgumentParser
import StrataModel

/// `strata model show`: lists the entities of a model with their properties, indexes and rules.
struct ModelShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Lists the entities of a model with their properties, indexes and rules.",
        discussion: """
            --json prints {"model", "entities": [{"name", "class", "parent", "abstract", "renamedFrom", "attributes": \
            [{"name", "type", "optional", "transient", "encrypted", "subject", "default", "derivedFrom", "rules", "renamedFrom", \
            "elements"}], "relationships": [{"name", "destination", "inverse", "toMany", "ordered", "optional", "minCount", "maxCount", "deleteRule", \
            "renamedFrom"}], "indexes": [{"name", "properties"}], "unique": [[property]]}], "fetchRequests": [name], \
            "configurations": {name: [entity]}}; "elements" of a composite are attributes.

            Examples:
                strata model show Movies.xcdatamodeld
                strata model show Movies.strata --version 1
            """)

    @OptionGroup var model: ModelArguments
    @Option(help: ArgumentHelp("Only this entity.", valueName: "entity")) var entity: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let input = try model.load()
        let known = try input.model()
        if let entity, known.entitiesByName[entity] == nil {
            let names = NameSuggestions(known.entities.map(\.name))
            throw UsageError("The model has no entity '\(entity)'.\(names.hint(for: entity))")
        }
        let entities = known.entities.filter { entity == nil || $0.name == entity }
        if json {
            return try JSONText.print([
                "model": input.name, "entities": entities.map(\.json),
                "fetchRequests": known.fetchRequestTemplates.keys.sorted(),
                "configurations": JSONObject(known.configurations.map { ($0.name, $0.entityNames) }),
            ])
        }
        for (index, entity) in entities.enumerated() {
            if index > 0 { Output.shared.line() }
            EntityPrinter(entity: entity).print()
        }
        guard entity == nil else { return }
        for template in known.fetchRequestTemplates.values.sorted(by: { $0.name < $1.name }) {
            Output.shared.line()
            let condition = template.predicate.map { " where \($0)" } ?? ""
            Output.shared.line("request \(template.name): \(template.entityName)\(condition)")
        }
        for configuration in known.configurations {
            Output.shared.line()
            let names = configuration.entityNames.joined(separator: ", ")
            Output.shared.line("configuration \(configuration.name): \(names)")
        }
    }
}

/// Prints one entity for people.
private struct EntityPrinter {
    let entity: EntityDescription
    private let style = Style.standard

    func print() {
        var facts: [String] = []
        if let parent = entity.superentityName { facts.append("is a \(parent)") }
        if entity.isAbstract { facts.append("abstract") }
        if let name = entity.managedObjectClassName, name != entity.name { facts.append("class \(name)") }
        if let name = entity.renamingIdentifier { facts.append("once \(name)") }
        let suffix = facts.isEmpty ? "" : style("  " + facts.joined(separator: ", "), .dim)
        Output.shared.line(style(entity.name, .bold) + suffix)
        var columns = Columns([.left, .left, .left], indent: "  ")
        for property in entity.properties {
            switch property {
            case .attribute(let attribute): add(attribute, attribute.name, to: &columns)
            case .relationship(let relationship):
                let ordered = relationship.isOrdered ? "ordered " : ""
                let kind = relationship.isToMany ? "\(ordered)to-many" : "to-one"
                columns.add(
                    relationship.name, "\(kind) \(relationship.destinationEntityName)",
                    relationship.facts.joined(separator: ", "))
            }
        }
        columns.flush()
        for index in entity.indexes {
            let parts = index.elements.map { $0.propertyPath + ($0.isAscending ? "" : " descending") }
            Output.shared.line("  index \(index.name): \(parts.joined(separator: ", "))")
        }
        for names in entity.uniquenessConstraints {
            Output.shared.line("  unique: \(names.joined(separator: ", "))")
        }
    }

    /// Prints an attribute, and the elements of a composite by their paths.
    private func add(_ attribute: AttributeDescription, _ path: String, to columns: inout Columns) {
        columns.add(path, attribute.type.name, attribute.facts.joined(separator: ", "))
        for element in attribute.elements { add(element, "\(path).\(element.name)", to: &columns) }
    }
}

extension AttributeDescription {
    fileprivate var facts: [String] {
        var facts: [String] = []
        if !isOptional { facts.append("required") }
        if isTransient { facts.append("transient") }
        if let encryption { facts.append(encryption.summary) }
        if let defaultValue { facts.append("default \(ValueText.of(defaultValue) { "\($0)" })") }
        if let derivationExpression { facts.append("derived from \(derivationExpression)") }
        facts += validationRules.map(\.text)
        if allowsExternalBinaryDataStorage { facts.append("large values in files") }
        if let name = attributeValueClassName { facts.append("a \(name)") }
        if let name = valueTransformerName { facts.append("by \(name)") }
        if let name = renamingIdentifier { facts.append("once \(name)") }
        return facts
    }
}

extension RelationshipDescription {
    fileprivate var facts: [String] {
        var facts: [String] = []
        if !isOptional { facts.append("required") }
        if isTransient { facts.append("transient") }
        if let inverseName { facts.append("inverse \(inverseName)") } else { facts.append("no inverse") }
        if isToMany, minCount > 1 { facts.append("at least \(minCount)") }
        if isToMany, maxCount > 0 { facts.append("at most \(maxCount)") }
        facts.append(deleteRule.text)
        if let name = renamingIdentifier { facts.append("once \(name)") }
        return facts
    }
}

extension DeleteRule {
    fileprivate var text: String {
        switch self {
        case .noAction: "no action"
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        }
    }
}

extension ValidationRule {
    fileprivate var text: String {
        func text(_ value: AttributeValue?) -> String { value.map { ValueText.of($0) { "\($0)" } } ?? "" }
        return switch self {
        case .range(let minimum, let maximum): "\(text(minimum))…\(text(maximum))"
        case .length(let minimum, let maximum):
            "length \(minimum.map(String.init) ?? "")…\(maximum.map(String.init) ?? "")"
        case .pattern(let pattern): "like /\(pattern)/"
        case .predicate(let rule): "\(rule.predicate)"
        }
    }
}

// MARK: JSON; `ModelShowCommand` documents the shape

extension EntityDescription {
    var json: JSONObject {
        [
            "name": name, "class": managedObjectClassName, "parent": superentityName, "abstract": isAbstract,
            "renamedFrom": renamingIdentifier, "attributes": properties.compactMap(\.attribute).map(\.json),
            "relationships": properties.compactMap(\.relationship).map(\.json),
            "indexes": indexes.map { index -> JSONObject in
                ["name": index.name, "properties": index.elements.map(\.propertyPath)]
            },
            "unique": uniquenessConstraints,
        ]
    }
}

extension AttributeDescription {
    fileprivate var json: JSONObject {
        [
            "name": name, "type": type.name, "optional": isOptional, "transient": isTransient,
            "encrypted": isEncrypted, "subject": subject,
            "default": defaultValue.map { JSONText.Value($0) { "\($0)" } },
            "derivedFrom": derivationExpression?.description, "rules": validationRules.map(\.text),
            "renamedFrom": renamingIdentifier, "elements": type == .composite ? elements.map(\.json) : nil,
        ]
    }
}

extension AttributeDescription {
    /// Whose key it is encrypted under: SELF, or the name of a property.
    private var subject: String? {
        switch encryption?.subject {
        case .object?: "SELF"
        case .property(let name)?: name
        case nil: nil
        }
    }
}

extension RelationshipDescription {
    fileprivate var json: JSONObject {
        [
            "name": name, "destination": destinationEntityName, "inverse": inverseName, "toMany": isToMany,
            "ordered": isOrdered, "optional": isOptional, "minCount": minCount, "maxCount": isToMany ? maxCount : 1,
            "deleteRule": deleteRule.text, "renamedFrom": renamingIdentifier,
        ]
    }
}
