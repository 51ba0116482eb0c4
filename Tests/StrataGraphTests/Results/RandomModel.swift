import Foundation
import StrataModel

/// A model drawn at random: entities, one perhaps under another, with attributes of several types, indexes, and
/// relationships of every shape between them; and predicates and orders over it.
struct RandomModel {
    struct Attribute {
        let name: String
        let type: AttributeType
        let isOptional: Bool
    }

    struct Link {
        let name: String
        let inverse: String
        let source: String
        let destination: String
        let isToMany: Bool
        let isInverseToMany: Bool
        let isOrdered: Bool
        let isInverseOrdered: Bool
        let deleteRule: DeleteRule
    }

    private(set) var entities: [String] = []
    private(set) var attributes: [String: [Attribute]] = [:]
    private(set) var links: [Link] = []
    /// The last entity's parent, if it has one.
    private(set) var parent: String?
    private var indexed: Set<String> = []

    init(using random: inout some RandomNumberGenerator) {
        entities = (0..<Int.random(in: 2...3, using: &random)).map { "E\($0)" }
        if Bool.random(using: &random) { parent = entities[0] }
        for entity in entities {
            attributes[entity] = (0..<Int.random(in: 1...3, using: &random)).map { number in
                let types: [AttributeType] = [.string, .integer32, .double, .boolean, .date]
                return Attribute(
                    name: "\(entity.lowercased())a\(number)", type: types.randomElement(using: &random) ?? .string,
                    isOptional: Bool.random(using: &random))
            }
        }
        for attribute in attributes.values.joined() where Bool.random(using: &random) { indexed.insert(attribute.name) }
        for number in 0..<Int.random(in: 1...4, using: &random) {
            let isToMany = Bool.random(using: &random), isInverseToMany = Bool.random(using: &random)
            links.append(
                Link(
                    name: "to\(number)", inverse: "from\(number)", source: entities.randomElement(using: &random) ?? "",
                    destination: entities.randomElement(using: &random) ?? "", isToMany: isToMany,
                    isInverseToMany: isInverseToMany, isOrdered: isToMany && Bool.random(using: &random),
                    isInverseOrdered: isInverseToMany && Bool.random(using: &random),
                    deleteRule: Int.random(in: 0..<4, using: &random) == 0 ? .cascade : .nullify))
        }
    }

    func superentity(of entity: String) -> String? { entity == entities.last ? parent : nil }

