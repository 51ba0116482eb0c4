import Locking
import StrataModel

/// A key path bound to an entity: its relationships and the slot at its end.
struct ResolvedPath: Sendable {
    /// A step to another object.
    enum Hop: Sendable, Hashable {
        case toOne(slot: Int)
        case toMany(PropertyID)

        var isToMany: Bool { if case .toMany = self { true } else { false } }
    }

    /// The end of a path.
    enum End: Sendable {
        /// The object that the hops lead to.
        case object
        case attribute(slot: Int, AttributeDescription)
        case element(slot: Int, [String], AttributeDescription)
        /// `relationship.@count`
        case count(PropertyID)

        /// The elements of a composite.
        var elements: [AttributeDescription] {
            switch self {
            case .attribute(_, let attribute), .element(_, _, let attribute): attribute.elements
            case .object, .count: []
            }
        }
    }

    /// The path as it is written.
    let text: String
    private(set) var hops: [Hop] = []
    private(set) var end = End.object
    /// The entities at which the hops begin, and last the entity to which they lead.
    private(set) var entities: [EntitySchema]
    /// The number of bytes of the text after each hop.
    private var tails: [Int] = []

    /// The entity that the hops lead to.
    var entity: EntitySchema { entities[entities.count - 1] }

    /// `SELF`
    init(selfOf entity: EntitySchema) {
        text = "SELF"
        entities = [entity]
    }

    /// The path with a text, which is bound once for each schema.
    ///
    /// - Throws: as `init`.
    static func of(
        _ text: String, in entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) -> ResolvedPath {
        let known = schema.derived { _ in ResolvedPaths() }
        if let path = known.path(text, of: entity.id) { return path }
        let path = try ResolvedPath(text, in: entity, schema)
        known.keep(path, of: entity.id)
        return path
    }

    /// Binds a text of names with dots between, beginning at an entity.
    ///
    /// `SELF` is the object itself, and so are `id` and `objectID` if the entity has no property of that name.
    ///
    /// - Throws: `unknownKey` with the nearest name; `invalidRequest` for a property that is not stored.
    init(_ text: String, in entity: EntitySchema, _ schema: Schema) throws(StrataError) {
        self.text = text
        entities = [entity]
        var steps = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        try PredicateLimits.check(steps: steps.count, of: text)
        while let step = steps.popFirst() {
            guard let property = self.entity.property(named: step) else {
                if ["SELF", "self", "id", "objectID"].contains(step) {
                    if steps.isEmpty || step.lowercased() == "self" { continue }
                }
                throw unknown(step)
            }
            switch property.kind {
            case .relationship(let relationship): try follow(relationship, property, &steps, schema)
            case .attribute(let attribute):
                try finish(attribute, property.slot, steps)
                return
            case .position: throw unknown(step)
            }
        }
    }

    private mutating func follow(
        _ relationship: RelationshipSchema, _ property: PropertySchema, _ steps: inout ArraySlice<String>,
        _ schema: Schema
    ) throws(StrataError) {
        guard !relationship.description.isTransient else { throw notStored(property.name) }
        guard let destination = schema.entity(relationship.destination) else {
            throw StrataError(
                .unknownEntity, "The model does not have the destination of \(property.name).",
                context: .init(key: text))
        }
        if relationship.isToMany, steps == ["@count"] {
            end = .count(property.id)
            steps = []
            return
        }
        hops.append(relationship.isToMany ? .toMany(property.id) : .toOne(slot: property.slot))
        entities.append(destination)
        tails.append(steps.reduce(-1) { $0 + $1.utf8.count + 1 })
    }

    private mutating func finish(
        _ attribute: AttributeDescription, _ slot: Int, _ steps: ArraySlice<String>
    ) throws(StrataError) {
        guard !attribute.isTransient else { throw notStored(attribute.name) }
        var current = attribute
        for step in steps {
            guard let next = current.elements.first(where: { $0.name == step }) else {
                throw unknown(step, in: current)
            }
            current = next
        }
        end = steps.isEmpty ? .attribute(slot: slot, attribute) : .element(slot: slot, Array(steps), current)
    }

    var isToMany: Bool { hops.contains(where: \.isToMany) }

    /// A comparison of this path as a comparison of the part after the first `count` hops.
    func tail(of predicate: FetchPredicate, behind count: Int) -> FetchPredicate {
        guard count > 0, case .comparison(var comparison) = predicate else { return predicate }
        let length = tails[count - 1]
        comparison.left = length <= 0 ? .evaluatedObject : .keyPath(String(text.utf8.suffix(length)) ?? text)
        if !hops[count...].contains(where: \.isToMany) { comparison.modifier = .direct }
        return .comparison(comparison)
    }

    /// Advice on what to compare in place of an object; empty where the path ends at a value.
    var advice: String {
        guard case .object = end, !hops.isEmpty,
            let attribute = entity.properties.first(where: { $0.attribute?.type == .string })
        else { return "" }
        return " Compare an attribute of it, such as \(text).\(attribute.name)."
    }

    private func unknown(_ step: String) -> StrataError {
        unknown(step, among: entity.visibleNames, of: entity.name)
    }

    private func unknown(_ step: String, among names: [String], of owner: String) -> StrataError {
        var sentence = "\(owner) has no property named \(step)"
        if step == "count", hops.last?.isToMany == true {
            sentence += "; did you mean @count?"
        } else if step == "entity" {
            sentence += "; the request itself says which entity it is for, and whether subentities are included."
        } else {
            sentence += NearestName.ending(for: step, among: names)
        }
        return StrataError(.unknownKey, sentence, context: .init(entityName: entity.name, key: text))
    }

    /// The error for a step after an attribute.
    private func unknown(_ step: String, in attribute: AttributeDescription) -> StrataError {
        let names = attribute.elements.map(\.name)
        var sentence = "\(attribute.name) is \(ComparedType(attribute).name) and has no \(step)."
        if !names.isEmpty {
            let isListed = names.count <= 8 && NearestName.of(step, among: names) == nil
            sentence = "\(attribute.name) has no element named \(step)"
            sentence +=
                isListed
                ? "; it has \(names.joined(separator: ", "))." : NearestName.ending(for: step, among: names)
        }
        return StrataError(.unknownKey, sentence, context: .init(entityName: entity.name, key: text))
    }

    private func notStored(_ name: String) -> StrataError {
        StrataError(
            .invalidRequest, "\(name) is transient; the store cannot search or sort by it.",
            context: .init(entityName: entity.name, key: text))
    }
}

/// The key paths of requests that were bound to one schema.
private final class ResolvedPaths: Sendable {
    private struct Key: Hashable {
        let entity: EntityID
        let text: String
    }

    private let paths = Locked<[Key: ResolvedPath]>([:])
    private static let mostPaths = 4096

    func path(_ text: String, of entity: EntityID) -> ResolvedPath? {
        paths.withLock { $0[Key(entity: entity, text: text)] }
    }

    func keep(_ path: ResolvedPath, of entity: EntityID) {
        paths.withLock { paths in
            if paths.count >= Self.mostPaths { paths.removeAll(keepingCapacity: true) }
            paths[Key(entity: entity, text: path.text)] = path
        }
    }
}

extension ValuePath {
    var isToMany: Bool { hops.contains(where: \.isToMany) }
}
