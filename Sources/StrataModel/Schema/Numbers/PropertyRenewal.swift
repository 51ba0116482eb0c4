// A property keeps its number from one model to the next only if the rows and links written under that number have the
// same meaning in the new model:
//
//   attribute          the bytes can be read as the new type (`SlotKind.canBeRead(as:)`), and it is encrypted as before
//   to-one             it was a to-one
//   to-many, by rows   it was a to-many with the same kind of order, and its inverse is the same to-one of the same
//                      entities
//   to-many, by pairs  it was one by pairs with the same kind of order, and has the same inverse, or none as before
//
// An attribute that was converted before also gets a new number if it gets back a type of then, and the conversion may have
// lost something: the rows of values that were not changed since must be written (`FormerNumbers.restores`).
//
// A property whose values are under another number in the objects of some entity cannot keep its number either, because
// these objects have values under both (`AssignmentExtender.displacedProperties`).
//
// Any other property gets a new number that replaces the old one. Snapshots of the past go on reading the old number.

/// Finds the properties of a model that cannot keep the numbers that were matched by name.
struct PropertyRenewal {
    typealias Key = EntityHierarchy.PropertyKey

    let model: ManagedObjectModel
    let previous: Schema
    let former: FormerNumbers
    /// The numbers of all matched properties.
    let assignment: ModelAssignment
    /// The properties that continue another one than their number in some entities.
    let displaced: Set<Key>
    /// The concrete entities whose rows hold each to-one in the previous model.
    private let holders: [PropertyID: [EntityID]]

    init(
        model: ManagedObjectModel, previous: Schema, former: FormerNumbers, assignment: ModelAssignment,
        displaced: Set<Key>
    ) {
        self.displaced = displaced
        self.model = model
        self.previous = previous
        self.former = former
        self.assignment = assignment
        var holders: [PropertyID: [EntityID]] = [:]
        for entity in previous.entities where !entity.isAbstract {
            for property in entity.slotLinks { holders[property.id, default: []].append(entity.id) }
        }
        self.holders = holders
    }

    var renewed: Set<Key> {
        var renewed: Set<Key> = []
        var relationships: Set<Key> = []
        for entity in model.entities {
            for property in entity.properties {
                let key = Key(entityName: entity.name, name: property.name)
                guard let id = assignment.id(of: key), let old = previous.property(id) else { continue }
                switch property {
                case .attribute(let attribute):
                    guard let old = old.attribute else { continue }
                    if !old.canBeRead(as: attribute) || former.restores(id, old, as: attribute)
                        || displaced.contains(key)
                    {
                        renewed.insert(key)
                    }
                case .relationship(let relationship):
                    if !relationship.isTransient { relationships.insert(key) }
                }
            }
        }
        // If a relationship loses its number, its inverse may lose its own, so this repeats until nothing changes.
        var kept = relationships.subtracting(displaced)
        while true {
            let next = kept.filter { keeps($0, kept) }
            if next.count == kept.count { break }
            kept = next
        }
        return renewed.union(relationships.subtracting(kept))
    }

    private func keeps(_ key: Key, _ kept: Set<Key>) -> Bool {
        guard let id = assignment.id(of: key), let old = previous.property(id)?.relationship,
            let new = model.hierarchy.declaration(of: key.name, in: key.entityName)?.property.relationship
        else { return false }
        guard new.isToMany else { return !old.isToMany }
        guard old.isToMany, old.description.isOrdered == new.isOrdered else { return false }
        guard let inverse = model.hierarchy.inverse(of: new) else {
            if case .pair = old.truth { return old.inverse == nil }
            return false
        }
        guard kept.contains(inverse.key), let inverseID = assignment.id(of: inverse.key), old.inverse == inverseID
        else { return false }
        let isToOne = inverse.property.relationship.map { !$0.isToMany } ?? false
        guard isToOne else { return old.truth != .inverseSlot }
        return old.truth == .inverseSlot && hasSameRows(inverseID, inverse.entityName)
    }

    /// Whether the same entities have the to-one in their rows, aside from new ones, which have no rows.
    private func hasSameRows(_ toOne: PropertyID, _ entityName: String) -> Bool {
        let before = holders[toOne] ?? []
        let declaring = model.hierarchy.entity(named: entityName).map { [$0] } ?? []
        let after = (declaring + model.hierarchy.subentities(of: entityName))
            .filter { !$0.isAbstract }.compactMap { assignment.entities[$0.name] }
        return Set(before) == Set(after.filter { previous.assignment.wasGiven($0) })
    }
}

extension AttributeType {
    /// Whether bytes of this type in a slot of one kind can be read as another type in a slot of another kind.
    func canBeRead(_ from: SlotKind, as to: SlotKind, of type: AttributeType) -> Bool {
        // The bytes of a transformable and plain data have the same kind but another meaning.
        from.canBeRead(as: to) && (self == type || type.isNumeric)
    }
}

extension AttributeDescription {
    /// Whether values written under this description can be read unchanged under a later one.
    package func canBeRead(as later: AttributeDescription) -> Bool {
        if isTransient || later.isTransient { return isTransient == later.isTransient }
        guard encryption == later.encryption else { return false }
        if isEncrypted {
            // Equal values must have the same blind, so the type stays.
            guard type == later.type, later.allowsExternalBinaryDataStorage || !allowsExternalBinaryDataStorage else {
                return false
            }
            return type != .composite || elements == later.elements || elementsCanBeRead(as: later)
        }
        let from = SlotKind(.attribute(type), allowsExternalStorage: allowsExternalBinaryDataStorage)
        let to = SlotKind(.attribute(later.type), allowsExternalStorage: later.allowsExternalBinaryDataStorage)
        guard type.canBeRead(from, as: to, of: later.type) else { return false }
        return type != .composite || elements == later.elements || elementsCanBeRead(as: later)
    }

    /// Whether values that are converted to a later description, and back, may have other bytes than before.
    func mayLose(as later: AttributeDescription) -> Bool {
        if type == .composite, later.type == .composite { return elements != later.elements }
        return type != later.type && !(type.isInteger && (later.type.isInteger || later.type == .boolean))
    }

    /// The bytes of a composite name its elements. A missing element reads as nil; any other change requires a rewrite.
    func elementsCanBeRead(as later: AttributeDescription) -> Bool {
        let isReadable = elements.allSatisfy { earlier in
            guard let element = later.elements.first(where: { $0.name == earlier.name }) else { return false }
            return element.type == earlier.type && element.elements == earlier.elements
                && (element.isOptional || !earlier.isOptional)
        }
        let added = later.elements.filter { element in !elements.contains { $0.name == element.name } }
        return isReadable && added.allSatisfy(\.isOptional)
    }
}
