import Foundation
import StrataModel

/// The steps that migrate the objects of one entity to a new model.
struct EntityMigration {
    /// One conversion or check.
    struct PropertyStep {
        enum Kind {
            /// An attribute with another type.
            case convert(slot: Int, from: AttributeDescription)
            /// An attribute that may no longer be nil.
            case require(slot: Int)
            /// An attribute that is new to the object.
            case supply
            /// An attribute that the object had under an earlier model, and whose values went on under another number: it is
            /// new to the object again.
            case begin
            /// An attribute that an earlier model had, with the last value that the object had.
            case takeBack(PastValues, from: AttributeDescription)
            /// An attribute with narrower rules.
            case validate(slot: Int)
            /// A to-one that gets its target from former links.
            case point([OldLinks.Storage], back: OldLinks.Storage?)
            /// A to-one that may no longer be nil, or whose destination is narrower than before.
            case checkTarget(slot: Int)
            /// A to-many with a narrower range of member counts, or other members, under its number in the old model.
            case checkCount(PropertyID)
            /// A to-many with another number and a largest number of members, which it gets from former links.
            case checkMost([OldLinks.Storage])
            /// A to-one whose inverse takes over links of another relationship.
            case adopt([OldLinks.BackAdoption])
            /// A to-one that loses objects of these entities to another relationship.
            case release(slot: Int, Set<EntityID>)
            /// A to-one that was made nil when the entity of its target was removed, which returns.
            case regain(slot: Int)
            /// A to-one of an entity that returns, whose target may be gone or lead elsewhere.
            case revive(slot: Int)
            /// A to-one of an entity that returns, whose relationship got another number while the entity was away.
            case renew(PropertySchema)
            /// The position of a to-one's object in a to-many that is ordered again, as it was when it was last ordered.
            case reorder(PastValues)
            /// A to-one that has the target again which models in between could not show.
            case restore(HiddenTarget)
            /// A to-many that takes over links of another relationship, which must lead to its destination.
            case checkLinks(OldLinks.Storage)
            /// The entity may have no objects.
            case refuse
        }

        let kind: Kind
        /// Nil for the object as a whole.
        let property: PropertySchema?
        let value: MigrationRule?
        /// What a converted attribute was in the models before, oldest first.
        var forms: [AttributeDescription] = []
        /// The attributes that it had been converted from before, the last of them of its own type.
        var origins: [Origin] = []
        /// Whether no other step of the property follows, which may give a to-one its target.
        var isLast = true
        /// Whether a step before left it to this one to say that a to-one has no target.
        var looksForTarget = false

        /// Whether a rule computes every value, also where the old one could be converted.
        var isComputed: Bool { value.map { $0.constant == nil } ?? false }

        var writes: Bool {
            switch kind {
            case .convert, .require, .supply, .begin, .takeBack, .point, .adopt, .release, .regain, .revive, .renew,
                .reorder, .restore:
                true
            case .validate, .checkTarget, .checkCount, .checkMost, .checkLinks, .refuse: false
            }
        }
    }

    /// In the new model.
    let entity: EntitySchema
    /// In the old model, or in the last one that had it if the entity returns.
    let old: EntitySchema
    var steps: [PropertyStep]
    let links: OldLinks
    let blobs: BlobStore
    let keys: KeyRing
    let log: LogReader
    var asksValues: Bool { steps.contains { $0.value != nil } }

    var writes: Bool { steps.contains(where: \.writes) }

    /// Nil if the entity had no objects under the old model, or one before.
    init?(
        _ entity: EntitySchema, links: OldLinks, values: [MigrationRule], blobs: BlobStore, keys: KeyRing,
        log: LogReader
    ) throws {
        let former = links.returned[entity.id] ?? links.old
        guard let old = former.entity(entity.id), !old.isAbstract else { return nil }
        self.log = log
        self.entity = entity
        self.old = old
        self.links = links
        self.blobs = blobs
        self.keys = keys
        steps = try Self.steps(entity, old, links, log.histories, values)
    }

    // MARK: Which steps

