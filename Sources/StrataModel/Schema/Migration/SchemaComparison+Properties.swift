// Compares the properties of entities: attributes, relationships and validation rules.

extension SchemaComparison {
    /// Adds the changes of an entity's properties.
    mutating func compareProperties(_ before: EntitySchema, _ after: EntitySchema) {
        for property in after.properties where !property.isHidden {
            let isOwn = after.description.properties.contains { $0.name == property.name }
            guard let earlier = predecessor(of: property, in: before) else {
                addArrival(of: property, in: after, isOwn: isOwn)
                continue
            }
            let wasOwn = before.description.properties.contains { $0.name == earlier.name }
            // If the parent's property is new, it is reported for the parent, once for all children.
            let isMoved = isOwn != wasOwn && (isOwn || old.property(property.id) != nil)
            let isOfOtherParent = !isOwn && !wasOwn && before.superentityID != after.superentityID
            if before.property(property.id) == nil, isMoved || isOfOtherParent {
                addTakeover(of: property, in: after)
            }
            // Inherited properties are reported for the entity that declares them.
            guard isOwn else { continue }
            if earlier.name != property.name {
                add(
                    .propertyRenamed, .none, after, property.name,
                    "\(after.name).\(earlier.name) is now called \(property.name).")
            }
            switch (earlier.kind, property.kind) {
            case (.attribute(let old), .attribute(let new)):
                compareStorage(earlier, property, before, after)
                compare(old, new, after)
                compareElements(earlier, property, after)
            case (.relationship(let old), .relationship(let new)): compare(old, new, after)
            default: break
            }
        }
        addRemovals(before, after)
    }

    /// Adds the changes for properties that the entity no longer has.
    private mutating func addRemovals(_ before: EntitySchema, _ after: EntitySchema) {
        let takenOver = Set(after.properties.compactMap { new.former(of: $0.id, in: before)?.id })
        let givingWay = Set(after.properties.compactMap { new.predecessor(ofLinks: $0, in: after, before)?.id })
        for property in before.properties where !property.isHidden && after.property(property.id) == nil {
            if takenOver.contains(property.id) { continue }
            let isOwn = before.description.properties.contains { $0.name == property.name }
            let subject = "\(after.name).\(property.name)"
            if givingWay.contains(property.id) {
                add(
                    .propertyRemoved, .rewrite, after, property.name,
                    "\(subject) gives way to another relationship of that name, which takes over its links.")
                continue
            }
            guard isOwn || before.superentityID != after.superentityID else { continue }
            let sentence = isOwn ? "is removed" : "is no longer inherited"
            add(.propertyRemoved, .none, after, property.name, "\(subject) \(sentence).", removed: property.id)
        }
    }

    /// The earlier property whose values this one has or takes over.
    private func predecessor(of property: PropertySchema, in before: EntitySchema) -> PropertySchema? {
        if let same = before.property(property.id) { return same }
        return new.former(of: property.id, in: before)
    }

    /// Adds the change for a property that the entity did not have: it is new, moved here, or is now inherited.
    private mutating func addArrival(of property: PropertySchema, in entity: EntitySchema, isOwn: Bool) {
        let subject = "\(entity.name).\(property.name)"
        let isNew = old.property(property.id) == nil
        // Inherited additions are reported for the parent, unless the parent is new.
        if !isOwn && old.entity(entity.id)?.superentityID == entity.superentityID { return }
        let kind: Kind = isNew && isOwn ? .propertyAdded : isOwn ? .propertyMoved : .propertyInherited
        if isNew, let replaced = new.assignment.replaced[property.id] {
            guard replaced.allSatisfy({ old.property($0) == nil }) else { return addTakeover(of: property, in: entity) }
            let last = property.attribute == nil ? "links" : "values"
            return add(
                .propertyAdded, .rewrite, entity, property.name,
                "\(subject) is back, with the last \(last) that it had.")
        }
        let arrival = isNew && isOwn ? "is new" : isOwn ? "moved here" : "is now inherited"
        if let expression = property.attribute?.derivationExpression {
            add(kind, .rewrite, entity, property.name, "\(subject) \(arrival) and derived from \(expression).")
        } else if isFilled(property) {
            add(kind, .none, entity, property.name, "\(subject) \(arrival).")
        } else {
            add(
                kind, .scan, entity, property.name,
                "\(subject) \(arrival) and required; objects that exist have no value for it.")
        }
    }

