import StrataModel
import StrataStore
import StrataTestSupport

/// A random small hierarchy of entities, and changes of it: entities go to other parents, properties move up and down
/// and get other names.
struct RandomHierarchy {
    struct Property: Equatable {
        enum Kind: Equatable { case text, number, toOne, toMany }
        var name: String
        var kind: Kind
        var value: AttributeValue?
        /// The name in the model before.
        var from: String?

        /// What a later or earlier model knows the property by.
        var key: String { from ?? name }
    }

    enum Links: Equatable { case alone, withInverses }

    static let target = "Target"
    private(set) var count: Int
    private(set) var links: Links
    private(set) var parents: [Int?]
    private(set) var own: [[Property]]
    private var names = 0

    init(_ generator: inout SeededGenerator, _ links: Links) {
        count = Int.random(in: 3...6, using: &generator)
        self.links = links
        parents = []
        own = Array(repeating: [], count: count)
        for index in 0..<count {
            parents.append(
                index == 0 || Int.random(in: 0..<4, using: &generator) == 0
                    ? nil : Int.random(in: 0..<index, using: &generator))
        }
        // Several entities that are not related have properties of the same names.
        for number in 0..<4 {
            names += 1
            let kind = kind(of: number)
            for entity in 0..<count where Bool.random(using: &generator) {
                var copy = self
                copy.own[entity].append(
                    Property(name: "p\(number)", kind: kind, value: value(kind, &generator)))
                if copy.isValid { self = copy }
            }
        }
    }

    private func kind(of number: Int) -> Property.Kind {
        switch number % 4 {
        case 1: .number
        case 2: .toOne
        case 3: .toMany
        default: .text
        }
    }

    private func value(_ kind: Property.Kind, _ generator: inout SeededGenerator) -> AttributeValue? {
        guard Int.random(in: 0..<3, using: &generator) == 0 else { return nil }
        switch kind {
        case .text: return .string("default")
        case .number: return .integer(7)
        default: return nil
        }
    }

    static func name(_ entity: Int) -> String { "E\(entity)" }

    /// The name of a relationship's inverse; nil if it has none.
    func inverse(of property: Property, in entity: Int) -> String? {
        guard links == .withInverses, property.kind == .toOne || property.kind == .toMany else { return nil }
        return "\(property.name)Of\(entity)"
    }

    /// The relationships of the target, each with the entity and the property that lead to it.
    var inverses: [(name: String, entity: Int, property: Property)] {
        (0..<count).flatMap { entity in
            own[entity].compactMap { property in inverse(of: property, in: entity).map { ($0, entity, property) } }
        }
    }

    /// An entity and those below it.
    func family(of entity: Int) -> [Int] { [entity] + below(entity) }

    // MARK: What a model has

    func chain(of entity: Int) -> [Int] {
        var chain = [entity]
        while let last = chain.last, let parent = parents[last] { chain.append(parent) }
        return chain.reversed()
    }

    /// All properties of an entity, its own and inherited ones.
    func properties(of entity: Int) -> [Property] { chain(of: entity).flatMap { own[$0] } }

    /// The name here of what a property of a later model continues: a rename is taken back where the entity goes under
    /// another parent, whose property still has the former name.
    func name(continuedBy property: Property, in entity: Int, _ later: RandomHierarchy) -> String {
        let all = properties(of: entity)
        if property.from != nil || all.contains(where: { $0.name == property.name }) { return property.key }
        let kept = Set(later.properties(of: entity).map(\.key))
        return all.first { $0.from == property.name && !kept.contains($0.name) }?.name ?? property.name
    }

    /// The name that a property of another entity had in the model before, where this entity had the same one; nil if
    /// there is none.
    func formerName(_ name: String, in entity: Int, _ before: RandomHierarchy) -> String? {
        for other in 0..<count {
            guard let old = own[other].first(where: { $0.name == name })?.from,
                let declaring = before.declaring(old, of: entity), declaring == before.declaring(old, of: other)
            else { continue }
            return old
        }
        return nil
    }

    private func declaring(_ name: String, of entity: Int) -> Int? {
        chain(of: entity).first { own[$0].contains { $0.name == name } }
    }

    private func below(_ entity: Int) -> [Int] {
        (0..<count).filter { $0 != entity && chain(of: $0).contains(entity) }
    }

    private var isValid: Bool {
        (0..<count).allSatisfy { entity in
            let all = properties(of: entity)
            return Set(all.map(\.name)).count == all.count && Set(all.map(\.key)).count == all.count
        }
    }