    private static func steps(
        _ entity: EntitySchema, _ old: EntitySchema, _ links: OldLinks, _ histories: SchemaHistory,
        _ values: [MigrationRule]
    ) throws -> [PropertyStep] {
        if entity.isAbstract { return [PropertyStep(kind: .refuse, property: nil, value: nil)] }
        var names: Set<String> = []
        var next: EntitySchema? = entity
        while let current = next, names.insert(current.name).inserted {
            next = current.superentityID.flatMap(links.new.entity)
        }
        return try entity.properties.flatMap { property -> [PropertyStep] in
            let value = values.first {
                !$0.deletesMisfits && names.contains($0.entityName) && $0.propertyName == property.name
            }
            let kinds: [PropertyStep.Kind] =
                switch property.kind {
                case .attribute(let attribute):
                    // Derived attributes are computed when everything else is in place.
                    attribute.isTransient || attribute.derivationExpression != nil
                        ? [] : try steps(property, attribute, old, links, histories, value != nil)
                case .relationship(let relationship):
                    relationship.description.isTransient
                        ? []
                        : try steps(property, relationship, entity, old, links, histories)
                            + restoring(property, old, links, histories)
                case .position(let toOne):
                    try PastValues.position(of: toOne, property.id, old, links, histories).map { [.reorder($0)] } ?? []
                }
            return try kinds.enumerated().map { index, kind in
                var step = PropertyStep(kind: kind, property: property, value: value)
                step.isLast = index == kinds.count - 1
                step.looksForTarget = step.isLast && kinds[..<index].contains(where: \.checksTarget)
                try findOrigins(of: &step, old, links, histories)
                return step
            }
        }
    }

    private static func steps(
        _ property: PropertySchema, _ attribute: AttributeDescription, _ old: EntitySchema, _ links: OldLinks,
        _ histories: SchemaHistory, _ hasValue: Bool
    ) throws -> [PropertyStep.Kind] {
        if let earlier = old.property(property.id), let before = earlier.attribute {
            if before.isOptional, !attribute.isOptional { return [.require(slot: earlier.slot)] }
            return before.isNarrowed(by: attribute) ? [.validate(slot: earlier.slot)] : []
        }
        if let earlier = links.new.former(of: property.id, in: old), let before = earlier.attribute {
            return [.convert(slot: earlier.slot, from: before)]
        }
        let formers = links.new.assignment.formers(of: property.id, in: old.id)
        let version = links.returned[old.id]?.version ?? links.old.version
        if let past = try PastValues(formers, own: property.id, of: old.id, before: version, in: links.new, histories),
            let before = past.attribute
        {
            return [.takeBack(past, from: before)]
        }
        if try PastValues.wentOn(property.id, of: old.id, upTo: version, histories) { return [.begin] }
        // The parent of an entity that returns may have renewed the property meanwhile.
        if links.returned[old.id] != nil, let earlier = old.property(named: property.name),
            let before = earlier.attribute, !before.isTransient
        {
            return [.convert(slot: earlier.slot, from: before)]
        }
        let isBornFilled = links.new.assignment.bornDefaults[property.id] != nil
        let isFilled = isBornFilled || attribute.isOptional && attribute.defaultValue == nil
        return hasValue || !isFilled || !formers.isEmpty ? [.supply] : []
    }

    private static func steps(
        _ property: PropertySchema, _ relationship: RelationshipSchema, _ entity: EntitySchema, _ old: EntitySchema,
        _ links: OldLinks, _ histories: SchemaHistory
    ) throws -> [PropertyStep.Kind] {
        let description = relationship.description
        let adoptions = links.adoptions(backTo: property.id)
        let adopting: [PropertyStep.Kind] = adoptions.isEmpty ? [] : [.adopt(adoptions)]
        guard let earlier = old.property(property.id), let before = earlier.relationship else {
            let adoption = links.adoption(by: property.id, of: entity.id)
            if description.isToMany {
                let storages = description.maxCount > 0 ? links.storages(of: property, in: entity.id) : []
                let bound: [PropertyStep.Kind] = storages.isEmpty ? [] : [.checkMost(storages)]
                guard let adoption, !adoption.isFormer else { return bound + lossCheck(property, links) }
                return bound + [.checkLinks(adoption.links)]
            }
            let renewed = try links.renewed(property.id, in: old, histories)
            let slot = renewed?.slot ?? links.number(before: property).flatMap(old.slot)
            let isRegained = links.regained.properties.contains(property.id)
            let regaining: [PropertyStep.Kind] = isRegained ? slot.map { [.regain(slot: $0)] } ?? [] : []
            let renewing = renewed.map { [PropertyStep.Kind.renew($0)] } ?? []
            let storages = links.storages(of: property, in: entity.id)
            // A row of an earlier model may still have a target under the number.
            if storages.isEmpty, description.isOptional || !adoptions.isEmpty,
                try !PastValues.wentOn(property.id, of: old.id, upTo: links.old.version, histories)
            {
                return renewing + (renewing.isEmpty ? [] : regaining) + adopting
            }
            let inverse = relationship.inverse.flatMap { links.new.property($0) }
            let isBackToMany = inverse?.relationship?.isToMany ?? false
            let back = isBackToMany ? adoption.map(\.back) ?? inverse.flatMap(links.storage) : nil
            return renewing + [.point(storages, back: back)] + regaining + adopting
        }
        if description.isToMany {
            let isNarrower =
                description.minCount > before.description.minCount
                || description.mostCount < before.description.mostCount
                || !description.mayBeEmpty && before.description.mayBeEmpty
            let gains = description.maxCount > 0 && links.gained.concern(property.id)
            return isNarrower || gains ? [.checkCount(property.id)] : lossCheck(property, links)
        }
        let allowed = Set(links.new.entity(relationship.destination)?.entityIDs ?? [])
        let possible = links.old.entity(before.destination)?.concreteEntityIDs ?? []
        let leadsAstray = possible.contains { links.new.entity($0) != nil && !allowed.contains($0) }
        let released = links.released(by: property.id)
        let isRequired = !description.isOptional && (before.description.isOptional || !released.isEmpty)
        var releasing: [PropertyStep.Kind] = released.isEmpty ? [] : [.release(slot: earlier.slot, released)]
        if links.returned[entity.id] != nil { releasing.append(.revive(slot: earlier.slot)) }
        if links.regained.properties.contains(property.id) { releasing.append(.regain(slot: earlier.slot)) }
        return releasing + adopting
            + (leadsAstray || isRequired && adopting.isEmpty ? [.checkTarget(slot: earlier.slot)] : [])
    }

