/// The changes between two models of a store, each with its cost.
///
/// Entities and properties are compared by number, so a renamed one is recognised. A change that does not read rows
/// takes the same time for any number of them.
package struct SchemaDifference: Sendable {
    /// One change.
    package struct Change: Sendable, Hashable {
        package let kind: MigrationPlan.Kind
        package let work: MigrationPlan.Work
        /// The entity's name in the new model, or in the old one if the change is a removal.
        package let entityName: String
        /// The name of the property or index, in the same model.
        package let key: String?
        /// The change as a sentence.
        package let sentence: String
        /// The entities whose rows it concerns. If none of them has objects, the change costs nothing.
        package let entityIDs: [EntityID]
        /// The entity or property that the new model no longer has; nil for other changes.
        package let removed: Removed?

        /// An entity, or a property of an entity, by the numbers of the old model.
        package struct Removed: Sendable, Hashable {
            package let entity: EntityID
            package let property: PropertyID?
        }

        package init(
            kind: MigrationPlan.Kind, work: MigrationPlan.Work, entityName: String, key: String? = nil,
            sentence: String,
            entityIDs: [EntityID] = [], removed: Removed? = nil
        ) {
            self.removed = removed
            self.kind = kind
            self.work = work
            self.entityName = entityName
            self.key = key
            self.sentence = sentence
            self.entityIDs = entityIDs
        }
    }

    /// The changes in the order of the new model, removals last.
    package let changes: [Change]
    /// Whether the rows of any entity have a new layout, so that rows of the two models must be distinguished.
    package let changesLayouts: Bool
    /// Whether other views are declared. Installing the model makes them; no object changes.
    package let changesViews: Bool

    /// Whether there are no changes.
    package var isSame: Bool { changes.isEmpty && !changesLayouts && !changesViews }
    /// Whether a store treats the two alike: class names, delete rules and user info may differ.
    package var isMetadataOnly: Bool { changes.allSatisfy { $0.kind == .metadata } }
    /// The work of the costliest change.
    package var work: MigrationPlan.Work { changes.map(\.work).max() ?? .none }

    /// Compares a schema with its successor.
    package init(from old: Schema, to new: Schema) {
        var comparison = SchemaComparison(old: old, new: new)
        comparison.run()
        changes = comparison.changes
        changesLayouts = comparison.changesLayouts
        changesViews = old.model.views != new.model.views || old.assignment.texts != new.assignment.texts
    }

    /// Compares the installed schema with a model that would be installed next.
    ///
    /// - Throws: `invalidModel` if the store has no numbers left.
    package init(from installed: Schema, to model: ManagedObjectModel) throws(StrataError) {
        let assignment = try installed.assignment.extended(for: model, from: installed)
        let version = ModelVersion(rawValue: installed.version.rawValue + 1)
        self.init(from: installed, to: try Schema(version: version, model: model, assignment: assignment))
    }
}