    func model() throws -> ManagedObjectModel {
        var entities = (0..<count).map { entity in
            EntityDescription(
                name: Self.name(entity), superentityName: parents[entity].map(Self.name),
                properties: own[entity].map { description($0, in: entity) })
        }
        let backs = inverses.map { name, entity, property in
            let back = Describe.toMany(name, Self.name(entity), inverse: property.name)
            return named(back, from: property.from.map { "\($0)Of\(entity)" })
        }
        entities.append(EntityDescription(name: Self.target, properties: backs))
        return try ManagedObjectModel(entities: entities)
    }

    private func description(_ property: Property, in entity: Int) -> PropertyDescription {
        let inverse = inverse(of: property, in: entity)
        let made =
            switch property.kind {
            case .text: Describe.attribute(property.name, optional: true, default: property.value)
            case .number: Describe.attribute(property.name, .integer64, optional: true, default: property.value)
            case .toOne: Describe.toOne(property.name, Self.target, inverse: inverse)
            case .toMany:
                Describe.toMany(property.name, Self.target, inverse: inverse, ordered: property.name.hasSuffix("3"))
            }
        return named(made, from: property.from)
    }

    private func named(_ property: PropertyDescription, from old: String?) -> PropertyDescription {
        switch property {
        case .attribute(var attribute):
            attribute.renamingIdentifier = old
            return .attribute(attribute)
        case .relationship(var relationship):
            relationship.renamingIdentifier = old
            return .relationship(relationship)
        }
    }

    // MARK: Changes

    /// A model that follows this one.
    func changed(_ generator: inout SeededGenerator, _ label: Int) -> RandomHierarchy {
        var result = self
        for entity in 0..<count {
            for index in result.own[entity].indices { result.own[entity][index].from = nil }
        }
        var left = Int.random(in: 1...3, using: &generator)
        for _ in 0..<30 where left > 0 {
            var copy = result
            copy.change(&generator, label)
            if copy != result, copy.isValid {
                result = copy
                left -= 1
            }
        }
        return result
    }

    private mutating func change(_ generator: inout SeededGenerator, _ label: Int) {
        let entity = Int.random(in: 0..<count, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...3: reparent(entity, &generator)
        case 4, 5: moveUp(entity, &generator)
        case 6, 7: moveDown(entity, &generator)
        case 8: rename(entity, label, &generator)
        default:
            names += 1
            let kind: Property.Kind = Bool.random(using: &generator) ? .text : .number
            own[entity].append(Property(name: "n\(label)x\(names)", kind: kind, value: value(kind, &generator)))
        }
    }

    /// Puts an entity under another; properties that it inherits from there are no longer its own.
    private mutating func reparent(_ entity: Int, _ generator: inout SeededGenerator) {
        let possible = (0..<count).filter { $0 != entity && !below(entity).contains($0) }
        parents[entity] =
            Int.random(in: 0..<4, using: &generator) == 0 ? nil : possible.randomElement(using: &generator)
        let inherited = Set(chain(of: entity).dropLast().flatMap { own[$0].map(\.key) })
        for lower in [entity] + below(entity) { own[lower].removeAll { inherited.contains($0.key) } }
    }

    private mutating func moveUp(_ entity: Int, _ generator: inout SeededGenerator) {
        guard let property = own[entity].randomElement(using: &generator) else { return }
        let above = chain(of: entity).dropLast()
        guard let top = above.randomElement(using: &generator) else { return }
        for lower in below(top) { own[lower].removeAll { $0.key == property.key } }
        own[top].append(property)
    }

    private mutating func moveDown(_ entity: Int, _ generator: inout SeededGenerator) {
        let targets = below(entity).filter { _ in Bool.random(using: &generator) }
        guard let property = own[entity].randomElement(using: &generator), !targets.isEmpty else { return }
        own[entity].removeAll { $0 == property }
        for lower in targets where !chain(of: lower).contains(where: { own[$0].contains(property) }) {
            for lowest in below(lower) { own[lowest].removeAll { $0 == property } }
            own[lower].append(property)
        }
    }

    private mutating func rename(_ entity: Int, _ label: Int, _ generator: inout SeededGenerator) {
        guard let index = own[entity].indices.randomElement(using: &generator), own[entity][index].from == nil else {
            return
        }
        names += 1
        let old = own[entity][index].name
        own[entity][index].from = old
        // The end of the name says whether it is ordered.
        own[entity][index].name = "r\(label)x\(names)" + (old.last.map { "_\($0)" } ?? "")
    }
}

extension RandomHierarchy: Equatable {}

extension RandomHierarchy: CustomStringConvertible {
    /// A line for each entity, with its parent and own properties.
    var description: String {
        (0..<count).map { entity in
            let properties = own[entity].map { $0.name + ($0.from.map { " from \($0)" } ?? "") }
            let parent = parents[entity].map { " under \(Self.name($0))" } ?? ""
            return "\n\(Self.name(entity))\(parent): \(properties.joined(separator: ", "))"
        }.joined() + "\n"
    }
}
