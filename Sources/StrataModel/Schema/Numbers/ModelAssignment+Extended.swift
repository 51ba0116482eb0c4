// Assigns numbers to the entities, properties, indexes and views of a new model. Each takes over the number of an old
// one, found by the first of these rules that applies; each rule is tried for the whole model before the next:
//
//   1. same name and same renaming identifier: not renamed
//   2. the new renaming identifier is the old name: renamed
//   3. same renaming identifier: renamed again
//   4. same name
//   5. the new name is the old renaming identifier: a rename that is taken back
//
// If the store had the model before, the numbers of then come first, and what no rule finds is looked for in earlier
// models (`FormerNumbers`): the newest model may have it under another name, or a downgrade may have hidden it.
//
// Properties are matched within matched entities: attributes with attributes, relationships with relationships, stored
// ones with stored ones. A property that moved to a parent or a child keeps its number if it left exactly one entity
// and arrived in exactly one. If an entity gets a parent with an attribute that continues its own, or leaves such a
// parent, the new attribute takes over the values of the old one, matched by the same rules. Everything without a match
// gets a new number, which was never assigned before. At last the attributes of each entity, its own and inherited ones
// alike, are matched with those that it had (`AssignmentExtender+Entities`), and so are relationships that it had in
// earlier models only (`AssignmentExtender+Links`).
//
// A match also gets a new number if its rows cannot be read as they are: its type changed, a to-many became a to-one,
// or its links are recorded elsewhere (`PropertyRenewal`). The new number `replaces` the old one: the migration writes
// its values, and the old number keeps the values of the past. So does a property that an earlier model had, and the
// newest does not (`ReturningProperties`).

extension ModelAssignment {
    /// The numbers for a model that follows `previous`.
    ///
    /// The result is deterministic: the same models in the same order give the same numbers. Names that the model no
    /// longer has are removed; their numbers are never assigned again, and their born defaults stay.
    ///
    /// - Parameters:
    ///   - earlier: the models before `previous`, newest first; their properties can return.
    ///   - filled: the entities of these models that have objects, though `previous` does not have the entities.
    /// - Throws: `invalidModel` if the store has no numbers left.
    package func extended(
        for model: ManagedObjectModel, from previous: Schema?, earlier: [Schema] = [], filled: Set<EntityID> = []
    ) throws(StrataError) -> ModelAssignment {
        let former = try FormerNumbers(model, previous: previous, earlier: earlier, filled: filled)
        var extender = AssignmentExtender(self, model: model, former)
        try extender.assignEntities()
        try extender.assignProperties()
        try extender.assignPositions()
        extender.fileOneToOnes()
        try extender.assignIndexes()
        try extender.assignViews()
        try extender.assignTexts()
        try extender.takeBackLinks()
        return extender.result
    }
}

/// Extends an assignment step by step: entities, properties, positions, one-to-ones, indexes, views.
struct AssignmentExtender {
    let model: ManagedObjectModel
    let previous: Schema?
    let former: FormerNumbers
    var result: ModelAssignment
    /// The old entity that each new entity continues, by the new name.
    var oldEntities: [String: EntityDescription] = [:]
    /// The entities that only models before `previous` had, by the new name: the last of these models, and the entity
    /// there.
    var returned: [String: (schema: Schema, entity: EntityDescription)] = [:]
    /// The numbers whose values a property takes over, by entity name and property name in the new model.
    var takeovers: [String: [String: [PropertyID]]] = [:]
    /// The numbers of the children's own properties, for a property that they now inherit instead.
    private(set) var absorbed: [PropertyID: [PropertyID]] = [:]
    /// The properties that continue another one than their number in some entities, which they name: each with the number
    /// whose values its objects have had under the property's name.
    var displaced: [EntityHierarchy.PropertyKey: [EntityID: PropertyID]] = [:]

    init(_ assignment: ModelAssignment, model: ManagedObjectModel, _ former: FormerNumbers) {
        self.model = model
        self.former = former
        previous = former.previous
        result = assignment
        result.entities = [:]
        result.properties = [:]
        result.indexes = [:]
        result.views = [:]
        result.texts = [:]
        result.zones = [:]
        result.replaced = [:]
        result.ownFormers = [:]
        result.filedOneToOnes = []
    }

    // MARK: Entities

