import Foundation
import StrataModel

/// The derived attributes of a model: how each is computed, and which changes affect it.
final class DerivationMap: Sendable {
    /// The derived attributes of each entity, as indices into `attributes`.
    private let byEntity: [EntityID: [Int]]
    private let readings: [EntityID: [Reading]]
    /// By canonical number.
    private let pairs: [PropertyID: [(attribute: Int, pairs: LivePairs)]]
    /// To-ones whose changes change a member count, by the entity of the member.
    private let countedRows: [EntityID: [(link: PropertyID, toOne: PropertyID)]]
    /// Counted to-manys whose truth is the pair, by canonical number.
    private let countedPairs: [PropertyID: [(link: PropertyID, pairs: LivePairs)]]
    let attributes: [DerivedAttribute]

    /// The properties of one entity's rows that a derived attribute reads.
    struct Reading: Sendable {
        let attribute: Int
        /// From the object that has the attribute to the row.
        let hops: [LiveHop]
        let properties: Set<PropertyID>
    }

    var isEmpty: Bool { attributes.isEmpty }

    /// Made once for each schema.
    static func of(_ schema: Schema) -> DerivationMap { schema.derived(DerivationMap.init) }

    private init(_ schema: Schema) {
        var builder = Builder(schema)
        var seen: Set<PropertyID> = []
        for entity in schema.entities {
            for property in entity.properties {
                // The attribute is bound once, for the entity that declares it; subentities have it in the same slot.
                guard case .attribute(let attribute) = property.kind, attribute.derivationExpression != nil,
                    seen.insert(property.id).inserted
                else { continue }
                let owner = Self.owner(of: property, schema) ?? entity
                builder.add(attribute, property, owner)
            }
        }
        attributes = builder.attributes
        byEntity = builder.byEntity
        readings = builder.readings
        pairs = builder.pairs
        countedRows = builder.countedRows
        countedPairs = builder.countedPairs
    }

    /// The entity that declares a property: the one above all others that have it.
    private static func owner(of property: PropertySchema, _ schema: Schema) -> EntitySchema? {
        let having = schema.entities.filter { $0.slot(of: property.id) != nil }
        return having.first { entity in having.allSatisfy { entity.entityIDs.contains($0.id) } }
    }

    /// The derived attributes of an entity's objects, as indices into `attributes`.
    func attributes(of entity: EntityID) -> [Int] { byEntity[entity] ?? [] }
    func readings(of entity: EntityID) -> [Reading] { readings[entity] ?? [] }
    func pairs(of canonical: PropertyID) -> [(attribute: Int, pairs: LivePairs)] { pairs[canonical] ?? [] }
    func countedRows(of entity: EntityID) -> [(link: PropertyID, toOne: PropertyID)] { countedRows[entity] ?? [] }
    func countedPairs(of canonical: PropertyID) -> [(link: PropertyID, pairs: LivePairs)] {
        countedPairs[canonical] ?? []
    }

    private struct Builder {
        let schema: Schema
        var attributes: [DerivedAttribute] = []
        var byEntity: [EntityID: [Int]] = [:]
        var readings: [EntityID: [Reading]] = [:]
        var pairs: [PropertyID: [(attribute: Int, pairs: LivePairs)]] = [:]
        var countedRows: [EntityID: [(link: PropertyID, toOne: PropertyID)]] = [:]
        var countedPairs: [PropertyID: [(link: PropertyID, pairs: LivePairs)]] = [:]

        init(_ schema: Schema) { self.schema = schema }

        mutating func add(_ description: AttributeDescription, _ property: PropertySchema, _ entity: EntitySchema) {
            let index = attributes.count
            let attribute = DerivedAttribute(description, property, entity, schema)
            attributes.append(attribute)
            for id in attribute.entities { byEntity[id, default: []].append(index) }
            guard let path = description.derivationExpression.flatMap(AttributeDerivation.init)?.path else { return }
            let found = LiveReadings(paths: [path], entity, schema)
            for reading in found.readings {
                for id in reading.entities {
                    readings[id, default: []].append(
                        Reading(attribute: index, hops: reading.hops, properties: reading.settling))
                }
            }
            for link in found.pairs { pairs[link.canonical, default: []].append((index, link)) }
            if case .count(_, let link) = attribute.computation { count(link) }
        }

