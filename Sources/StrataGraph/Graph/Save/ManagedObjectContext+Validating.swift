import StrataModel

/// At which kind of save an object is checked.
enum ValidationMoment { case insert, update, delete }

extension ManagedObjectContext {
    /// Checks every pending object, and throws everything that is wrong at once.
    func validate() throws {
        var errors: [StrataError] = []
        foldLinkChangesIfBounded()
        for object in pending.inserted where object._flags.contains(.inserted) {
            Self.collect(object, &errors) { try object.validateForInsert() }
        }
        for object in pending.updated where object._flags.contains(.updated) && !object._flags.contains(.deleted) {
            Self.collect(object, &errors) { try object.validateForUpdate() }
        }
        for object in pending.deleted where object._flags.contains(.deleted) {
            Self.collect(object, &errors) { try object.validateForDelete() }
        }
        errors += try deniedRowDeletions()
        if binding.hasBoundedLinks { try validateBounds(&errors) }
        try StrataError.throwTogether(errors)
    }

    private func foldLinkChangesIfBounded() { if binding.hasBoundedLinks { foldLinkChanges() } }

    private static func collect(_ object: ManagedObject, _ errors: inout [StrataError], _ body: () throws -> Void) {
        do {
            try body()
        } catch let error as StrataError {
            for error in error.code == .validationMultipleErrors ? error.details : [error] {
                errors.append(object.completing(error))
            }
        } catch {
            errors.append(
                StrataError(
                    .managedObjectValidation, "\(StrataError.name(of: error)): \(object._entity.name) is not valid.",
                    context: object.fullErrorContext(), cause: error))
        }
    }

    /// Counts members where the model bounds them and where no object's own checks did: a class may leave them out, and
    /// an owner that lost a deleted member may not be in memory.
    private func validateBounds(_ errors: inout [StrataError]) throws {
        var owners: Set<ToManyKey> = []
        for object in pending.inserted where object._flags.contains(.inserted) {
            for link in boundedLinks(of: object) {
                owners.insert(ToManyKey(link: link.id, owner: object.objectID))
            }
        }
        for (key, state) in pendingLinks.states where state.link.isBounded && state.hasChanges { owners.insert(key) }
        for key in owners.sorted(by: { ($0.owner, $0.link) < ($1.owner, $1.link) }) where !isDeleted(key.owner) {
            guard let link = binding.link(key.link) else { continue }
            let found = try boundFailures(of: link, key.owner).filter { failure in
                !errors.contains {
                    $0.code == failure.code && $0.context.objectID == key.owner && $0.context.key == failure.context.key
                }
            }
            guard !found.isEmpty, let owner = registeredOrFault(key.owner) else { continue }
            owner.fireFault()
            errors += found.map(owner.completing)
        }
    }

    /// The to-manys of an object whose number of members the model bounds.
    private func boundedLinks(of object: ManagedObject) -> [Link] {
        object._entity.toManyIndexes.compactMap { index in
            binding.link(object._entity.properties[index].id).flatMap { $0.isBounded ? $0 : nil }
        }
    }

    /// - Complexity: O(1) in the number of members; none is read.
    private func boundFailures(of link: Link, _ owner: ObjectID) throws -> [StrataError] {
        link.description?.validate(count: try memberCount(toManyState(link, owner))) ?? []
    }

    /// Returns the errors for relationships of an object that have too few or too many members.
    func boundFailures(of object: ManagedObject) throws -> [StrataError] {
        guard binding.hasBoundedLinks else { return [] }
        return try boundedLinks(of: object).flatMap { try boundFailures(of: $0, object.objectID) }
    }
}

extension ManagedObject {
    /// The checks of the model; what `validateForInsert` and its siblings begin with.
    final func validateProperties(at moment: ValidationMoment) throws {
        guard let context = _context else { return }
        if moment == .delete { return try StrataError.throwTogether(context.deniedDeletions(of: self)) }
        var errors = try context.boundFailures(of: self)
        // The row of an owner whose members changed is as the store has it.
        if isFault, _flags.contains(.updated), !_entity.validatesValues, !_entity.hasPredicates {
            return try StrataError.throwTogether(errors.map(completing))
        }
        // An object that only was linked may not have been read.
        fireFault()
        // The store reports that the object is gone.
        if _state & ObjectState.inaccessible != 0 { return }
        for check in _entity.checks {
            // Without a hook or a rule, the null bit alone decides.
            if check.hasRules || _entity.validatesValues {
                validateValue(of: check.property, &errors)
            } else if _isNull(check.property.location) {
                errors.append(missing(check.property))
            }
        }
        if _entity.hasPredicates { errors += validateWholeObject(context) }
        if !errors.isEmpty { try StrataError.throwTogether(errors.map(completing)) }
    }

    private final func missing(_ property: PropertyRuntime) -> StrataError {
        StrataError(
            .validationMissingMandatoryProperty, "\(property.name) is required.",
            context: errorContext(property.name, .null))
    }

    /// Runs the hook, which runs the rules; a value that it replaced is written.
    private final func validateValue(of property: PropertyRuntime, _ errors: inout [StrataError]) {
        do {
            guard property.attributeType != nil else {
                if let relationship = property.relationship, _isNull(property.location) {
                    errors += relationship.description.validate(count: 0)
                }
                return
            }
            let before = attributeValue(property)
            // It was checked when it was encrypted, and there is no key here.
            if case .encrypted = before { return }
            // Bytes that only a transformer, a decoder or a file makes a value of are checked as they are stored.
            guard _entity.validatesValues, !property.isEncoded else {
                errors += property.failures(of: before, entityName: _entity.name)
                return
            }
            var value = value(of: property)
            try validateValue(&value, forKey: property.name)
            let after = try boxed(value, for: property)
            if !before.isIdentical(to: after) { try write(after, to: property) }
        } catch let error as StrataError {
            errors += error.code == .validationMultipleErrors ? error.details : [error]
        } catch {
            errors.append(
                StrataError(
                    .managedObjectValidation, "\(StrataError.name(of: error)): \(property.name) is not valid.",
                    context: errorContext(property.name), cause: error))
        }
    }

    /// The predicates of the entity and of its parents.
    private final func validateWholeObject(_ context: ManagedObjectContext) -> [StrataError] {
        context.binding.schema.validationPredicates(of: _entity.schema)
            .failures(of: objectID, entityName: _entity.name, in: ObjectExpressions(self))
    }

    /// The rules of the model for one value.
    final func validateAgainstModel(_ value: inout Any?, forKey key: String) throws {
        guard let property = _entity.property(named: key) else { throw unknownKey(key) }
        guard let attribute = property.attribute, !attribute.isTransient else { return }
        let boxed = try boxed(value, for: property)
        let errors = attribute.validate(boxed, entityName: _entity.name)
        try StrataError.throwTogether(errors.map(completing))
    }

    /// The error with what it does not say yet: the object, its entity and its values.
    final func completing(_ error: StrataError) -> StrataError {
        guard error.context.objectValues == nil else { return error }
        var error = error
        error.context.entityName = error.context.entityName ?? _entity.name
        error.context.objectID = error.context.objectID ?? objectID
        error.context.objectValues = objectValues
        return error
    }

    /// Entity, object and values, for an error.
    final func fullErrorContext(_ key: String? = nil) -> StrataError.Context {
        var context = errorContext(key)
        context.objectValues = objectValues
        return context
    }

    /// Every attribute and to-one in the row, by name.
    final var objectValues: [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for property in _entity.properties where property.isInRow && property.index < _entity.declaredCount {
            values[property.name] = attributeValue(property)
        }
        return values
    }
}