    mutating func assignEntities() throws(StrataError) {
        let known = knownEntities()
        let claimed = Set(known.values)
        for (name, id) in known {
            oldEntities[name] = previous?.entity(id)?.description
            result.entities[name] = id
        }
        let new = model.entities.filter { known[$0.name] == nil && filledFormer($0, taken: claimed) == nil }
        let old = (previous?.entities ?? []).filter { !claimed.contains($0.id) }
        let matches = Renaming.match(
            new: new.map { Renaming.Item($0.name, $0.renamingIdentifier) },
            old: old.map { Renaming.Item($0.name, $0.description.renamingIdentifier) })
        for (index, match) in matches {
            oldEntities[new[index].name] = old[match].description
            result.entities[new[index].name] = old[match].id
        }
        for entity in model.entities where result.entities[entity.name] == nil {
            let taken = Set(result.entities.values)
            if let id = try continueFormer(entity, taken: taken) { result.entities[entity.name] = id }
        }
        for entity in model.entities where result.entities[entity.name] == nil {
            result.entities[entity.name] = try nextEntity()
        }
    }

    // MARK: Properties

    mutating func assignProperties() throws(StrataError) {
        let known = knownProperties()
        let knownNumbers = Set(known.values)
        var claimed: Set<PropertyID> = []
        for entity in model.entities {
            var ids: [String: PropertyID] = [:]
            for property in entity.properties {
                ids[property.name] = known[.init(entityName: entity.name, name: property.name)]
            }
            if let old = oldEntities[entity.name] {
                for kind in PropertyGroup.allCases {
                    ids.merge(continued(kind, from: old, to: entity, ids, knownNumbers)) { first, _ in first }
                }
            }
            claimed.formUnion(ids.values)
            result.properties[entity.name] = ids
        }
        assignMovedProperties(claimed: claimed)
        continueFormerProperties()
        for entity in model.entities { takeBackAttributes(of: entity) }
        renewWhatCannotBeRead()
        takeBackWhatReturns()
        result.replaced = absorbed
        for entity in model.entities {
            for property in entity.properties where result.properties[entity.name]?[property.name] == nil {
                let id = try nextProperty()
                result.properties[entity.name, default: [:]][property.name] = id
                if let old = takeovers[entity.name]?[property.name] {
                    result.replaced[id] = old
                    for (entity, former) in displaced[.init(entityName: entity.name, name: property.name)] ?? [:] {
                        result.ownFormers[entity, default: [:]][id] = former
                    }
                    continue
                }
                if let attribute = property.attribute, !attribute.isTransient,
                    let value = attribute.defaultValue, !value.isNull
                {
                    result.bornDefaults[id] = value
                }
            }
        }
        takeOverInEntities()
    }

    /// - Parameters:
    ///   - known: the numbers of properties that need no match, by name.
    ///   - taken: all such numbers.
    private func continued(
        _ group: PropertyGroup, from old: EntityDescription, to new: EntityDescription,
        _ known: [String: PropertyID], _ taken: Set<PropertyID>
    ) -> [String: PropertyID] {
        let ids = previous?.assignment.properties[old.name] ?? [:]
        let oldProperties = old.properties.filter { property in
            PropertyGroup(of: property) == group && !(ids[property.name].map(taken.contains) ?? false)
        }
        let newProperties = new.properties.filter { PropertyGroup(of: $0) == group && known[$0.name] == nil }
        let matches = Renaming.match(
            new: newProperties.map { Renaming.Item($0) }, old: oldProperties.map { Renaming.Item($0) },
            unless: { index, match in
                ids[oldProperties[match].name].map { leadsElsewhere(newProperties[index], of: new.name, from: $0) }
                    ?? false
            })
        var continued: [String: PropertyID] = [:]
        for (index, match) in matches { continued[newProperties[index].name] = ids[oldProperties[match].name] }
        return continued
    }

