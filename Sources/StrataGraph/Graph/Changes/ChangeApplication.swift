import StrataModel
import StrataStore

/// Changes by value that are to be applied to a context, with every conflict decided; `ContextMove` applies them.
struct ChangeApplication {
    /// The rules that decide conflicts with the present state.
    struct Rules {
        /// nil if the changes always win and nothing is recorded, as for undo.
        var policy: MergePolicy?
        /// Whether an attribute that already has the value that the changes give it is in conflict.
        var agreement = RowMerge.Agreement.merges
        /// Whether the changes come from a context that has called `prepareForDeletion` of the objects that it deleted.
        var deletionsArePrepared = false
        /// Whether a link to an object that is gone is a conflict; else it is left out.
        var asksForLostTargets = false
        /// Objects that the changes linked, and that were gone before they were gathered.
        var lostTargets: Set<ObjectID> = []
        /// The events that made theirs, for a custom policy.
        var events: (ObjectID) throws -> [HistoryEvent] = { _ in [] }
        /// The whole object in the state of the changes, to make it again or to overwrite it; nil where they have only
        /// parts.
        var wholeObject: (ObjectID) throws -> NetChanges.Object? = { _ in nil }
        /// Whether the deletion of an object was asked for, and did not only follow from another one.
        var isDeletedItself: (ObjectID) -> Bool = { _ in true }
        /// Relationships that denied the deletion of an object. Their links stay, for the save to judge.
        var denyingLinks: [ObjectID: Set<PropertyID>] = [:]
    }

    let pairs: [PairKey: NetChanges.PairPositionChange]
    /// Relationships whose links stay with an object that is deleted.
    let denyingLinks: [ObjectID: Set<PropertyID>]
    /// The changes of each object that remain to be applied.
    private(set) var objects: [ObjectID: NetChanges.Object] = [:]
    private(set) var ids: [ObjectID] = []
    /// Every object that the changes delete, whatever the policy decides.
    let deletedIDs: Set<ObjectID>
    /// The values of custom resolutions, which replace those of both sides.
    private(set) var given: [ObjectID: [String: AttributeValue]] = [:]
    /// Deleted objects whose `prepareForDeletion` has been called.
    private(set) var preparedDeletions: Set<ObjectID> = []
    /// The objects that are deleted: those whose deletion was asked for, then those that go with them, by id.
    private(set) var going: [ObjectID] = []
    /// Objects whose deletion was asked for.
    private(set) var deletedItself: Set<ObjectID> = []
    /// Objects whose deletion the policy takes back.
    private(set) var returning: Set<ObjectID> = []
    /// Objects that others changed, and whose deletion the policy keeps.
    private(set) var keptDeletions: Set<ObjectID> = []
    /// Objects that the changes update, that no longer exist here, and that the policy makes again.
    private var madeAgain: Set<ObjectID> = []
    private let isFromContext: Bool
    /// The one-to-ones of the changes.
    private(set) var partners: [LinkEnd: PartnerMerge.End] = [:]
    /// The conflicts that the policy decided, with the values that lost.
    private(set) var records: [ConflictRecord] = []

    /// Decides about every object that differs from the state that the changes start from; changes nothing.
    ///
    /// - Throws: `merge` with every conflict that fails.
    init(_ changes: NetChanges, _ rules: Rules, in context: ManagedObjectContext) throws {
        pairs = changes.pairs
        isFromContext = rules.deletionsArePrepared
        denyingLinks = rules.denyingLinks
        deletedIDs = Set(changes.objects.lazy.filter { !$0.value.existsAfter }.map(\.key))
        var decisions = Decisions(rules)
        for (id, change) in changes.objects.sorted(by: { $0.key < $1.key }) {
            guard let entity = context.binding.entity(id.entityID) else { continue }
            objects[id] = try decided(id, change, entity, try context.presentObject(id), &decisions)
        }
        let lost = rules.asksForLostTargets ? try lostTargets(of: changes, rules.lostTargets, in: context) : []
        for conflict in lost where decisions.words[conflict.objectID] == nil {
            // No link leads to a missing object, whichever side wins.
            let resolution: MergeResolution = try decisions.ask(conflict) == .fail ? .fail : .theirs
            decisions.records.note(conflict, resolution)
        }
        try decisions.records.throwFailed { objects, count in
            count == 1 ? "An object was changed since." : "\(objects) were changed since."
        }
        if rules.policy != nil { records = decisions.records.overruled }
        ids = objects.keys.sorted()
        let going = ids.filter { objects[$0]?.existsAfter == false }
        deletedItself = Set(going.filter(rules.isDeletedItself))
        self.going = going.filter(deletedItself.contains) + going.filter { !deletedItself.contains($0) }
        if rules.deletionsArePrepared { preparedDeletions = Set(going) }
        partners = try ends(of: changes, in: context) { id, name in
            decisions.words[id].flatMap { $0.resolution.word(on: name, in: $0.conflict) }
        }
    }

