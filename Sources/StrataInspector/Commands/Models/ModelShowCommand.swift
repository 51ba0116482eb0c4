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
        let facts = entity.facts
        let suffix = facts.isEmpty ? "" : style("  " + facts.joined(separator: ", "), .dim)
        Output.shared.line(style(entity.name, .bold) + suffix)
        var columns = Columns([.left, .left, .left], indent: "  ")
        for property in entity.properties {
            switch property {
            case .attribute(let attribute): add(attribute, attribute.name, to: &columns)
            case .relationship(let relationship):
                columns.add(relationship.name, relationship.target, relationship.facts.joined(separator: ", "))
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

    static func text(_ value: AttributeValue) -> String { ValueText.of(value) { "\($0)" } }

    /// Prints an attribute, and the elements of a composite by their paths.
    private func add(_ attribute: AttributeDescription, _ path: String, to columns: inout Columns) {
        columns.add(path, attribute.type.name, attribute.facts(Self.text).joined(separator: ", "))
        for element in attribute.elements { add(element, "\(path).\(element.name)", to: &columns) }
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
            "derivedFrom": derivationExpression?.description,
            "rules": validationRules.map { $0.text(EntityPrinter.text) },
            "renamedFrom": renamingIdentifier, "elements": type == .composite ? elements.map(\.json) : nil,
        ]
    }
}

extension AttributeDescription {
    /// The subject whose key encrypts the attribute: SELF, or the name of a property.
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
