package import StrataModel
package import StrataStore

// Changes that were made elsewhere (in a child context, by a step of undo, by a transaction that is taken back) become
// changes of this context. Objects come back under their own ids, then values and to-ones are set, then pairs; what
// goes is deleted last, by the delete rules, so that also what the changes do not know of is left in order.

extension ManagedObjectContext {
    /// Makes the changes in this context; what is already so is left alone.
    ///
    /// - Parameters:
    ///   - isStrict: an attribute that both changed is a conflict even where both wrote the same.
    ///   - remake: the whole of a changed object that is gone here and is to be made again; nil leaves it gone.
    ///   - resolve: is asked about each object that is not as the changes found it; nothing has been done when it is
    ///     asked. `fail` makes the whole fail.
    /// - Throws: `merge` with every conflict that came out as `fail`; then nothing was changed.
    package func apply(
        _ changes: NetChanges, isStrict: Bool = false,
        remaking remake: (ObjectID) throws -> NetChanges.Object? = { _ in nil },
        resolving resolve: (MergeConflict) throws -> MergeResolution
    ) throws {
        _ = try applyNotingLinks(changes, isStrict: isStrict, remaking: remake, resolving: resolve)
    }

    /// The same.
    ///
    /// - Returns: links of one-to-ones that were overruled.
    func applyNotingLinks(
        _ changes: NetChanges, isStrict: Bool = false, askingForLostTargets asksForLost: Bool = false,
        remaking remake: (ObjectID) throws -> NetChanges.Object? = { _ in nil },
        resolving resolve: (MergeConflict) throws -> MergeResolution
    ) throws -> [OverruledLink] {
        guard !isReadOnly else { throw readOnlyError }
        let plan = try applicationPlan(changes, isStrict, asksForLost, remake, resolve)
        try makeObjects(plan)
        for id in plan.ids { try setAttributes(of: id, plan) }
        var isPlaced = false
        for id in plan.ids where try setTargets(of: id, plan) { isPlaced = true }
        if isPlaced { try rebuildLinkChanges() }
        let merge = PartnerMerge(plan.partners)
        let settled = try write(merge)
        try showDisplacedPartners()
        for id in plan.ids { try setGivenValues(of: id, plan) }
        try setPairs(changes.pairs)
        for id in plan.ids where !(plan.objects[id]?.existsAfter ?? true) {
            if let object = try presentObject(id) { delete(object) }
        }
        return overruled(merge, settled)
    }

    /// What remains to be done once the conflicts are settled.
    private struct ApplicationPlan {
        var objects: [ObjectID: NetChanges.Object] = [:]
        var ids: [ObjectID] = []
        /// What a custom resolution says instead of both sides.
        var given: [ObjectID: [String: AttributeValue]] = [:]
        /// The one-to-ones of the changes.
        var partners: [LinkEnd: PartnerMerge.End] = [:]
    }

    // MARK: Conflicts

    private func applicationPlan(
        _ changes: NetChanges, _ isStrict: Bool, _ asksForLost: Bool,
        _ remake: (ObjectID) throws -> NetChanges.Object?, _ resolve: (MergeConflict) throws -> MergeResolution
    ) throws -> ApplicationPlan {
        var plan = ApplicationPlan()
        var failed: [MergeConflict] = []
        var words: [ObjectID: (conflict: MergeConflict, resolution: MergeResolution)] = [:]
        for (id, change) in changes.objects.sorted(by: { $0.key < $1.key }) {
            guard let entity = binding.entity(id.entityID) else { continue }
            let object = try presentObject(id)
            guard let conflict = try conflict(change, id, entity, object, isStrict) else {
                if object != nil || !change.existedBefore { plan.objects[id] = change }
                continue
            }
            let resolution = try resolve(conflict)
            words[id] = (conflict, resolution)
            if case .values(let values) = resolution {
                try object?.checkValues(values)
                plan.given[id] = values
            }
            switch resolution {
            case .fail: failed.append(conflict)
            case .values where object == nil, .mine, .allMine:
                plan.objects[id] = object != nil || !change.existedBefore ? change : try remake(id)
            case .theirs, .values:
                guard change.existedBefore, change.existsAfter, object != nil else { continue }
                let contested = Set(conflict.properties.map(\.name))
                var rest = change
                rest.values = change.values.filter { property, _ in
                    !(entity.property(property).map { contested.contains($0.name) } ?? true)
                }
                plan.objects[id] = rest
            case .allTheirs: continue
            }
        }
        for conflict in asksForLost ? try lostTargets(of: changes, plan) : []
        where words[conflict.objectID] == nil {
            if try resolve(conflict) == .fail { failed.append(conflict) }
        }
        guard failed.isEmpty else {
            throw StrataError(
                .merge, "\(failed.count == 1 ? "An object was" : "\(failed.count) objects were") changed since.",
                context: .init(
                    entityName: failed[0].entityName, objectID: failed[0].objectID, conflicts: failed))
        }
        plan.ids = plan.objects.keys.sorted()
        try addPartners(of: changes, to: &plan) { id, name in
            words[id].flatMap { $0.resolution.word(on: name, in: $0.conflict) }
        }
        return plan
    }

