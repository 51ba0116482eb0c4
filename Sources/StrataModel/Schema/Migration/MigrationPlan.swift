/// The steps that migrate a store to another model, and their cost, known before anything is written.
///
/// ```swift
/// let plan = try container.migrationPlan()
/// if !plan.isConstantTime {
///     print("\(plan.objectCount) objects must be looked at:")
///     for step in plan.steps where !step.isConstantTime { print(step) }
/// }
/// ```
public struct MigrationPlan: Sendable, Hashable {
    /// One change of the model.
    public struct Step: Sendable, Hashable {
        /// The kind of the change.
        public let kind: Kind
        /// The work that the change takes for each object.
        public let work: Work
        /// The entity's name in the new model, or in the old one if the change is a removal.
        public let entityName: String
        /// The name of the property, index or view, in the same model; nil for the entity itself.
        public let key: String?
        /// The change as a sentence.
        public let sentence: String
        /// The number of objects that the change must read or rewrite.
        public let objectCount: Int
        /// The number of values, links or objects of the store that a removal hides. They stay in the log, and return
        /// with the property.
        public let hiddenValueCount: Int

        /// Whether the change takes the same time for any number of objects.
        public var isConstantTime: Bool { work == .none || objectCount == 0 }
    }

    /// The work that a change takes for each existing object, from least to most.
    public enum Work: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// None: older rows are read through the newer model.
        case none
        /// The object is entered in an index.
        case build
        /// The object is checked, because it may be invalid under the new model.
        case scan
        /// The object's values or links are rewritten.
        case rewrite

        /// Whether the left one is less work.
        public static func < (left: Work, right: Work) -> Bool { left.rawValue < right.rawValue }
    }

    /// The part of the model that changes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A new entity.
        case entityAdded
        /// An entity is removed, with its objects.
        case entityRemoved
        /// An entity has another name.
        case entityRenamed
        /// An entity has another superentity.
        case entityMoved
        /// An entity becomes abstract, or ceases to be.
        case entityAbstractness
        /// A new property.
        case propertyAdded
        /// A property is removed.
        case propertyRemoved
        /// A property has another name.
        case propertyRenamed
        /// A property is declared by another entity of the hierarchy.
        case propertyMoved
        /// An entity inherits another property.
        case propertyInherited
        /// An attribute has another type.
        case type
        /// An attribute becomes encrypted, or ceases to be.
        case encryption
        /// A property becomes optional or required.
        case optionality
        /// An attribute has another default.
        case defaultValue
        /// An attribute has another derivation.
        case derivation
        /// Other validation rules.
        case rules
        /// A composite has other elements.
        case elements
        /// A relationship has another destination.
        case destination
        /// A relationship has another inverse.
        case inverse
        /// A to-one becomes a to-many, or the reverse.
        case cardinality
        /// A to-many becomes ordered or unordered.
        case order
        /// A new index.
        case indexAdded
        /// An index is removed.
        case indexRemoved
        /// An index has another name.
        case indexRenamed
        /// A view that the store keeps, and not the app, is written with the new names of its properties.
        case viewRenamed
        /// A view that the store keeps, and not the app, is dropped, because the model no longer has its properties.
        case viewRemoved
        /// Class names, delete rules, transformers and user info, on which no object depends.
        case metadata
    }

    /// The steps in the order of the new model, removals last. Empty if the store already has the model.
    public let steps: [Step]
    /// Whether the store had the model before, and has moved on to a newer one since.
    public let isDowngrade: Bool

    /// Whether the migration takes the same time for any number of objects.
    public var isConstantTime: Bool { steps.allSatisfy(\.isConstantTime) }
    /// The sum of the objects that the steps must read or rewrite, as a measure of the time.
    public var objectCount: Int { steps.reduce(0) { $0 + $1.objectCount } }
    /// Whether the store already has the model.
    public var isEmpty: Bool { steps.isEmpty }

    /// A short line about the migration: `12 changes, work on 3000 objects, 5 values hidden`.
    package var summary: String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        var parts = [count(steps.count, "change")]
        if !isConstantTime { parts.append("work on \(count(objectCount, "object"))") }
        let hidden = steps.reduce(0) { $0 + $1.hiddenValueCount }
        if hidden > 0 { parts.append("\(count(hidden, "value")) hidden") }
        return parts.joined(separator: ", ")
    }

    /// A plan without steps, for a store that has the model.
    package static let empty = MigrationPlan(steps: [], isDowngrade: false)

    private init(steps: [Step], isDowngrade: Bool) {
        self.steps = steps
        self.isDowngrade = isDowngrade
    }

    /// The plan for a difference of two schemas.
    ///
    /// - Parameters:
    ///   - count: returns the number of objects of an entity, without its subentities.
    ///   - hidden: returns the number of values that a removal hides.
    ///   - views: the changes of the views that the store keeps.
    package init(
        _ difference: SchemaDifference, views: [SchemaDifference.Change], isDowngrade: Bool,
        count: (EntityID) throws -> Int,
        hidden: (SchemaDifference.Change) throws -> Int
    ) rethrows {
        self.isDowngrade = isDowngrade
        steps = try (difference.changes + views).map { change in
            Step(
                kind: change.kind, work: change.work, entityName: change.entityName, key: change.key,
                sentence: change.sentence,
                objectCount: change.work == .none ? 0 : try change.entityIDs.reduce(0) { $0 + (try count($1)) },
                hiddenValueCount: change.removed == nil ? 0 : try hidden(change))
        }
    }
}

extension MigrationPlan: CustomStringConvertible {
    /// A line for each step.
    public var description: String { steps.map(\.description).joined(separator: "\n") }
}

extension MigrationPlan.Step: CustomStringConvertible {
    /// The sentence, with the work and the number of objects if it is not constant-time, and with the number of values
    /// that a removal hides.
    public var description: String {
        var notes: [String] = []
        if !isConstantTime { notes.append("\(work), \(CountText.of(objectCount, "object"))") }
        if hiddenValueCount > 0 {
            let (one, several) = key == nil ? ("object", "objects") : ("value", "values")
            notes.append("hides \(hiddenValueCount) \(hiddenValueCount == 1 ? one : several)")
        }
        return notes.isEmpty ? sentence : "\(sentence) (\(notes.joined(separator: "; ")))"
    }
}