    /// The check of a to-many that needs members and may have lost some.
    private static func lossCheck(_ property: PropertySchema, _ links: OldLinks) -> [PropertyStep.Kind] {
        guard let description = property.relationship?.description, description.minCount > 0,
            links.losesMembers(property), let number = links.number(before: property)
        else { return [] }
        return [.checkCount(number)]
    }

    // MARK: One object

    /// The changes of the object's row; problems are added to `failures`.
    func changes(
        of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot, _ failures: inout MigrationFailures
    ) throws -> [PropertyChange] {
        let reader = try row.reader
        let object = asksValues ? try migratedObject(id, row, reader, snapshot) : nil
        var changes: [PropertyChange] = []
        for step in steps {
            switch step.kind {
            case .refuse:
                failures.add(.migration, "\(entity.name) is abstract and may have no objects.", entity, id)
            case .checkCount(let number): try checkCount(step, number, id, snapshot, &failures)
            case .checkMost(let storages): try checkMost(step, storages, id, row, snapshot, &failures)
            case .checkLinks(let storage): try checkLinks(step, storage, id, row, snapshot, &failures)
            case .release(let slot, let entities): try release(step, slot, entities, row, snapshot, &changes)
            case .adopt(let adoptions): try adopt(step, adoptions, id, row, snapshot, &changes, &failures)
            case .regain(let slot):
                try regain(step, slot, id, row, snapshot, &changes)
                try lookForTarget(step, id, row, snapshot, changes, &failures)
            case .revive(let slot): try revive(step, slot, id, row, snapshot, &changes, &failures)
            case .reorder(let past): try reorder(step, past, id, row, snapshot, &changes)
            case .restore(let hidden):
                try restore(step, hidden, id, row, snapshot, &changes)
                try lookForTarget(step, id, row, snapshot, changes, &failures)
            case .renew(let earlier): try renew(step, earlier, id, row, snapshot, &changes)
            case .checkTarget(let slot):
                let value = try snapshot.value(slot, of: row, reader, old)
                let released = step.property.map { links.released(by: $0.id) } ?? []
                var target = value.target.flatMap { released.contains($0.entityID) ? nil : $0 }
                if let property = step.property, case .value(.objectID(let id))? = changes.made(property) {
                    target = id
                }
                try checkTargets(step, id, target.map { [$0] } ?? [], &failures)
            case .point(let storages, let back):
                try point(step, storages, back, id, row, snapshot, &changes, &failures)
            default:
                try fill(step, id, row, reader, snapshot, object, &changes, &failures)
            }
        }
        return changes
    }

    func migratedObject(
        _ id: ObjectID, _ row: SnapshotRow, _ reader: RowReader, _ snapshot: Snapshot
    ) throws -> MigratedObject {
        var values: [String: AttributeValue] = [:]
        for property in old.properties where property.storage != nil {
            var value = try snapshot.value(property.slot, of: row, reader, old)
            if let attribute = property.attribute { value = try decrypted(value, attribute, property.id, id) }
            if case .blob(let reference) = value { value = .data(try blobs.read(reference)) }
            values[property.name] = value
        }
        return MigratedObject(objectID: id, entityName: old.name, values: values)
    }