    /// The answers of the policy so far.
    private struct Decisions {
        let rules: Rules
        var records: ConflictRecords
        var words: [ObjectID: (conflict: MergeConflict, resolution: MergeResolution)] = [:]

        init(_ rules: Rules) {
            self.rules = rules
            records = ConflictRecords(rules.policy ?? .mergeByPropertyObjectTrump)
        }

        func ask(_ conflict: MergeConflict) throws -> MergeResolution {
            try rules.policy?.resolution(of: conflict) { try rules.events(conflict.objectID) } ?? .mine
        }
    }

    /// Decides the conflict of one object. Returns the changes that remain to be applied to it; nil if none remain.
    private mutating func decided(
        _ id: ObjectID, _ change: NetChanges.Object, _ entity: EntityRuntime, _ object: ManagedObject?,
        _ decisions: inout Decisions
    ) throws -> NetChanges.Object? {
        let rules = decisions.rules
        let merge = RowMerge(change, entity, against: object, rules.agreement)
        guard let contested = merge.conflict?.slots else {
            return object != nil || !change.existedBefore ? change : nil
        }
        let conflict = MergeConflict(id, entity, merge, contested, change.values(over: object))
        let resolution = try decisions.ask(conflict)
        decisions.words[id] = (conflict, resolution)
        try note(resolution, of: id, object)
        let whole =
            try resolution == .allMine && object != nil ? change.widened(rules.wholeObject(id), entity) : change
        let widened = RowMerge(whole, entity, against: object, rules.agreement)
        let overruled = resolution == .allMine ? widened.overruled(by: .allMine) : merge.overruled(by: resolution)
        decisions.records.note(
            MergeConflict(id, entity, merge, overruled, whole.values(over: object)), resolution)
        switch widened.outcome(of: resolution) {
        case .fails, .takesTheirs: return nil
        case .comesBack:
            returning.insert(id)
            return nil
        case .deleted:
            keptDeletions.insert(id)
            return object == nil ? nil : change
        case .madeAgain:
            madeAgain.insert(id)
            return try rules.wholeObject(id)
        case .merges(let kept):
            // An object that the changes create, but that exists already with other values, stays as it is.
            return change.existedBefore || resolution.winner == .mine ? whole.keeping(kept, entity) : nil
        }
    }

    private mutating func note(_ resolution: MergeResolution, of id: ObjectID, _ object: ManagedObject?) throws {
        guard case .values(let values) = resolution else { return }
        try object?.checkValues(values)
        given[id] = values
    }

    /// Whether an object that the changes create may have existed before; objects that a child created are new.
    func mayHaveBeenThere(_ id: ObjectID) -> Bool { !isFromContext || madeAgain.contains(id) }

    /// Whether a relationship denied the deletion of an object.
    func denies(_ relationship: PropertyID, of id: ObjectID) -> Bool {
        denyingLinks[id]?.contains(relationship) ?? false
    }

    /// Whether the changes may give objects positions among the members of ordered relationships.
    func hasPositions(_ binding: StoreBinding) -> Bool {
        ids.contains { binding.entity($0.entityID)?.properties.contains { $0.kind == .position } ?? false }
    }

