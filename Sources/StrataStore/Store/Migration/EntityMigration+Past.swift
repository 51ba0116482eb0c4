import StrataModel

// Converts an object of a past state as a migration would: its values and links. Rules of the model are not
// checked, and nothing that the object lacked is supplied.

extension EntityMigration {
    /// Only the steps that make values and links of former ones.
    ///
    /// - Parameter model: to-ones go on leading to objects of its entities.
    func converting(keepingLinksTo model: Schema) -> EntityMigration {
        var copy = self
        copy.steps = steps.compactMap { step in
            switch step.kind {
            case .convert, .takeBack, .begin, .point, .adopt, .regain, .revive, .renew, .reorder, .restore: return step
            case .release(let slot, let entities):
                let lost = entities.filter { links.new.entity($0) != nil || model.entity($0) == nil }
                if lost.isEmpty { return nil }
                return PropertyStep(kind: .release(slot: slot, lost), property: step.property, value: step.value)
            case .supply:
                let formers = step.property.map { links.new.assignment.formers(of: $0.id, in: entity.id) } ?? []
                return formers.isEmpty ? nil : step
            default: return nil
            }
        }
        return copy
    }

    /// Whether a value is converted without a rule of the app's.
    var convertsByType: Bool {
        steps.contains { if case .convert = $0.kind { !$0.isComputed } else { false } }
    }

    /// The converted values and links of an object.
    ///
    /// - Parameters:
    ///   - recorded: nil if every conversion has a rule.
    ///   - guesses: notes values that `recorded` does not have.
    ///   - misfits: gets the properties whose values cannot be shown.
    func pastChanges(
        of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot, at eventNumber: EventNumber,
        _ recorded: RecordedConversions?, _ guesses: inout ConversionGuesses, _ misfits: inout [PropertyMisfit]
    ) throws -> [PropertyChange] {
        let reader = try row.reader
        let object = asksValues ? try migratedObject(id, row, reader, snapshot) : nil
        var changes: [PropertyChange] = []
        for step in steps {
            guard let property = step.property else { continue }
            switch step.kind {
            case .point(let storages, let back):
                try pastLink(property, &changes, &misfits) {
                    try point(step, storages, back, id, row, snapshot, &$0, &$1)
                }
            case .release(let slot, let entities): try release(step, slot, entities, row, snapshot, &changes)
            case .adopt(let adoptions):
                try pastLink(property, &changes, &misfits) { try adopt(step, adoptions, id, row, snapshot, &$0, &$1) }
            case .regain(let slot):
                try regain(step, slot, id, row, snapshot, &changes, through: eventNumber)
            case .reorder(let past): try reorder(step, past, id, row, snapshot, &changes)
            case .restore(let hidden): try restore(step, hidden, id, row, snapshot, &changes)
            case .renew(let earlier): try renew(step, earlier, id, row, snapshot, &changes)
            case .revive(let slot):
                var failures = MigrationFailures()
                try revive(step, slot, id, row, snapshot, &changes, &failures)
            default: break
            }
            guard let attribute = property.attribute else { continue }
            var value: AttributeValue?
            switch step.kind {
            case .convert(let slot, let from):
                let stored = try snapshot.value(slot, of: row, reader, old)
                if step.isComputed, let make = step.value?.make, let object {
                    var failures = MigrationFailures()
                    value = ask(make, object, property.name, entity, &failures)
                } else {
                    value = try converted(stored, from, slot, step, id, row, snapshot, recorded, &guesses)
                }
            case .takeBack(let past, let from):
                let last = try links.lastValue(past, of: id, row, snapshot)
                let plain = try last.map { try decrypted($0, from, past.property, id) }
                value =
                    try plain.map {
                        try original(of: $0, from, step, id, row, snapshot) ?? convert($0, from, attribute)
                    } ?? .some(.null)
            case .begin: value = links.new.assignment.bornDefaults[property.id] ?? .null
            default: value = .null
            }
            if value?.isNull ?? false, let constant = attribute.defaultValue, step.takesDefault || !attribute.isOptional
            {
                value = constant
            }
            guard let value, value.isNull || value.isEncrypted || value.fits(attribute) else {
                let sentence = "\(property.name) had a value that cannot be made \(attribute.type.nameWithArticle)."
                misfits.append(PropertyMisfit(property: property.id, sentence: sentence))
                continue
            }
            let shown = try shown(property, row, reader)
            if try value.isIdentical(to: value.isEncrypted ? shown : decrypted(shown, attribute, property.id, id)) {
                continue
            }
            changes.append(
                PropertyChange(
                    property: property.id, before: .value(shown), after: .value(try encrypted(value, property, id))))
        }
        return changes
    }

    /// Nil for a value that cannot be converted.
    private func converted(
        _ stored: AttributeValue, _ from: AttributeDescription, _ slot: Int, _ step: PropertyStep, _ id: ObjectID,
        _ row: SnapshotRow, _ snapshot: Snapshot, _ recorded: RecordedConversions?, _ guesses: inout ConversionGuesses
    ) throws -> AttributeValue? {
        guard let property = step.property, let attribute = property.attribute, !stored.isNull else {
            return step.value?.constant ?? .null
        }
        let plain = try decrypted(stored, from, old.properties[slot].id, id)
        let byType =
            try original(of: plain, from, step, id, row, snapshot) ?? convert(plain, from, attribute)
            ?? step.value?.constant
        guard let made = try recorded?.value(of: property, id, from: slot, stored) else {
            if byType != nil { guesses.note(id, property.id) }
            return byType
        }
        let shown = keys.shown(made, of: property.id, in: id)
        // A value that the types cannot convert tells nothing about those that they can.
        if let byType, !byType.isIdentical(to: shown) { guesses.noteWrong(property) }
        return made
    }

    private func pastLink(
        _ property: PropertySchema, _ changes: inout [PropertyChange], _ misfits: inout [PropertyMisfit],
        _ link: (inout [PropertyChange], inout MigrationFailures) throws -> Void
    ) throws {
        var failures = MigrationFailures()
        var linked = changes
        try link(&linked, &failures)
        let codes = failures.details.map(\.code).filter { $0 != .validationMissingMandatoryProperty }
        if let code = codes.first {
            let sentence =
                code == .validationRelationshipExceedsMaximumCount
                ? "\(property.name) led to several objects, and leads to one only now."
                : "\(property.name) led to an object that it can no longer lead to."
            misfits.append(PropertyMisfit(property: property.id, sentence: sentence))
            return
        }
        // Objects of an entity that the model no longer has are not shown.
        if case .value(.objectID(let target))? = linked.last(where: { $0.property == property.id })?.after,
            links.new.entity(target.entityID) == nil
        {
            return
        }
        changes = linked
    }
}

extension AttributeValue {
    fileprivate var isEncrypted: Bool { if case .encrypted = self { true } else { false } }
}
