// Finds derived attributes that hold copies of erased values.

import Foundation
import StrataModel

/// A derived attribute whose objects hold copies of erased values of others.
struct ErasedCopy: Hashable {
    /// The entity that has the attribute.
    let entity: EntityID
    let attribute: PropertyID
    /// The to-ones from its objects to those with the erased values.
    let hops: [PropertyID]
}

extension ErasedProperties {
    /// The derived attributes, in all models, that read erased values of these entities across to-ones.
    func copies(of entities: Set<EntityID>) throws -> Set<ErasedCopy> {
        var copies: Set<ErasedCopy> = []
        for schema in try histories.schemas {
            for entity in schema.entities where !entity.isAbstract {
                for property in entity.properties {
                    guard case .attribute(let attribute) = property.kind,
                        let expression = attribute.derivationExpression,
                        case .value(let path, _)? = AttributeDerivation(expression),
                        let hops = try hops(along: path, from: entity, schema, to: entities)
                    else { continue }
                    copies.insert(ErasedCopy(entity: entity.id, attribute: property.id, hops: hops))
                }
            }
        }
        return copies
    }

    /// - Returns: nil if the path has no to-one, or does not end at an erased value or an element of one.
    private func hops(
        along path: String, from start: EntitySchema, _ schema: Schema, to entities: Set<EntityID>
    ) throws -> [PropertyID]? {
        var entity = start
        var hops: [PropertyID] = []
        for step in path.split(separator: ".").map(String.init) {
            guard let property = entity.property(named: step) else { return nil }
            switch property.kind {
            case .attribute:
                // What follows in the path are elements of a composite, which is erased as a whole.
                let isErased = try entity.entityIDs.contains {
                    try entities.contains($0) && fillers(of: $0)[property.id] != nil
                }
                return isErased && !hops.isEmpty ? hops : nil
            case .relationship(let relationship) where property.isSlotLink:
                guard let next = schema.entity(named: relationship.description.destinationEntityName) else {
                    return nil
                }
                hops.append(property.id)
                entity = next
            default: return nil
            }
        }
        return nil
    }
}

extension LogReader {
    /// The objects that a to-one led from to one of these, at any time that the log knows.
    ///
    /// - Complexity: O(n) in the events of the log.
    func owners(
        of toOne: PropertyID, leadingTo ids: Set<ObjectID>, through last: EventNumber
    ) throws -> Set<ObjectID> {
        var owners: Set<ObjectID> = []
        guard !ids.isEmpty else { return owners }
        // The insertions of a truncated log stand before its first kept event.
        try events(from: EventNumber(rawValue: 1), through: last) { event, _ in
            let id = event.header.object
            if event.isBare || owners.contains(id) { return true }
            switch event.header.kind {
            case .inserted:
                let layout = try histories.layout(of: event.payload, id: id)
                guard let slot = layout.slots.firstIndex(where: { $0.propertyID == toOne }) else { return true }
                let target = try RowReader(event.payload, layout: layout).reference(slot)
                if ids.contains(target) { owners.insert(id) }
            case .updated:
                let change = try event.changes().first { $0.property == toOne }
                if case .value(.objectID(let target))? = change?.after, ids.contains(target) { owners.insert(id) }
            default: break
            }
            return true
        }
        return owners
    }
}