    private mutating func addTakeover(of property: PropertySchema, in entity: EntitySchema) {
        add(
            .propertyMoved, .rewrite, entity, property.name,
            "\(entity.name).\(property.name) takes over the values of its relatives.")
    }

    /// Whether existing objects have a valid value for the property.
    private func isFilled(_ property: PropertySchema) -> Bool {
        switch property.kind {
        case .attribute(let attribute):
            attribute.isOptional || attribute.isTransient || new.assignment.bornDefaults[property.id] != nil
        case .relationship(let relationship):
            relationship.description.mayBeEmpty || relationship.description.isTransient
        case .position: true
        }
    }

    // MARK: Attributes

    private mutating func compareStorage(
        _ earlier: PropertySchema, _ later: PropertySchema, _ before: EntitySchema, _ after: EntitySchema
    ) {
        guard let oldType = earlier.attribute?.type, let newType = later.attribute?.type,
            earlier.storage != nil, later.storage != nil
        else { return }
        if earlier.attribute?.encryption != later.attribute?.encryption {
            return addEncryption(of: later, after, was: oldType == newType ? nil : oldType)
        }
        let from = SlotKind(before.layout.slots[earlier.slot]), to = SlotKind(after.layout.slots[later.slot])
        if from == to && oldType == newType { return }
        let subject = "\(after.name).\(later.name)"
        // An attribute that gets back its former type has another number: its values of then are written.
        let canRead = earlier.id == later.id && oldType.canBeRead(from, as: to, of: newType)
        if oldType == newType {
            let place = to.isExternal ? "may now be stored outside the row" : "must be brought into the row"
            add(.type, canRead ? .none : .rewrite, after, later.name, "\(subject) \(place).")
        } else {
            let change = "\(subject) was \(oldType.nameWithArticle) and is now \(newType.nameWithArticle)"
            let sentence = canRead ? "\(change), which older rows can be read as." : "\(change)."
            add(.type, canRead ? .none : .rewrite, after, later.name, sentence)
        }
    }

    /// - Parameter earlier: the type that the attribute had; nil if it is the same.
    private mutating func addEncryption(
        of property: PropertySchema, _ entity: EntitySchema, was earlier: AttributeType?
    ) {
        guard let attribute = property.attribute else { return }
        let change = attribute.isEncrypted ? "is now encrypted" : "is no longer encrypted"
        let type = earlier.map { ", was \($0.nameWithArticle) and is now \(attribute.type.nameWithArticle)" } ?? ""
        add(
            .encryption, .rewrite, entity, property.name,
            "\(entity.name).\(property.name) \(change)\(type); the migration needs the key.")
    }

    private mutating func compare(_ old: AttributeDescription, _ new: AttributeDescription, _ entity: EntitySchema) {
        let subject = "\(entity.name).\(new.name)"
        compareOptionality(old.isOptional, new.isOptional, entity, new.name)
        // The default of another type is the same if it is converted to the new one.
        let former = old.type == new.type ? old.defaultValue : old.defaultValue?.coerced(to: new.type)
        if former ?? .null != new.defaultValue ?? .null {
            add(
                .defaultValue, .none, entity, new.name,
                "\(subject) has another default, for objects made from now on.")
        }
        compareRules(old.validationRules, new.validationRules, entity, new.name)
        compareDerivation(old.derivationExpression, new.derivationExpression, entity, new.name)
        addMetadata(
            [
                ("transience", old.isTransient != new.isTransient),
                ("transformer", old.valueTransformerName != new.valueTransformerName),
                ("class name", old.attributeValueClassName != new.attributeValueClassName),
                (
                    "way of being kept when its object is deleted",
                    old.preservesValueInHistoryOnDeletion != new.preservesValueInHistoryOnDeletion
                ),
            ], old, new, entity)
    }

