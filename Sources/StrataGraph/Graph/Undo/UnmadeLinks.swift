import StrataModel
import StrataStore

/// Links that a step of undo or redo could not make, because the object at their other end was gone. They are made when
/// a later step brings that object back.
///
/// A rule `deny` or `noAction` leaves links as they are, so the step that brings an owner back says nothing about its
/// members. If these came back first, they had no owner to lead to.
struct UnmadeLinks {
    private struct ToOne {
        let target: ObjectID
        /// The hidden position among the members of the target, if they are ordered.
        let position: (property: PropertyID, value: AttributeValue)?
    }

    private var toOnes: [ObjectID: [PropertyID: ToOne]] = [:]
    private var pairs: [PairKey: PairPositions] = [:]

    /// The changes, with the links that they make possible.
    func joined(to changes: NetChanges, in context: ManagedObjectContext) throws -> NetChanges {
        var result = changes
        func isThere(_ id: ObjectID) throws -> Bool {
            if let change = changes.objects[id] { return change.existsAfter }
            return try context.presentObject(id) != nil
        }
        for (id, lost) in toOnes where try isThere(id) {
            let object = try context.presentObject(id)
            for (property, link) in lost where try isThere(link.target) {
                guard result.objects[id]?.values[property] == nil,
                    object?.isUnlinked(property) ?? false
                else { continue }
                var change = result.objects[id] ?? .init(existedBefore: true, existsAfter: true)
                change.note(property, before: .null, after: .objectID(link.target))
                if let position = link.position, change.values[position.property] == nil {
                    change.note(position.property, before: .null, after: position.value)
                }
                result.objects[id] = change
            }
        }
        for (key, positions) in pairs where changes.pairs[key] == nil {
            guard try isThere(key.source), try isThere(key.target) else { continue }
            result.pairs[key] = NetChanges.PairPositionChange(before: nil, after: positions)
        }
        return result
    }

    /// Notes the links of changes that the context has made as far as it could.
    mutating func note(_ changes: NetChanges, in context: ManagedObjectContext) throws {
        for (id, change) in changes.objects {
            guard change.existsAfter, let entity = context.binding.entity(id.entityID) else {
                toOnes[id] = nil
                continue
            }
            for (number, values) in change.values {
                guard let property = entity.property(number), property.isToOne else { continue }
                toOnes[id]?[number] = nil
                guard let target = values.after.objectReference, try context.presentObject(target) == nil,
                    try context.presentObject(id)?.isUnlinked(number) ?? false
                else { continue }
                var position: (PropertyID, AttributeValue)?
                if case .toMany(_, let slot?) = property.inverse {
                    let hidden = entity.property(slot: slot).id
                    position = change.values[hidden].map { (hidden, $0.after) }
                }
                toOnes[id, default: [:]][number] = ToOne(target: target, position: position)
            }
        }
        pairs = pairs.filter { changes.objects[$0.key.source]?.existsAfter ?? true }
            .filter { changes.objects[$0.key.target]?.existsAfter ?? true }
        for (key, positions) in changes.pairs {
            pairs[key] = nil
            guard let after = positions.after else { continue }
            if try context.presentObject(key.source) == nil || context.presentObject(key.target) == nil {
                pairs[key] = after
            }
        }
    }
}

extension ManagedObject {
    /// Whether a to-one leads nowhere.
    fileprivate func isUnlinked(_ toOne: PropertyID) -> Bool {
        guard let property = _entity.property(toOne) else { return false }
        return attributeValue(property).isNull
    }
}
