import StrataModel

// What returns: attributes to the rows of an entity, and the links of entities, of their own objects and of objects that
// led to them.

extension EntityMigration {
    /// An attribute from which another was converted.
    struct Origin {
        let values: PastValues
        /// As the models described the attribute, oldest first: its type may have become wider under the same number.
        let forms: [AttributeDescription]

        func canBeRead(as attribute: AttributeDescription) -> Bool { forms.contains { $0.canBeRead(as: attribute) } }
    }

    /// Gives a step that converts an attribute the forms that it had, and the attributes from which it was converted, newest
    /// first, down to the oldest of the type that the attribute gets again.
    static func findOrigins(
        of step: inout PropertyStep, _ old: EntitySchema, _ links: OldLinks, _ histories: SchemaHistory
    ) throws {
        guard let attribute = step.property?.attribute else { return }
        var number: PropertyID
        switch step.kind {
        case .convert(let slot, _): number = old.properties[slot].id
        case .takeBack(let past, _): number = past.property
        default: return
        }
        let models = try histories.schemas(histories.versions.filter { $0 <= links.old.version })
        func forms(of number: PropertyID) -> [AttributeDescription] {
            models.compactMap { $0.entity(old.id)?.property(number)?.attribute }
        }
        step.forms = forms(of: number)
        while let first = models.first(where: { $0.entity(old.id)?.property(number) != nil }),
            let past = try PastValues(
                first.assignment.formers(of: number, in: old.id), of: old.id, before: first.version, in: links.new,
                histories)
        {
            number = past.property
            step.origins.append(Origin(values: past, forms: forms(of: number)))
        }
        let last = step.origins.lastIndex { $0.canBeRead(as: attribute) }
        step.origins.removeSubrange((last.map { $0 + 1 } ?? 0)...)
    }

