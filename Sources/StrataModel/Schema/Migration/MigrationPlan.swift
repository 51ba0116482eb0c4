/// What it takes to bring a store to another model, known before anything is written.
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
        public let kind: Kind
        public let work: Work
        /// The entity's name in the new model; for what is removed, in the old one.
        public let entityName: String
        /// The property's or index's name, likewise; nil for the entity itself.
        public let key: String?
        /// The change as a sentence.
        public let sentence: String
        /// Objects that must be scanned or rewritten for it; 0 for a change that needs none.
        public let objectCount: Int

        /// Whether it takes the same time for ten objects and ten million.
        public var isConstantTime: Bool { work == .none || objectCount == 0 }
    }

    /// What a change asks of the objects there are, from least to most.
    public enum Work: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Nothing: older rows are read through the newer model.
        case none
        /// An index is filled.
        case build
        /// Every object is looked at, because one of them may not be allowed any more.
        case scan
        /// Values or links are written anew.
        case rewrite

        public static func < (left: Work, right: Work) -> Bool { left.rawValue < right.rawValue }
    }

    /// What kind of thing changes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case entityAdded, entityRemoved, entityRenamed, entityMoved, entityAbstractness
        case propertyAdded, propertyRemoved, propertyRenamed, propertyMoved, propertyInherited
        case type, optionality, defaultValue, derivation, rules, elements
        case destination, inverse, cardinality, order
        case indexAdded, indexRemoved, indexRenamed
        /// Class names, delete rules, transformers, user info: what no object depends on.
        case metadata
    }

    /// In the order of the new model, removals last; none when the store has the model already.
    public let steps: [Step]

    /// Whether no object must be looked at.
    public var isConstantTime: Bool { steps.allSatisfy(\.isConstantTime) }
    /// Scans and rewrites of single objects, over all steps: a measure of the time it takes.
    public var objectCount: Int { steps.reduce(0) { $0 + $1.objectCount } }
    /// Whether nothing changes.
    public var isEmpty: Bool { steps.isEmpty }

    package init(steps: [Step]) { self.steps = steps }

    /// - Parameter count: how many objects of exactly this entity there are.
    package init(_ difference: SchemaDifference, count: (EntityID) throws -> Int) rethrows {
        steps = try difference.changes.map { change in
            Step(
                kind: change.kind, work: change.work, entityName: change.entityName, key: change.key,
                sentence: change.sentence,
                objectCount: change.work == .none ? 0 : try change.entityIDs.reduce(0) { $0 + (try count($1)) })
        }
    }
}

extension MigrationPlan.Step: CustomStringConvertible {
    /// The sentence and the number of objects.
    public var description: String {
        isConstantTime ? sentence : "\(sentence) (\(work), \(objectCount) objects)"
    }
}
