import StrataModel
import StrataStore

// Applies the decisions of `RowMerge` and the policy to objects. Theirs always becomes the new base, so that the save
// is checked against it; the decisions determine which of my changes stay on top.

/// An object that others changed, with the outcome of its merge.
struct SettledObject {
    let stale: Staleness.StaleObject
    let merge: RowMerge
    /// nil where nothing was in conflict.
    let conflict: MergeConflict?
    var resolution: MergeResolution

    var outcome: RowMerge.Outcome { merge.outcome(of: resolution) }

    /// Returns the side that the policy chose for a property; nil where the property is in no conflict.
    func word(on name: String) -> PartnerMerge.Word? { conflict.flatMap { resolution.word(on: name, in: $0) } }
}

extension ManagedObjectContext {
    /// Brings one object to the state its resolution asks for.
    func adopt(_ settled: SettledObject) throws {
        defer { pending.noteMerged(settled.stale.id) }
        guard let object = map[settled.stale.id] else { return }
        let outcome = settled.outcome
        guard let theirs = settled.stale.theirs else {
            guard outcome == .madeAgain else {
                pending.acceptDeletion(of: object)
                // Else a link that it got here before it was deleted here would come back with its owner forgotten.
                pendingLinks.dropPairChanges(of: object)
                return forgetWithChanges(object)
            }
            // Made again under its own id; others have cut its links.
            pending.makeAgain(object)
            return try setValues(of: settled, on: object)
        }
        let revision = settled.stale.revision
        switch outcome {
        case .fails, .madeAgain: return
        case .deleted: return takeRow(object, theirs, revision)
        case .comesBack:
            takeBackOwnDeletion(of: object)
            takeRow(object, theirs, revision)
            return try setValues(of: settled, on: object)
        case .takesTheirs:
            pending.dropChanges(of: object)
            takeRow(object, theirs, revision)
        case .merges(let kept):
            // Without a base only its pairs changed here, or nothing is left of its changes.
            guard object._base != nil else {
                takeRow(object, theirs, revision)
                return try setValues(of: settled, on: object)
            }
            object.rebase(onto: theirs, revision: revision, keeping: kept)
        }
        pending.noteTouched(object)
        try setValues(of: settled, on: object)
    }

    /// Takes the row as it is in the store, without any change of the context.
    private func takeRow(_ object: ManagedObject, _ theirs: RowImage, _ revision: EventNumber) {
        theirs.bytes.withUnsafeBytes { object.adoptRow($0, revision: revision) }
        object.noteRevisionKnown()
        object.noteRowIsStored()
        object.announceAllChanged()
    }

    // MARK: Deletions

    /// Takes a pending deletion back, but not its effects on other objects.
    func takeBackOwnDeletion(of object: ManagedObject) {
        // The object is a member again of the objects that others linked it to.
        if pending.takeBackDeletion(of: object) { pendingLinks.forgetMembers() }
        object.announceAllChanged()
        invalidateLayers()
    }

    /// Takes a pending deletion back for changes that include the effects on other objects. Links that it cut
    /// stay cut until these changes make them.
    func takeBackDeletion(of object: ManagedObject) {
        takeBackOwnDeletion(of: object)
        // Also to-manys of others that have no inverse.
        for link in binding.pairLinks(of: object.objectID.entityID) {
            guard case .pairs(_, _, _, let inverse) = link.source else { continue }
            let state = toManyState(link, object.objectID)
            // Cut before: links to what is still deleted, and to itself.
            let cut = state.pending.filter { $1 == .removed && ($0 == object.objectID || isDeleted($0)) }
            state.forgetChanges()
            for member in cut.keys { state.remove(member) }
            for other in pendingLinks.states.values where other.link.id == inverse && other !== state {
                if other.pending[object.objectID] == .removed { state.remove(other.owner) }
            }
            pendingLinks.notePairChange()
        }
    }

    // MARK: Values

    /// - Throws: `unknownKey`, `wrongType` for values of a custom resolution that do not fit.
    private func setValues(of settled: SettledObject, on object: ManagedObject) throws {
        guard case .values(let values) = settled.resolution else { return }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let property = try object.declared(key)
            guard property.relationship == nil else { continue }
            try object.write(try object.boxed(value.isNull ? nil : value, for: property), to: property)
        }
    }

    /// The links of a custom resolution are made when every row is settled.
    func setTargets(of settled: SettledObject) throws {
        guard case .values(let values) = settled.resolution, settled.conflict != nil,
            let object = map[settled.stale.id], object._state & ObjectState.unlinkable == 0
        else { return }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let property = try object.declared(key)
            guard property.relationship != nil else { continue }
            try object.changeTarget(value.objectReference.flatMap(registeredOrFault), at: property.index)
        }
    }

    // MARK: Links to deleted objects

    /// Cuts links of the save to objects that others deleted, unless they are cut already.
    func cutLinks(_ missing: [Staleness.MissingTarget]) throws {
        // A target that the policy made again exists, so links to it stay.
        for link in missing where !isNew(link.target) {
            if let source = map[link.source], let property = source._entity.property(link.property), property.isInRow {
                guard source.reference(property.location) == link.target else { continue }
                try source.changeTarget(nil, at: property.index)
            } else if let pairs = binding.link(link.property), case .pairs(_, _, _, let inverse) = pairs.source {
                // The link was never saved: it is dropped at both ends.
                for id in Set([pairs.id, inverse]) {
                    guard let side = binding.link(id) else { continue }
                    toManyState(side, link.source).settle(link.target)
                    toManyState(side, link.target).settle(link.source)
                }
                pendingLinks.notePairChange()
            }
        }
    }
}

extension ManagedObject {
    /// Whether a custom resolution can be written; nothing is changed.
    ///
    /// - Throws: `unknownKey`, `wrongType`.
    final func checkValues(_ values: [String: AttributeValue]) throws {
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let property = try declared(key)
            if property.relationship == nil {
                _ = try boxed(value.isNull ? nil : value, for: property)
            } else if property.isToMany || !value.isNull && value.objectReference == nil {
                throw wrongType(property, value)
            }
        }
    }
}