    private func fill(
        _ step: PropertyStep, _ id: ObjectID, _ row: SnapshotRow, _ reader: RowReader, _ snapshot: Snapshot,
        _ object: MigratedObject?,
        _ changes: inout [PropertyChange], _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property, let attribute = property.attribute else { return }
        var before = AttributeValue.null
        var storedBefore: AttributeValue?
        var shownBefore: AttributeValue?
        var value = AttributeValue.null
        var asksRule = true
        switch step.kind {
        case .convert(let slot, let from):
            shownBefore = try shown(property, row, reader)
            let stored = try snapshot.value(slot, of: row, reader, old)
            if step.isComputed { break }
            let plain = try decrypted(stored, from, old.properties[slot].id, id)
            let converted = try original(of: plain, from, step, id, row, snapshot) ?? convert(plain, from, attribute)
            if converted == nil, step.value == nil {
                return failures.add(
                    .migration,
                    "\(property.name) cannot be made \(attribute.type.nameWithArticle) of what it is now.", entity, id,
                    property.name, stored)
            }
            value = converted ?? .null
            asksRule = value.isNull
        case .takeBack(let past, let from):
            let last = try links.lastValue(past, of: id, row, snapshot)
            let plain = try last.map { try decrypted($0, from, past.property, id) }
            value =
                try plain.map {
                    try original(of: $0, from, step, id, row, snapshot) ?? convert($0, from, attribute) ?? .null
                } ?? attribute.defaultValue ?? .null
            if !value.isNull { asksRule = false }
            shownBefore = try shown(property, row, reader)
        case .require(let slot), .validate(let slot):
            let stored = try snapshot.value(slot, of: row, reader, old)
            if attribute.isEncrypted { storedBefore = stored }
            before = try decrypted(stored, attribute, old.properties[slot].id, id)
            value = before
        default:
            before = links.new.assignment.bornDefaults[property.id] ?? .null
            value = before
            if case .begin = step.kind { shownBefore = try shown(property, row, reader) }
        }
        if asksRule, let make = step.value?.make, let object, value.isNull || before.isNull || step.isSupplied {
            guard let made = ask(make, object, property.name, entity, &failures) else { return }
            value = made
        }
        if value.isNull, let constant = attribute.defaultValue, step.takesDefault || !attribute.isOptional {
            value = constant
        }
        if let shownBefore {
            (storedBefore, before) = (shownBefore, try decrypted(shownBefore, attribute, property.id, id))
        }
        let isSame = value.isIdentical(to: before) && !regains(step, row)
        if isSame, !step.checksRules, attribute.isOptional || !value.isNull { return }
        let problems = attribute.validate(value, entityName: entity.name)
        for problem in problems { failures.add(problem, id) }
        if problems.isEmpty, !isSame {
            guard let after = try sealed(value, property, id, row, reader, snapshot, changes, &failures) else { return }
            changes.append(
                PropertyChange(
                    property: property.id, before: .value(try storedBefore ?? encrypted(before, property, id)),
                    after: .value(after)))
        }
    }

    /// What a row shows of a property under the new model before the migration has changed it.
    func shown(_ property: PropertySchema, _ row: SnapshotRow, _ reader: RowReader) throws -> AttributeValue {
        guard let slot = row.layout.slotNumber(property.slot, of: entity) else {
            return links.new.assignment.bornDefaults[property.id] ?? .null
        }
        return try reader.value(slot).fitting(entity.layout.slots[property.slot])
    }

    func ask(
        _ make: (MigratedObject) throws -> AttributeValue, _ object: MigratedObject, _ key: String,
        _ entity: EntitySchema, _ failures: inout MigrationFailures
    ) -> AttributeValue? {
        do {
            return try make(object)
        } catch {
            failures.add(
                StrataError(
                    .migration, "\(key) cannot be made of what the object is now.",
                    context: .init(entityName: entity.name, key: key), cause: error), object.objectID)
            return nil
        }
    }
}

extension EntityMigration.PropertyStep {
    /// Whether the object had no value for the property, so that a rule of the app's is always asked.
    fileprivate var isSupplied: Bool {
        switch kind {
        case .supply, .begin: true
        default: false
        }
    }
    /// Whether nil means the default that the object would have, had the property existed.
    var takesDefault: Bool { isSupplied }
    fileprivate var checksRules: Bool { if case .validate = kind { true } else { false } }
}