    /// Returns conflicts for objects that the changes link, and that no longer exist.
    private func lostTargets(
        of changes: NetChanges, _ known: Set<ObjectID>, in context: ManagedObjectContext
    ) throws -> [MergeConflict] {
        var targets = known
        for (id, change) in objects where change.existsAfter {
            guard let entity = context.binding.entity(id.entityID) else { continue }
            for (property, values) in change.values {
                guard let target = values.after.objectReference, entity.property(property)?.isToOne ?? false else {
                    continue
                }
                targets.insert(target)
            }
        }
        for (pair, positions) in pairs where positions.after != nil { targets.formUnion([pair.source, pair.target]) }
        return try targets.sorted().filter { id in
            try objects[id]?.existsAfter != true && changes.objects[id]?.existsAfter != false
                && context.presentObject(id) == nil
        }.map { id in
            MergeConflict(
                objectID: id, entityName: context.binding.entity(id.entityID)?.name ?? "", isDeletedInStore: true,
                isDeletedHere: false, properties: [])
        }
    }

    /// The ends of the changes' one-to-ones in the three states; see `PartnerMerge`.
    private func ends(
        of changes: NetChanges, in context: ManagedObjectContext, _ word: (ObjectID, String) -> PartnerMerge.Word?
    ) throws -> [LinkEnd: PartnerMerge.End] {
        var ends: [LinkEnd: PartnerMerge.End] = [:]
        for (id, found) in changes.objects {
            guard let entity = context.binding.entity(id.entityID) else { continue }
            // An object that is made again has all its links; links that the policy dropped take part all the same.
            let isMadeAgain = found.existedBefore && !(objects[id]?.existedBefore ?? true)
            let change = isMadeAgain ? objects[id] ?? found : found
            let isNew = change.existsAfter && !change.existedBefore
            for property in entity.oneToOneIndexes.map({ entity.properties[$0] }) {
                guard case .toOne(let inverse) = property.inverse, !denies(property.id, of: id) else { continue }
                let values = change.values[property.id]
                guard values != nil || isNew else { continue }
                var state = PartnerMerge.End()
                state.base = values?.before.objectReference ?? state.base
                if change.existsAfter { state.mine = values?.after.objectReference ?? state.mine }
                state.isChanged = isNew || state.mine != state.base
                state.word = word(id, property.name)
                ends[LinkEnd(object: id, property: property.id, inverse: inverse)] = state
            }
        }
        guard !ends.isEmpty else { return [:] }
        return try context.completed(ends) { end in
            guard let object = try context.presentObject(end.object),
                let property = object._entity.property(end.property)
            else { return ObjectID(rawValue: 0) }
            return object.reference(property.location)
        } isGone: { id in
            if let change = objects[id] { return !change.existsAfter }
            return try context.presentObject(id) == nil
        }
    }
}

extension NetChanges.Object {
    /// The three values of a property, where theirs is the object's present value.
    fileprivate func values(
        over object: ManagedObject?
    ) -> (PropertyRuntime) -> (base: AttributeValue, theirs: AttributeValue, mine: AttributeValue) {
        { property in
            let values = self.values[property.id]
            return (values?.before ?? .null, object?.attributeValue(property) ?? .null, values?.after ?? .null)
        }
    }

    /// The change of the whole object: with the values of `whole` that are not changed.
    fileprivate func widened(_ whole: NetChanges.Object?, _ entity: EntityRuntime) -> NetChanges.Object {
        guard existsAfter, let whole else { return self }
        var widened = self
        for (number, values) in whole.values where widened.values[number] == nil {
            guard let property = entity.property(number), property.kind != .position, !property.isDerived else {
                continue
            }
            widened.note(number, before: values.after, after: values.after)
        }
        return widened
    }

    /// The change of these slots alone.
    fileprivate func keeping(_ slots: [Int], _ entity: EntityRuntime) -> NetChanges.Object {
        var kept = self
        kept.values = values.filter { number, _ in
            entity.property(number).map { slots.contains($0.slot) } ?? false
        }
        return kept
    }
}

extension AttributeValue {
    /// The object that a to-one's value names.
    var objectReference: ObjectID? {
        if case .objectID(let id) = self, !id.isNil { id } else { nil }
    }
}