    /// The value that an attribute had before it was converted to the type that it leaves again. Nil if it has been
    /// changed since.
    ///
    /// A conversion can lose something: the text `a b` becomes the URI `a%20b`. A value counts as changed if it is not what
    /// the conversions make of the former one, no matter what was saved in between. The elements of a composite count each
    /// by itself, so those that were hidden return. If it was changed between two conversions, the value of then counts.
    func original(
        of value: AttributeValue, _ from: AttributeDescription, _ step: PropertyStep, _ id: ObjectID,
        _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> AttributeValue? {
        guard let attribute = step.property?.attribute, !value.isNull else { return nil }
        for last in step.origins.indices.reversed() where step.origins[last].canBeRead(as: attribute) {
            let original = try original(of: value, from, attribute, step, through: last, id, row, snapshot)
            if let original { return original }
        }
        return nil
    }

    private func original(
        of value: AttributeValue, _ from: AttributeDescription, _ attribute: AttributeDescription, _ step: PropertyStep,
        through last: Int, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> AttributeValue? {
        let past = step.origins[last]
        guard var type = past.values.attribute, let original = try lastValue(past.values, of: id, row, snapshot),
            // A row of before the type became wider has the narrower one.
            var made = try convert(original, type, type)
        else { return nil }
        for between in step.origins[..<last].reversed() {
            guard let next = between.values.attribute, let converted = try filled(made, type, between.forms),
                let kept = try lastValue(between.values, of: id, row, snapshot),
                try convert(kept, next, next)?.isIdentical(to: converted) ?? false
            else { return nil }
            (made, type) = (converted, next)
        }
        guard let converted = try filled(made, type, step.forms) else { return nil }
        let result = try past.values.attribute.flatMap { try convert(original, $0, attribute) }
        return converted.isIdentical(to: value)
            ? result : value.merged(from: from, unlessAs: converted, with: result, to: attribute)
    }

    private func lastValue(
        _ values: PastValues, of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> AttributeValue? {
        guard let attribute = values.attribute, let last = try links.lastValue(values, of: id, row, snapshot) else {
            return nil
        }
        return try decrypted(last, attribute, values.property, id)
    }

    /// What migrations make of a value by one form of an attribute after another: required attributes get their default
    /// instead of nil.
    private func filled(
        _ value: AttributeValue, _ from: AttributeDescription, _ forms: [AttributeDescription]
    ) throws -> AttributeValue? {
        var (value, from) = (value, from)
        for to in forms {
            guard let converted = try convert(value, from, to) else { return nil }
            value = converted.isNull && !to.isOptional ? to.defaultValue ?? .null : converted
            from = to
        }
        return value
    }

    func convert(
        _ value: AttributeValue, _ from: AttributeDescription, _ to: AttributeDescription
    ) throws -> AttributeValue? {
        guard case .blob(let reference) = value, !to.allowsExternalBinaryDataStorage else {
            return value.converted(from: from, to: to)
        }
        return AttributeValue.data(try blobs.read(reference)).converted(from: from, to: to)
    }

    /// Whether a row gets an attribute with a converted value, or a to-one, that it may have had under an earlier model.
    /// Then an event says the value even if the row shows it already, because the object's chain ends in an older value.
    func regains(_ step: PropertyStep, _ row: SnapshotRow) -> Bool {
        switch step.kind {
        case .convert, .begin, .point: break
        default: return false
        }
        guard let property = step.property else { return false }
        return property.id.rawValue < links.old.assignment.nextProperty
            && row.layout.slotNumber(property.slot, of: entity) == nil
    }

    /// Gives a to-one its target back, if it is nil only because the entity of the target was removed.
    func regain(
        _ step: PropertyStep, _ slot: Int, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ changes: inout [PropertyChange], through last: EventNumber = EventNumber(rawValue: .max)
    ) throws {
        guard let property = step.property, let kept = links.regained.toOne(property.id, of: id), kept.event <= last,
            let destination = property.relationship?.destination,
            links.new.entity(destination)?.entityIDs.contains(kept.target.entityID) ?? false,
            try snapshot.value(slot, of: row, row.reader, old).isNull, changes.leaveEmpty(property),
            try links.isThere(kept.target, snapshot), try isUnchanged(property, since: kept, id, row),
            try leadsBack(property, from: kept.target, to: id, snapshot)
        else { return }
        // An event names a property once.
        let made = changes.firstIndex { $0.property == property.id }
        let before = made.map { changes.remove(at: $0).before } ?? .value(.null)
        changes.append(PropertyChange(property: property.id, before: before, after: .value(.objectID(kept.target))))
    }

    /// Gives a to-one of an entity that returns the target that it had under its former number, and its position there.
    ///
    /// A target that is gone, leads to another object or is of another entity than the to-one leads to now stays hidden.
    func renew(
        _ step: PropertyStep, _ earlier: PropertySchema, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ changes: inout [PropertyChange]
    ) throws {
        guard let property = step.property, let relationship = property.relationship else { return }
        let reader = try row.reader
        let allowed = links.new.entity(relationship.destination)?.entityIDs ?? []
        let after = try snapshot.value(earlier.slot, of: row, reader, old)
        guard let target = after.target, allowed.contains(target.entityID), try links.isThere(target, snapshot),
            try leadsBack(property, from: target, to: id, snapshot)
        else { return }
        let shown = try shown(property, row, reader)
        changes.append(PropertyChange(property: property.id, before: .value(shown), after: .value(after)))
        guard let position = relationship.position.flatMap({ entity.property($0) }),
            let slot = earlier.relationship?.position.flatMap({ old.slot(of: $0) })
        else { return }
        let (held, place) = (
            try snapshot.value(slot, of: row, reader, old), try self.shown(position, row, reader)
        )
        guard !held.isNull, !held.isIdentical(to: place) else { return }
        changes.append(PropertyChange(property: position.id, before: .value(place), after: .value(held)))
    }

    /// Gives an object its former place among the members of a to-many that is ordered again.
    func reorder(
        _ step: PropertyStep, _ past: PastValues, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ changes: inout [PropertyChange]
    ) throws {
        guard let property = step.property, let value = try links.lastValue(past, of: id, row, snapshot),
            !value.isNull
        else { return }
        let shown = try shown(property, row, row.reader)
        guard !value.isIdentical(to: shown) else { return }
        changes.append(PropertyChange(property: property.id, before: .value(shown), after: .value(value)))
    }

    /// Whether no later event than the removal of the target's entity has changed a to-one.
    private func isUnchanged(
        _ property: PropertySchema, since kept: RegainedLinks.ToOne, _ id: ObjectID, _ row: SnapshotRow
    ) throws -> Bool {
        var isUnchanged = false
        try log.chain(from: row.revision, of: id) { event, eventNumber in
            if eventNumber <= kept.event || event.header.kind != .updated {
                isUnchanged = eventNumber == kept.event
                return false
            }
            return try !event.changes().contains { $0.property == property.id || $0.property == kept.former }
        }
        return isUnchanged
    }

    /// Makes a to-one of an object that returns nil, if its target was deleted meanwhile or leads to another object.
    func revive(
        _ step: PropertyStep, _ slot: Int, _ id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot,
        _ changes: inout [PropertyChange], _ failures: inout MigrationFailures
    ) throws {
        guard let property = step.property, changes.made(property) == nil else { return }
        let value = try snapshot.value(slot, of: row, row.reader, old)
        guard let target = value.target else { return }
        if try links.isThere(target, snapshot), try leadsBack(property, from: target, to: id, snapshot) { return }
        try checkTargets(step, id, [], &failures)
        changes.append(PropertyChange(property: property.id, before: .value(value), after: .value(.null)))
    }

    /// Whether the other end of a one-to-one leads to an object, or will again; true for other to-ones.
    private func leadsBack(
        _ property: PropertySchema, from target: ObjectID, to id: ObjectID, _ snapshot: Snapshot
    ) throws -> Bool {
        guard let relationship = property.relationship, let inverse = relationship.inverse,
            !relationship.isInverseToMany
        else { return true }
        let schema = links.returned[target.entityID] ?? links.old
        guard let row = try links.row(target, snapshot), let entity = schema.entity(target.entityID) else {
            return false
        }
        var numbers = [inverse]
        numbers += links.new.property(inverse).flatMap(links.number(before:)).map { [$0] } ?? []
        numbers += try links.renewed(inverse, in: entity, log.histories).map { [$0.id] } ?? []
        for number in numbers {
            if let back = try row.reference(number, of: schema, target) { return back == id }
        }
        for number in [inverse] + (links.new.assignment.replaced[inverse] ?? []) {
            guard let values = links.returning[number]?.values,
                case .objectID(let back)? = try links.lastValue(values, of: target, row, snapshot)
            else { continue }
            return back == id
        }
        return links.regained.toOne(inverse, of: target)?.target == id
    }
}

extension [PropertyChange] {
    /// The last value that the changes give a property; nil if they do not change it.
    func made(_ property: PropertySchema) -> RecordedValue? { last { $0.property == property.id }?.after }

    /// Whether they give a to-one no object.
    func leaveEmpty(_ property: PropertySchema) -> Bool {
        if case .value(.objectID)? = made(property) { false } else { true }
    }
}

extension AttributeValue {
    /// A composite with the elements of another in place of those that are as a conversion had made them. Nil for other
    /// values, and if an element cannot be converted.
    fileprivate func merged(
        from: AttributeDescription, unlessAs made: AttributeValue, with original: AttributeValue?,
        to attribute: AttributeDescription
    ) -> AttributeValue? {
        guard attribute.type == .composite, case .composite(let now) = self, case .composite(let made) = made,
            case .composite(let original)? = original
        else { return nil }
        var elements: [String: AttributeValue] = [:]
        for element in attribute.elements {
            let value = now[element.name] ?? .null
            if value.isIdentical(to: made[element.name] ?? .null) {
                elements[element.name] = original[element.name]
                continue
            }
            guard let earlier = from.elements.first(where: { $0.name == element.name }),
                let converted = value.converted(from: earlier, to: element),
                !converted.isNull || element.isOptional
            else { return nil }
            if !converted.isNull { elements[element.name] = converted }
        }
        return .composite(elements)
    }
}
