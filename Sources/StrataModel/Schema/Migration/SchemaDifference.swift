/// What changes when a store goes from one model to the next, and what each change costs.
///
/// Properties and entities are compared by their numbers, so a rename is a rename. A change that needs no look at the
/// rows takes the same time for ten and for ten million of them.
package struct SchemaDifference: Sendable {
    /// One change.
    package struct Change: Sendable, Hashable {
        package let kind: MigrationPlan.Kind
        package let work: MigrationPlan.Work
        /// The entity's name in the new model; for what is removed, in the old one.
        package let entityName: String
        /// The property's or index's name, likewise.
        package let key: String?
        /// The change in words, as a whole sentence.
        package let sentence: String
        /// Entities whose existing rows it concerns. When none of them has ever had an object it costs nothing.
        package let entityIDs: [EntityID]

        package init(
            kind: MigrationPlan.Kind, work: MigrationPlan.Work, entityName: String, key: String? = nil,
            sentence: String,
            entityIDs: [EntityID] = []
        ) {
            self.kind = kind
            self.work = work
            self.entityName = entityName
            self.key = key
            self.sentence = sentence
            self.entityIDs = entityIDs
        }
    }

    /// In the order of the new model; removals after.
    package let changes: [Change]
    /// Whether rows of some entity are laid out differently, so that a new model version must be told apart by rows.
    package let changesLayouts: Bool

    /// Whether nothing at all changes.
    package var isSame: Bool { changes.isEmpty && !changesLayouts }
    /// What the costliest change asks for.
    package var work: MigrationPlan.Work { changes.map(\.work).max() ?? .none }

    /// Compares what is installed with a schema that was built to follow it.
    package init(from old: Schema, to new: Schema) {
        var comparison = SchemaComparison(old: old, new: new)
        comparison.run()
        changes = comparison.changes
        changesLayouts = comparison.changesLayouts
    }

    /// Compares what is installed with a model, as if it were installed next.
    ///
    /// - Throws: `invalidModel` when the store has no numbers left.
    package init(from installed: Schema, to model: ManagedObjectModel) throws(StrataError) {
        let assignment = try installed.assignment.extended(for: model, from: installed)
        let version = ModelVersion(rawValue: installed.version.rawValue + 1)
        self.init(from: installed, to: try Schema(version: version, model: model, assignment: assignment))
    }
}