    /// Adds a change of what concerns no stored value, and names what differs.
    private mutating func addMetadata(
        _ parts: [(name: String, differs: Bool)], _ old: some DescribedProperty, _ new: some DescribedProperty,
        _ entity: EntitySchema
    ) {
        let common = [
            ("renaming identifier", old.name == new.name && old.renamingIdentifier != new.renamingIdentifier),
            ("hash modifier", old.versionHashModifier != new.versionHashModifier),
            ("user info", old.userInfo != new.userInfo),
            ("entry of the model editor", old.editorInfo != new.editorInfo),
        ]
        let names = (parts + common).filter(\.differs).map(\.name)
        guard let last = names.last else { return }
        let list = names.count > 1 ? "\(names.dropLast().joined(separator: ", ")) and \(last)" : last
        add(.metadata, .none, entity, new.name, "\(entity.name).\(new.name) has another \(list).")
    }

    /// The bytes of a composite name its elements. A missing element reads as nil; any other change requires a rewrite, and
    /// so does an element that returns.
    private mutating func compareElements(
        _ earlier: PropertySchema, _ later: PropertySchema, _ entity: EntitySchema
    ) {
        guard let old = earlier.attribute, let new = later.attribute, new.type == .composite,
            old.elements != new.elements
        else { return }
        let subject = "\(entity.name).\(new.name)"
        if earlier.id == later.id, old.elementsCanBeRead(as: new) {
            add(.elements, .none, entity, new.name, "\(subject) has other elements; older values can be read.")
        } else {
            add(.elements, .rewrite, entity, new.name, "\(subject) has other elements.")
        }
    }

    private mutating func compareDerivation(
        _ old: FetchExpression?, _ new: FetchExpression?, _ entity: EntitySchema, _ key: String
    ) {
        if old == new { return }
        if let new {
            add(.derivation, .rewrite, entity, key, "\(entity.name).\(key) is now derived from \(new).")
        } else {
            add(.derivation, .none, entity, key, "\(entity.name).\(key) is no longer derived, and keeps its values.")
        }
    }

    private mutating func compareOptionality(_ old: Bool, _ new: Bool, _ entity: EntitySchema, _ key: String) {
        if old == new { return }
        if new {
            add(.optionality, .none, entity, key, "\(entity.name).\(key) is now optional.")
        } else {
            add(.optionality, .scan, entity, key, "\(entity.name).\(key) is now required.")
        }
    }

    // MARK: Relationships

    private mutating func compare(_ old: RelationshipSchema, _ new: RelationshipSchema, _ entity: EntitySchema) {
        let (before, after) = (old.description, new.description)
        let subject = "\(entity.name).\(after.name)"
        if before.isOptional != after.isOptional {
            compareOptionality(before.mayBeEmpty, after.mayBeEmpty, entity, after.name)
        }
        if old.isToMany != new.isToMany {
            let sentence = after.isToMany ? "\(subject) is now to-many." : "\(subject) is now to-one."
            add(.cardinality, .rewrite, entity, after.name, sentence)
        } else if before.isOrdered != after.isOrdered {
            let sentence = after.isOrdered ? "\(subject) is now ordered." : "\(subject) is no longer ordered."
            add(.order, .rewrite, entity, after.name, sentence)
        }
        if !isSame(old.inverse, new.inverse) {
            add(.inverse, .rewrite, entity, after.name, "\(subject) has another inverse, so its links are filed anew.")
        } else if !isSame(old.truth, new.truth) && old.isToMany == new.isToMany {
            add(.inverse, .rewrite, entity, after.name, "\(subject) keeps its links elsewhere.")
        }
        compareDestination(old, new, entity)
        compareCounts(before, after, entity)
        addMetadata(
            [
                ("delete rule", before.deleteRule != after.deleteRule),
                ("optionality", before.isOptional != after.isOptional && before.mayBeEmpty == after.mayBeEmpty),
            ], before, after, entity)
    }

    /// Whether two numbers are the same, or the new one replaces the old one.
    private func isSame(_ old: PropertyID?, _ new: PropertyID?) -> Bool {
        guard let old, let new else { return old == new }
        return old == new || self.new.assignment.replaced[new]?.contains(old) ?? false
    }