        private mutating func count(_ link: PropertyID) {
            guard let found = schema.links.link(link) else { return }
            switch found.source {
            case .rows(let toOne):
                for id in found.memberEntityIDs where !(countedRows[id] ?? []).contains(where: { $0.link == link }) {
                    countedRows[id, default: []].append((link, toOne))
                }
            case .pairs(let canonical, let isForward, let isSymmetric, _):
                guard !(countedPairs[canonical] ?? []).contains(where: { $0.link == link }) else { return }
                let ends = LivePairs(
                    hops: [], canonical: canonical, isForward: isForward, isSymmetric: isSymmetric, isSettling: true)
                countedPairs[canonical, default: []].append((link, ends))
            }
        }
    }
}

/// A derived attribute bound to a schema.
struct DerivedAttribute: Sendable {
    enum Computation: Sendable {
        case now
        case value(ValuePath, FetchFunction?)
        /// The to-ones that lead to the owner, and the owner's to-many.
        case count(ValuePath, PropertyID)
        /// The to-ones that lead to the owner, and the path from there.
        case sum(ValuePath, ValuePath)
        /// The expression cannot be computed; the check of a model refuses it.
        case refused(StrataError)
    }

    let property: PropertyID
    let slot: Int
    let name: String
    let type: AttributeType
    let isOptional: Bool
    let entityName: String
    /// The entities whose objects have the attribute.
    let entities: Set<EntityID>
    let computation: Computation

    init(
        _ description: AttributeDescription, _ property: PropertySchema, _ entity: EntitySchema, _ schema: Schema
    ) {
        self.property = property.id
        slot = property.slot
        name = description.name
        type = description.type
        isOptional = description.isOptional
        entityName = entity.name
        entities = Set(entity.concreteEntityIDs)
        do throws(StrataError) {
            computation = try Self.computation(description, entity, schema)
        } catch {
            computation = .refused(error)
        }
    }

    private static func computation(
        _ description: AttributeDescription, _ entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) -> Computation {
        switch description.derivationExpression.flatMap(AttributeDerivation.init) {
        case .now?: return .now
        case .value(let path, let function)?:
            return .value(ValuePath(try ResolvedPath(path, in: entity, schema)), function)
        case .count(let path)?:
            let path = try ResolvedPath(path + ".@count", in: entity, schema)
            guard case .count(let link) = path.end else { break }
            return .count(ValuePath(hops: path.hops, end: .object), link)
        case .sum(let path)?:
            let path = try ResolvedPath(path, in: entity, schema)
            guard let first = path.hops.firstIndex(where: \.isToMany) else { break }
            return .sum(
                ValuePath(hops: Array(path.hops[..<first]), end: .object),
                ValuePath(hops: Array(path.hops[first...]), end: path.end))
        case nil: break
        }
        throw StrataError(
            .invalidModel, "\(description.name) cannot be derived as the model says.",
            context: .init(entityName: entity.name, key: description.name))
    }

    /// Whether the attribute is computed from rows other than the object's own.
    var crossesRelationships: Bool {
        switch computation {
        case .now, .refused: false
        case .value(let path, _): !path.hops.isEmpty
        case .count(let owners, _): !owners.hops.isEmpty
        case .sum: true
        }
    }

    /// The value converted to the attribute's type; nil if it does not fit.
    func fitting(_ value: AttributeValue) -> AttributeValue? {
        switch (type, value) {
        // A sum of integers may have more digits than a floating-point number.
        case (.double, .integer(let number)): .double(Double(number))
        case (.float, .integer(let number)): .float(Float(number))
        // A sum of integers that do not fit is a double; the least integer equals one that is less by rounding.
        case (_, .double(let number)) where type.isInteger && number <= -0x1p63: nil
        default: value.coerced(to: type)
        }
    }
}