    /// Assigns the old number to a property that moved in the hierarchy, if the move is unambiguous.
    private mutating func assignMovedProperties(claimed: Set<PropertyID>) {
        guard let previous else { return }
        let newNames = Dictionary(oldEntities.map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var departures: [PropertyMove: [(entityName: String, id: PropertyID)]] = [:]
        var departed: [PropertyGroup: [Renaming.Item]] = [:]
        for entity in previous.model.entities {
            for property in entity.properties {
                guard let id = previous.assignment.properties[entity.name]?[property.name], !claimed.contains(id),
                    let newName = newNames[entity.name]
                else { continue }
                if let heir = inherited(property, in: newName) {
                    absorbed[heir, default: []].append(id)
                } else {
                    let move = PropertyMove(name: property.name, group: PropertyGroup(of: property))
                    departures[move, default: []].append((newName, id))
                    departed[move.group, default: []].append(Renaming.Item(property))
                }
            }
        }
        var arrivals: [PropertyMove: [Arrival]] = [:]
        for entity in model.entities {
            for property in entity.properties where result.properties[entity.name]?[property.name] == nil {
                if let giver = bequeathed(property, to: entity.name), claimed.contains(giver) {
                    takeovers[entity.name, default: [:]][property.name] = [giver]
                } else {
                    let group = PropertyGroup(of: property)
                    let old = Renaming.origin(of: Renaming.Item(property), among: departed[group] ?? [])
                    let move = PropertyMove(name: old?.name ?? property.name, group: group)
                    arrivals[move, default: []].append(Arrival(entityName: entity.name, name: property.name))
                }
            }
        }
        for (move, targets) in arrivals {
            if move.group == .attribute, takeOver(departures[move] ?? [], targets) { continue }
            guard targets.count == 1, let source = departures[move], source.count == 1,
                isRelated(targets[0].entityName, source[0].entityName),
                let property = model.hierarchy.declaration(of: targets[0].name, in: targets[0].entityName)?.property,
                !leadsElsewhere(property, of: targets[0].entityName, from: source[0].id)
            else { continue }
            result.properties[targets[0].entityName]?[targets[0].name] = source[0].id
        }
    }

    private func isRelated(_ entityName: String, _ other: String) -> Bool {
        model.hierarchy.isKind(entityName, of: other) || model.hierarchy.isKind(other, of: entityName)
    }

    /// The existing attribute of an ancestor that the entity now has instead of its own.
    private func inherited(_ property: PropertyDescription, in entityName: String) -> PropertyID? {
        guard PropertyGroup(of: property) == .attribute else { return nil }
        let above = model.hierarchy.declarations(of: entityName).filter {
            $0.entityName != entityName && PropertyGroup(of: $0.property) == .attribute
        }
        let heir = Renaming.heir(of: Renaming.Item(property), among: above.map { Renaming.Item($0.property) })
        return heir.flatMap { result.properties[above[$0].entityName]?[above[$0].property.name] }
    }

    /// The attribute that the entity inherited before and now declares itself.
    private func bequeathed(_ property: PropertyDescription, to entityName: String) -> PropertyID? {
        guard PropertyGroup(of: property) == .attribute, let old = oldEntities[entityName],
            let earlier = previous?.entity(named: old.name)
        else { return nil }
        // One that the entity still has keeps its values, whatever name it has now.
        let kept = Set(model.hierarchy.declarations(of: entityName).compactMap { result.id(of: $0.key) })
        let stored = earlier.properties.filter {
            $0.attribute.map { !$0.isTransient } ?? false && !kept.contains($0.id)
        }
        let giver = Renaming.origin(
            of: Renaming.Item(property), among: stored.map { Renaming.Item($0.name, $0.attribute?.renamingIdentifier) })
        return giver.flatMap { earlier.property(named: $0.name)?.id }
    }

    /// Handles an attribute that moved from several children to their parent, or from a parent to several children:
    /// each new one takes over the values of all related old ones.
    private mutating func takeOver(
        _ sources: [(entityName: String, id: PropertyID)], _ targets: [Arrival]
    ) -> Bool {
        guard !sources.isEmpty, sources.count > 1 || targets.count > 1 else { return false }
        for target in targets {
            let related = sources.filter { isRelated(target.entityName, $0.entityName) }
            if !related.isEmpty { takeovers[target.entityName, default: [:]][target.name] = related.map(\.id) }
        }
        return true
    }

    private mutating func renewWhatCannotBeRead() {
        guard let previous else { return }
        displaced = displacedProperties()
        let renewal = PropertyRenewal(
            model: model, previous: previous, former: former, assignment: result, displaced: Set(displaced.keys))
        for key in renewal.renewed {
            guard let old = result.properties[key.entityName]?.removeValue(forKey: key.name) else { continue }
            takeovers[key.entityName, default: [:]][key.name] = [old] + (absorbed.removeValue(forKey: old) ?? [])
        }
    }

    /// Assigns a hidden position to each to-one whose inverse is ordered.
    mutating func assignPositions() throws(StrataError) {
        for entity in model.entities {
            for property in entity.properties {
                guard model.hierarchy.hasPosition(property), let id = result.properties[entity.name]?[property.name]
                else { continue }
                var position = oldPosition(of: id)
                if position == nil { position = try nextProperty() }
                result.properties[entity.name]?[ModelAssignment.positionName(of: property.name)] = position
            }
        }
    }

    private func oldPosition(of id: PropertyID) -> PropertyID? {
        previous?.property(id)?.relationship?.position
    }

    /// Marks new one-to-ones as filed. One that an earlier model did not file stays so, because filing it would take a
    /// walk over all its objects.
    mutating func fileOneToOnes() {
        for entity in model.entities {
            for property in entity.properties where model.hierarchy.isOneToOne(property) {
                guard let id = result.properties[entity.name]?[property.name], !wasUnfiled(id) else { continue }
                result.filedOneToOnes.insert(id)
            }
        }
    }

    private func wasUnfiled(_ id: PropertyID) -> Bool {
        guard let previous, let relationship = previous.property(id)?.relationship else { return false }
        return relationship.truth == .slot && relationship.inverse != nil && !relationship.isInverseToMany
            && !previous.assignment.filedOneToOnes.contains(id)
    }

    // MARK: Indexes

    mutating func assignIndexes() throws(StrataError) {
        // An index over an entity that is removed gets a new number: the entries of its objects stay under the old one,
        // where snapshots of the past read them.
        let oldEntitiesByNumber = filledEntities
        for entity in model.entities {
            var old: [IndexMeaning: [(name: String, id: IndexID)]] = [:]
            if let previous, let description = oldEntities[entity.name] {
                let indexes = previous.assignment.indexes[description.name] ?? [:]
                for definition in IndexDefinition.all(of: description) {
                    guard let id = indexes[definition.name],
                        let meaning = IndexMeaning(
                            definition, of: description, model: previous.model, assignment: previous.assignment,
                            knownEntities: oldEntitiesByNumber)
                    else { continue }
                    old[meaning, default: []].append((definition.name, id))
                }
            }
            try assignIndexes(of: entity, old: old, knownEntities: oldEntitiesByNumber)
        }
    }

    private mutating func assignIndexes(
        of entity: EntityDescription, old: [IndexMeaning: [(name: String, id: IndexID)]],
        knownEntities: Set<EntityID>
    ) throws(StrataError) {
        var old = old
        var waiting: [(name: String, meaning: IndexMeaning?)] = []
        // Indexes that kept their names come first, so that two with the same meaning do not swap numbers.
        for definition in IndexDefinition.all(of: entity) {
            let meaning = IndexMeaning(
                definition, of: entity, model: model, assignment: result, knownEntities: knownEntities)
            if let meaning, let index = old[meaning]?.firstIndex(where: { $0.name == definition.name }) {
                result.indexes[entity.name, default: [:]][definition.name] = old[meaning]?.remove(at: index).id
            } else {
                waiting.append((definition.name, meaning))
            }
        }
        for (name, meaning) in waiting {
            if let meaning, old[meaning]?.isEmpty == false, let taken = old[meaning]?.removeFirst() {
                result.indexes[entity.name, default: [:]][name] = taken.id
            } else {
                result.indexes[entity.name, default: [:]][name] = try nextIndex()
            }
        }
    }

    // MARK: New numbers

    private mutating func nextEntity() throws(StrataError) -> EntityID {
        guard result.nextEntity < 0xFFFF else { throw exhausted("entity") }
        defer { result.nextEntity += 1 }
        return EntityID(rawValue: result.nextEntity)
    }

    private mutating func nextProperty() throws(StrataError) -> PropertyID {
        // The highest bit marks hidden inverses.
        guard result.nextProperty < 0x8000_0000 else { throw exhausted("property") }
        defer { result.nextProperty += 1 }
        return PropertyID(rawValue: result.nextProperty)
    }

    private mutating func nextIndex() throws(StrataError) -> IndexID {
        guard result.nextIndex < UInt32.max else { throw exhausted("index") }
        defer { result.nextIndex += 1 }
        return IndexID(rawValue: result.nextIndex)
    }

    func exhausted(_ what: String) -> StrataError {
        StrataError(.invalidModel, "The store has no \(what) numbers left. Copy its objects into a new store.")
    }
}

/// Properties with the same name in several entities of the old model.
private struct PropertyMove: Hashable {
    let name: String
    let group: PropertyGroup
}

/// The new entity and name of a property that moved.
private struct Arrival {
    let entityName: String
    let name: String
}
