/// The entities of a store, checked: every name resolves and every inverse agrees.
///
/// ```swift
/// let model = try ManagedObjectModel(entities: [
///     EntityDescription(
///         name: "Movie",
///         properties: [
///             .attribute(AttributeDescription(name: "title", type: .string)),
///             .relationship(RelationshipDescription(name: "owner", destinationEntityName: "Person")),
///         ]),
///     EntityDescription(
///         name: "Person",
///         properties: [
///             .relationship(
///                 RelationshipDescription(
///                     name: "movies", destinationEntityName: "Movie", inverseName: "owner", isToMany: true))
///         ]),
/// ])
/// ```
public final class ManagedObjectModel: Sendable {
    /// As given, with inverses filled in on both sides.
    public let entities: [EntityDescription]
    public let entitiesByName: [String: EntityDescription]
    package let hierarchy: EntityHierarchy
    /// Requests that have names.
    public let fetchRequestTemplates: [String: FetchRequestTemplate]
    public let fetchedProperties: [FetchedPropertyDescription]
    /// Named choices of entities; the one that has all of them is not among them.
    public let configurations: [ModelConfiguration]
    /// What the model's author calls this version.
    public let versionIdentifier: String?
    public let editorInfo: EditorInfo

    /// Checks the entities and fills in the inverses that are named on one side only.
    ///
    /// Names begin with a letter or underscore and go on with letters, digits and underscores. Properties may not
    /// have the names of an object's own members (`objectID`, `entity`, `isDeleted`, `hasChanges`, `description`,
    /// `hash`, …) nor `self`, `SELF` and the like; Swift's keywords are allowed.
    ///
    /// - Throws: `invalidModel`; its `details` name every fault at once, in order of entity and property.
    public convenience init(entities: [EntityDescription]) throws(StrataError) {
        var check = ModelCheck(entities)
        check.run()
        let problems = check.sortedProblems
        guard problems.isEmpty else {
            let count = problems.count == 1 ? "a problem" : "\(problems.count) problems"
            throw StrataError(.invalidModel, "The model has \(count).", details: problems)
        }
        self.init(checked: check.entitiesWithInverses)
    }

    /// Entities known to be sound.
    package init(checked entities: [EntityDescription], _ supplement: ModelSupplement = ModelSupplement()) {
        self.entities = entities
        fetchRequestTemplates = Dictionary(
            supplement.fetchRequestTemplates.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        fetchedProperties = supplement.fetchedProperties
        configurations = supplement.configurations
        versionIdentifier = supplement.versionIdentifier
        editorInfo = supplement.editorInfo
        hierarchy = EntityHierarchy(entities)
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Inherited properties first, then its own, each in declared order; none for an unknown name.
    public func properties(ofEntityNamed name: String) -> [PropertyDescription] {
        hierarchy.declarations(of: name).map(\.property)
    }
}

extension ManagedObjectModel: Equatable {
    public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
        left === right || left.entities == right.entities && ModelSupplement(left) == ModelSupplement(right)
    }
}
