/// Compares two schemas and collects the changes for a `SchemaDifference`.
struct SchemaComparison {
    typealias Kind = MigrationPlan.Kind
    typealias Work = MigrationPlan.Work

    let old: Schema
    let new: Schema
    private(set) var changes: [SchemaDifference.Change] = []
    private(set) var changesLayouts = false

    init(old: Schema, new: Schema) {
        self.old = old
        self.new = new
    }

    mutating func run() {
        for entity in new.entities {
            guard let before = old.entity(entity.id) else {
                addArrival(of: entity)
                continue
            }
            compare(before, entity)
            compareProperties(before, entity)
            compareIndexes(before, entity)
            if Self.hasOtherLayout(before.layout, entity.layout) { changesLayouts = true }
        }
        for entity in old.entities where new.entity(entity.id) == nil {
            changes.append(
                SchemaDifference.Change(
                    kind: .entityRemoved, work: .none, entityName: entity.name,
                    sentence: "\(entity.name) is removed.", removed: .init(entity: entity.id, property: nil)))
        }
    }

    /// Adds a change in the new model that concerns the rows of an entity and its subentities.
    mutating func add(
        _ kind: Kind, _ work: Work, _ entity: EntitySchema, _ key: String?, _ sentence: String,
        removed: PropertyID? = nil
    ) {
        let rows = old.entity(entity.id)?.concreteEntityIDs ?? []
        changes.append(
            SchemaDifference.Change(
                kind: kind, work: work, entityName: entity.name, key: key, sentence: sentence,
                entityIDs: work == .none ? [] : rows,
                removed: removed.map { .init(entity: entity.id, property: $0) }))
    }

    // MARK: Entities

    private mutating func addArrival(of entity: EntitySchema) {
        let isBack = old.assignment.wasGiven(entity.id)
        changes.append(
            SchemaDifference.Change(
                kind: .entityAdded, work: isBack ? .rewrite : .none, entityName: entity.name,
                sentence: isBack ? "\(entity.name) is back, with its objects." : "\(entity.name) is new.",
                entityIDs: isBack ? [entity.id] : []))
    }

    private mutating func compare(_ before: EntitySchema, _ after: EntitySchema) {
        let name = after.name
        if before.name != name {
            add(.entityRenamed, .none, after, nil, "\(before.name) is now called \(name).")
        }
        if before.superentityID != after.superentityID { compareParents(before, after) }
        if before.isAbstract != after.isAbstract {
            if after.isAbstract {
                add(
                    .entityAbstractness, .scan, after, nil,
                    "\(name) is now abstract, so it may have no objects of its own.")
            } else {
                add(.entityAbstractness, .none, after, nil, "\(name) is no longer abstract.")
            }
        }
        compareRules(
            before.description.validationPredicates.map(ValidationRule.predicate),
            after.description.validationPredicates.map(ValidationRule.predicate), after, nil)
        let old = before.description, new = after.description
        if old.managedObjectClassName != new.managedObjectClassName || old.userInfo != new.userInfo
            || old.versionHashModifier != new.versionHashModifier || old.editorInfo != new.editorInfo
            || old.name == new.name && old.renamingIdentifier != new.renamingIdentifier
        {
            add(.metadata, .none, after, nil, "\(name) has another class name, hash modifier or user info.")
        }
    }

    /// Adds the change of an entity's parent. Relationships to its former ancestors may still lead to its objects.
    private mutating func compareParents(_ before: EntitySchema, _ after: EntitySchema) {
        let parent = after.description.superentityName.map { "is now below \($0)" } ?? "no longer has a parent"
        let left = ancestors(of: before, in: old).subtracting(ancestors(of: after, in: new))
        let isHeldAsSuch = new.entities.contains { entity in
            entity.properties.contains { $0.relationship.map { left.contains($0.destination) } ?? false }
        }
        if isHeldAsSuch {
            add(
                .entityMoved, .scan, after, nil,
                "\(after.name) \(parent); relationships that lead to its former ancestors may hold it.")
        } else {
            add(.entityMoved, .none, after, nil, "\(after.name) \(parent).")
        }
    }

    private func ancestors(of entity: EntitySchema, in schema: Schema) -> Set<EntityID> {
        var ancestors: Set<EntityID> = []
        var next = entity.superentityID
        while let id = next, ancestors.insert(id).inserted { next = schema.entity(id)?.superentityID }
        return ancestors
    }

    private static func hasOtherLayout(_ before: RowLayout, _ after: RowLayout) -> Bool {
        guard before.slots.count == after.slots.count, before.fixedSize == after.fixedSize else { return true }
        return zip(before.slots, after.slots).contains {
            $0.propertyID != $1.propertyID || $0.storage != $1.storage || $0.offset != $1.offset
                || $0.allowsExternalStorage != $1.allowsExternalStorage
        }
    }

    // MARK: Indexes

    private mutating func compareIndexes(_ before: EntitySchema, _ after: EntitySchema) {
        let earlier = before.indexes.filter { $0.entityID == before.id }
        let later = after.indexes.filter { $0.entityID == after.id }
        for index in later {
            if let same = earlier.first(where: { $0.id == index.id }) {
                if same.name != index.name {
                    add(
                        .indexRenamed, .none, after, index.name,
                        "The \(same.title) of \(after.name) is now the \(index.title).")
                }
            } else if earlier.contains(where: { $0.name == index.name }) {
                add(.indexAdded, .build, after, index.name, "The \(index.title) of \(after.name) has other entries.")
            } else {
                add(.indexAdded, .build, after, index.name, "\(after.name) has a new \(index.title).")
            }
        }
        for index in earlier where !later.contains(where: { $0.id == index.id || $0.name == index.name }) {
            add(.indexRemoved, .none, after, index.name, "\(after.name) no longer has the \(index.title).")
        }
    }
}

extension IndexSchema {
    fileprivate var title: String {
        isUnique
            ? "uniqueness constraint over \(name.dropFirst(IndexDefinition.uniquePrefix.count))"
            : "index \(name)"
    }
}