    func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: entities.map { entity in
                let own = attributes[entity] ?? []
                return EntityDescription(
                    name: entity, superentityName: superentity(of: entity),
                    properties: own.map {
                        .attribute(
                            AttributeDescription(
                                name: $0.name, type: $0.type, isOptional: $0.isOptional,
                                defaultValue: $0.isOptional ? nil : Self.initial(of: $0.type)))
                    } + relationships(of: entity),
                    indexes: own.filter { indexed.contains($0.name) }.map {
                        FetchIndexDescription(name: "by-\($0.name)", elements: [FetchIndexElement($0.name)])
                    })
            })
    }

    private func relationships(of entity: String) -> [PropertyDescription] {
        links.flatMap { link -> [PropertyDescription] in
            var found: [PropertyDescription] = []
            if link.source == entity {
                found.append(
                    .relationship(
                        RelationshipDescription(
                            name: link.name, destinationEntityName: link.destination, inverseName: link.inverse,
                            isToMany: link.isToMany, isOrdered: link.isOrdered, deleteRule: link.deleteRule)))
            }
            if link.destination == entity {
                found.append(
                    .relationship(
                        RelationshipDescription(
                            name: link.inverse, destinationEntityName: link.source, inverseName: link.name,
                            isToMany: link.isInverseToMany, isOrdered: link.isInverseOrdered)))
            }
            return found
        }
    }

    private static func initial(of type: AttributeType) -> AttributeValue {
        switch type {
        case .string: .string("a")
        case .integer32: .integer(0)
        case .double: .double(0)
        case .boolean: .boolean(false)
        default: .date(Date(timeIntervalSinceReferenceDate: 0))
        }
    }

    // MARK: What an entity has

    /// Attributes of an entity, inherited ones among them.
    func attributes(of entity: String) -> [Attribute] {
        (attributes[entity] ?? []) + (superentity(of: entity).map { attributes(of: $0) } ?? [])
    }

    struct End {
        let name: String
        let destination: String
        let isToMany: Bool
    }

    /// Relationships of an entity, from either side, inherited ones among them.
    func ends(of entity: String) -> [End] {
        links.flatMap { link -> [End] in
            (link.source == entity
                ? [End(name: link.name, destination: link.destination, isToMany: link.isToMany)] : [])
                + (link.destination == entity
                    ? [End(name: link.inverse, destination: link.source, isToMany: link.isInverseToMany)] : [])
        } + (superentity(of: entity).map { ends(of: $0) } ?? [])
    }

    // MARK: Requests

    /// A value for an attribute, out of few, so that requests find some.
    static func value(of attribute: Attribute, using random: inout some RandomNumberGenerator) -> (any Sendable)? {
        if attribute.isOptional, Int.random(in: 0..<5, using: &random) == 0 { return nil }
        switch attribute.type {
        case .string: return ["a", "b", "c", "B", "é"].randomElement(using: &random) ?? ""
        case .integer32: return Int32.random(in: 0..<4, using: &random)
        case .double: return Double(Int.random(in: 0..<4, using: &random)) / 2
        case .boolean: return Bool.random(using: &random)
        default: return Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<4, using: &random)))
        }
    }

    private func comparison(_ path: String, _ attribute: Attribute, using random: inout some RandomNumberGenerator)
        -> String
    {
        let operation = ["==", "!=", "<", ">="].randomElement(using: &random) ?? "=="
        switch attribute.type {
        case .string:
            let word = ["== 'a'", "> 'b'", "BEGINSWITH[c] 'b'", "!= 'c'", "CONTAINS[d] 'e'"].randomElement(
                using: &random)
            return "\(path) \(word ?? "")"
        case .integer32: return "\(path) \(operation) \(Int.random(in: 0..<4, using: &random))"
        case .double: return "\(path) \(operation) \(Double(Int.random(in: 0..<4, using: &random)) / 2)"
        case .boolean: return "\(path) == \(Bool.random(using: &random) ? "TRUE" : "FALSE")"
        default: return "\(path) \(Bool.random(using: &random) ? "==" : "!=") nil"
        }
    }

    /// A condition over an object of the entity, its attributes or what it is linked to.
    func condition(on entity: String, depth: Int = 2, using random: inout some RandomNumberGenerator) -> String {
        let ends = ends(of: entity)
        if depth > 0, Int.random(in: 0..<4, using: &random) == 0 {
            let first = condition(on: entity, depth: depth - 1, using: &random)
            let second = condition(on: entity, depth: depth - 1, using: &random)
            return ["(\(first)) AND (\(second))", "(\(first)) OR (\(second))", "NOT (\(first))"]
                .randomElement(using: &random) ?? first
        }
        let own = attributes(of: entity).randomElement(using: &random)
        guard let end = ends.randomElement(using: &random), Bool.random(using: &random) else {
            return own.map { comparison($0.name, $0, using: &random) } ?? "TRUEPREDICATE"
        }
        let far = attributes(of: end.destination).randomElement(using: &random)
        guard end.isToMany else {
            if let far, Bool.random(using: &random) {
                return comparison("\(end.name).\(far.name)", far, using: &random)
            }
            return "\(end.name) \(Bool.random(using: &random) ? "==" : "!=") nil"
        }
        guard let far, Bool.random(using: &random) else {
            return "\(end.name).@count \(["==", ">", "<="].randomElement(using: &random) ?? "==") 1"
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "NONE \(comparison("\(end.name).\(far.name)", far, using: &random))"
        case 1: return "ALL \(comparison("\(end.name).\(far.name)", far, using: &random))"
        case 2:
            let inner = comparison("$x.\(far.name)", far, using: &random)
            return "SUBQUERY(\(end.name), $x, \(inner)).@count > 0"
        default: return "ANY \(comparison("\(end.name).\(far.name)", far, using: &random))"
        }
    }

    /// Attributes of the object and of what its to-ones lead to.
    func order(of entity: String, using random: inout some RandomNumberGenerator) -> [SortDescription] {
        (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
            let isAscending = Bool.random(using: &random)
            let toOne = ends(of: entity).filter { !$0.isToMany }.randomElement(using: &random)
            if let toOne, Int.random(in: 0..<3, using: &random) == 0,
                let far = attributes(of: toOne.destination).randomElement(using: &random)
            {
                return SortDescription("\(toOne.name).\(far.name)", isAscending: isAscending)
            }
            return attributes(of: entity).randomElement(using: &random).map {
                SortDescription($0.name, isAscending: isAscending)
            }
        }
    }
}