    /// Objects that the changes link, and that are not there any more: nothing can lead to them.
    private func lostTargets(of changes: NetChanges, _ plan: ApplicationPlan) throws -> [MergeConflict] {
        var targets: Set<ObjectID> = []
        for (id, change) in plan.objects where change.existsAfter {
            guard let entity = binding.entity(id.entityID) else { continue }
            for (property, values) in change.values {
                guard case .objectID(let target) = values.after, entity.property(property)?.isToOne ?? false else {
                    continue
                }
                targets.insert(target)
            }
        }
        for (pair, places) in changes.pairs where places.after != nil { targets.formUnion([pair.source, pair.target]) }
        return try targets.sorted().filter { id in
            try plan.objects[id]?.existsAfter != true && changes.objects[id]?.existsAfter != false
                && presentObject(id) == nil
        }.map { id in
            MergeConflict(
                objectID: id, entityName: binding.entity(id.entityID)?.name ?? "", isDeletedInStore: true,
                isDeletedHere: false, properties: [])
        }
    }

    /// Notes where the one-to-ones of the changes lead, and where they lead here; see `PartnerMerge`.
    private func addPartners(
        of changes: NetChanges, to plan: inout ApplicationPlan, _ word: (ObjectID, String) -> PartnerMerge.Word?
    ) throws {
        var ends: [LinkEnd: PartnerMerge.End] = [:]
        for (id, found) in changes.objects {
            guard let entity = binding.entity(id.entityID) else { continue }
            // What is made again is made whole; what the policy took out of the plan is in the question all the same.
            let isMadeAgain = found.existedBefore && !(plan.objects[id]?.existedBefore ?? true)
            let change = isMadeAgain ? plan.objects[id] ?? found : found
            let isNew = change.existsAfter && !change.existedBefore
            for property in entity.oneToOneIndexes.map({ entity.properties[$0] }) {
                guard case .toOne(let inverse) = property.inverse else { continue }
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
        guard !ends.isEmpty else { return }
        let planned = plan.objects
        plan.partners = try completed(ends) { end in
            guard let object = try presentObject(end.object), let property = object._entity.property(end.property)
            else { return ObjectID(rawValue: 0) }
            return object.reference(property.place)
        } isGone: { id in
            if let change = planned[id] { return !change.existsAfter }
            return try presentObject(id) == nil
        }
    }

    /// What stands against a change; nil when the object is as the change found it, or already as it leaves it.
    private func conflict(
        _ change: NetChanges.Object, _ id: ObjectID, _ entity: EntityRuntime, _ object: ManagedObject?, _ isStrict: Bool
    ) throws -> MergeConflict? {
        guard let object else {
            // Gone, and meant to go: agreed.
            guard change.existedBefore, change.existsAfter else { return nil }
            return MergeConflict(
                objectID: id, entityName: entity.name, isDeletedInStore: true, isDeletedHere: false,
                properties: properties(change, entity) { _ in .null })
        }
        let contested = change.values.filter { number, values in
            guard let property = entity.property(number), property.isInRow, property.kind != .position,
                !property.isDerived
            else {
                return false
            }
            let now = object.attributeValue(property)
            return !now.isIdentical(to: values.before)
                && (!now.isIdentical(to: values.after) || isStrict && property.attribute != nil)
        }
        guard !contested.isEmpty else { return nil }
        var reduced = change
        reduced.values = contested
        return MergeConflict(
            objectID: id, entityName: entity.name, isDeletedInStore: false, isDeletedHere: !change.existsAfter,
            properties: properties(reduced, entity) { object.attributeValue($0) })
    }

    private func properties(
        _ change: NetChanges.Object, _ entity: EntityRuntime, theirs: (PropertyRuntime) -> AttributeValue
    ) -> [MergeConflict.Property] {
        change.values.compactMap { number, values -> MergeConflict.Property? in
            guard let property = entity.property(number), property.index < entity.declaredCount else { return nil }
            return MergeConflict.Property(
                name: property.name, base: values.before, theirs: theirs(property), mine: values.after)
        }.sorted { $0.name < $1.name }
    }

    // MARK: Objects

    /// The object, read; nil when it is not there or its deletion is pending.
    func presentObject(_ id: ObjectID) throws -> ManagedObject? {
        do {
            return try existingObject(with: id)
        } catch let error as StrataError where error.code == .referentialIntegrity {
            return nil
        }
    }

    private func makeObjects(_ plan: ApplicationPlan) throws {
        var isChanged = false
        for id in plan.ids {
            guard plan.objects[id]?.existsAfter ?? false, let entity = binding.entity(id.entityID),
                try presentObject(id) == nil
            else { continue }
            bringBack(id, entity)
            isChanged = true
        }
        // An object whose deletion is taken back still points where it did; its owners do not know.
        if isChanged { try rebuildLinkChanges() }
    }

    /// Makes an object under an id that it had before, or takes its pending deletion back.
    private func bringBack(_ id: ObjectID, _ entity: EntityRuntime) {
        if let known = map[id] ?? objectOfDeletedRow(id) {
            if known._flags.contains(.withdrawn) { return takeBackWithdrawal(of: known) }
            if known._flags.contains(.deleted) { return takeBackDeletion(of: known) }
            forgetWithChanges(known)
        }
        let object = entity.objectClass.init(
            _ObjectSeed(
                entity: entity, objectID: id, state: observesObjects ? ObjectState.observed : 0, context: self,
                isInserted: true))
        map.insert(object)
        pending.noteInserted(object)
    }

    private func takeBackWithdrawal(of object: ManagedObject) {
        pending.takeBackWithdrawal(of: object)
        object.announceAllChanged()
        // Its links went at their other ends only; those that come back are made anew.
        for index in object._entity.toManyIndexes {
            guard let link = binding.link(object._entity.properties[index].id), link.isPairs else { continue }
            toManyState(link, object.objectID).forgetChanges()
            pendingLinks.notePairChange()
        }
    }

    // MARK: Values

    private func setAttributes(of id: ObjectID, _ plan: ApplicationPlan) throws {
        guard let change = plan.objects[id], change.existsAfter, let object = try presentObject(id) else { return }
        for (property, value) in changedProperties(of: object, change) where property.relationship == nil {
            guard property.kind != .position, !object.attributeValue(property).isIdentical(to: value) else { continue }
            try object.write(value, to: property)
        }
    }

    /// - Returns: whether a place in an ordered relationship was set.
    private func setTargets(of id: ObjectID, _ plan: ApplicationPlan) throws -> Bool {
        guard let change = plan.objects[id], change.existsAfter, let object = try presentObject(id) else {
            return false
        }
        let properties = changedProperties(of: object, change)
        // A new owner's list is entered at its end; the changes say where, or that the place stays.
        var places = places(of: object)
        for (property, value) in properties where property.kind == .position { places[property.slot] = value }
        for (property, value) in properties where property.isToOne {
            // Those are settled link by link.
            if object.linkEnd(property) != nil { continue }
            guard object.attributeValue(property) != value else { continue }
            // A target that is gone by now cannot be linked to.
            let target = try value.objectReference.flatMap { try presentObject($0) }
            try object.changeTarget(target, at: property.index)
        }
        var isChanged = false
        for (slot, value) in places.sorted(by: { $0.key < $1.key }) {
            guard case .integer(let place) = value,
                object.attributeValue(object._entity.property(slot: slot)) != value
            else { continue }
            object.storePosition(place, slot: slot)
            isChanged = true
        }
        return isChanged
    }

    private func setGivenValues(of id: ObjectID, _ plan: ApplicationPlan) throws {
        guard let values = plan.given[id], let object = try presentObject(id) else { return }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let property = try object.declared(key)
            if property.relationship != nil {
                try object.changeTarget(try value.objectReference.flatMap { try presentObject($0) }, at: property.index)
            } else {
                try object.write(try object.boxed(value.isNull ? nil : value, for: property), to: property)
            }
        }
    }

    private func places(of object: ManagedObject) -> [Int: AttributeValue] {
        var places: [Int: AttributeValue] = [:]
        for property in object._entity.properties where property.kind == .position {
            places[property.slot] = object.attributeValue(property)
        }
        return places
    }

    private func changedProperties(
        of object: ManagedObject, _ change: NetChanges.Object
    ) -> [(PropertyRuntime, AttributeValue)] {
        change.values.compactMap { number, values in
            object._entity.property(number).flatMap { $0.isInRow && !$0.isDerived ? ($0, values.after) : nil }
        }.sorted { $0.0.slot < $1.0.slot }
    }

    // MARK: Pairs

    private func setPairs(_ pairs: [PairKey: NetChanges.Places]) throws {
        let ordered = pairs.sorted {
            ($0.key.property, $0.key.source, $0.key.target) < ($1.key.property, $1.key.source, $1.key.target)
        }
        for (key, places) in ordered {
            guard let link = binding.link(key.property), case .pairs(_, _, _, let inverseID) = link.source else {
                continue
            }
            guard try presentObject(key.source) != nil, try presentObject(key.target) != nil else { continue }
            let state = toManyState(link, key.source)
            guard let after = places.after else {
                try unlinkPair(state, key.target)
                continue
            }
            try linkPair(state, key.target, at: nil)
            if link.isOrdered { try setPlace(of: key.target, after.inSource, state) }
            if let inverse = binding.link(inverseID), inverse.isOrdered, key.source != key.target {
                try setPlace(of: key.source, after.inTarget, toManyState(inverse, key.target))
            }
        }
    }
}

extension AttributeValue {
    /// The object that a to-one's value names.
    var objectReference: ObjectID? {
        if case .objectID(let id) = self, !id.isNil { id } else { nil }
    }
}