    private func isSame(_ old: RelationshipSchema.Truth, _ new: RelationshipSchema.Truth) -> Bool {
        if case .pair = old, case .pair = new { return true }
        return old == new
    }

    private mutating func compareDestination(
        _ old: RelationshipSchema, _ new: RelationshipSchema, _ entity: EntitySchema
    ) {
        guard old.destination != new.destination else { return }
        let subject = "\(entity.name).\(new.description.name)"
        let destination = new.description.destinationEntityName
        // All objects that it could lead to must be allowed by the new destination.
        let allowed = Set(self.new.entity(new.destination)?.entityIDs ?? [])
        let before = Set(self.old.entity(old.destination)?.concreteEntityIDs ?? [])
        let remaining = before.filter { self.new.entity($0) != nil }
        if remaining.isSubset(of: allowed) {
            add(.destination, .none, entity, new.description.name, "\(subject) now leads to \(destination).")
        } else {
            add(
                .destination, .scan, entity, new.description.name,
                "\(subject) now leads to \(destination), and may hold objects of other entities.")
        }
    }

    private mutating func compareCounts(
        _ old: RelationshipDescription, _ new: RelationshipDescription, _ entity: EntitySchema
    ) {
        // The counts of a to-one add nothing to its optionality.
        guard new.isToMany, old.isToMany, old.minCount != new.minCount || old.maxCount != new.maxCount else { return }
        let isNarrower = new.minCount > old.minCount || new.mostCount < old.mostCount
        add(
            .rules, isNarrower ? .scan : .none, entity, new.name,
            "\(entity.name).\(new.name) may have \(isNarrower ? "a narrower" : "a wider") range of members.")
    }

    // MARK: Rules

    /// Adds the change of validation rules. A new rule applies to later saves only; a narrowed rule is checked for
    /// existing objects too.
    mutating func compareRules(
        _ old: [ValidationRule], _ new: [ValidationRule], _ entity: EntitySchema, _ key: String?
    ) {
        let removed = old.filter { !new.contains($0) }
        let added = new.filter { !old.contains($0) }
        if removed.isEmpty && added.isEmpty { return }
        let subject = key.map { "\(entity.name).\($0)" } ?? entity.name
        let isNarrower = added.contains { rule in removed.contains { rule.isNarrower(than: $0) } }
        if isNarrower {
            add(.rules, .scan, entity, key, "\(subject) has a narrower rule; objects that exist may break it.")
        } else {
            add(.rules, .none, entity, key, "\(subject) has other rules, for what is saved from now on.")
        }
    }
}

extension PropertySchema {
    var isHidden: Bool {
        if case .position = kind { true } else { false }
    }
}

extension ValidationRule {
    /// Whether this is a rule of the same kind that rejects a value which the other accepts.
    package func isNarrower(than other: ValidationRule) -> Bool {
        switch (self, other) {
        case (.range(let minimum, let maximum), .range(let otherMinimum, let otherMaximum)):
            return Self.isTighter(minimum, otherMinimum, .descending)
                || Self.isTighter(maximum, otherMaximum, .ascending)
        case (.length(let minimum, let maximum), .length(let otherMinimum, let otherMaximum)):
            return (minimum ?? 0) > (otherMinimum ?? 0) || (maximum ?? .max) < (otherMaximum ?? .max)
        case (.pattern, .pattern), (.predicate, .predicate): return true
        default: return false
        }
    }

    private static func isTighter(_ bound: AttributeValue?, _ other: AttributeValue?, _ order: ValueOrder) -> Bool {
        guard let bound else { return false }
        guard let other else { return true }
        return bound.order(to: other) == order
    }
}

/// What the descriptions of attributes and of relationships both have.
private protocol DescribedProperty {
    var name: String { get }
    var renamingIdentifier: String? { get }
    var versionHashModifier: String? { get }
    var userInfo: [String: String] { get }
    var editorInfo: EditorInfo { get }
}

extension AttributeDescription: DescribedProperty {}
extension RelationshipDescription: DescribedProperty {}
