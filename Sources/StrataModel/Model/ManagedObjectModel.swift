/// A checked model: entities whose names resolve and whose inverses agree, with requests and configurations.
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
    /// The entities in the order given, with inverses named on both sides.
    public let entities: [EntityDescription]
    /// The entities by name.
    public let entitiesByName: [String: EntityDescription]
    package let hierarchy: EntityHierarchy
    /// The named requests.
    public let fetchRequestTemplates: [String: FetchRequestTemplate]
    /// The fetched properties of all entities.
    public let fetchedProperties: [FetchedPropertyDescription]
    /// The named subsets of entities, without the default configuration.
    public let configurations: [ModelConfiguration]
    /// The views that the store keeps for this model.
    public let views: [ViewDescription]
    /// The name that the model's author gave this version.
    public let versionIdentifier: String?
    /// Entries of the model editor.
    public let editorInfo: EditorInfo

    /// Makes a model of entities after checking them. Inverses that only one side names are added to the other.
    ///
    /// Names begin with a letter or underscore and go on with letters, digits and underscores. Properties may not
    /// have the names of an object's own members (`objectID`, `entity`, `isDeleted`, `hasChanges`, `description`,
    /// `hash`, …) nor `self`, `SELF` and the like; Swift's keywords are allowed.
    ///
    /// - Throws: `invalidModel`; its `details` have all problems, in order of entity and property.
    public convenience init(entities: [EntityDescription]) throws(StrataError) {
        try self.init(entities: entities, mostProblems: .max)
    }

    /// Makes a model of entities as `init(entities:)`, but checks nothing more after a number of problems.
    package convenience init(entities: [EntityDescription], mostProblems: Int) throws(StrataError) {
        var check = ModelCheck(entities, mostProblems: mostProblems)
        check.run()
        let problems = check.sortedProblems
        guard problems.isEmpty else {
            let count = problems.count == 1 ? "a problem" : "\(problems.count) problems"
            throw StrataError(.invalidModel, "The model has \(count).", details: problems)
        }
        self.init(checked: check.entitiesWithInverses)
    }

    /// Makes a model of entities that are known to be valid.
    package init(checked entities: [EntityDescription], _ supplement: ModelSupplement = ModelSupplement()) {
        self.entities = entities
        fetchRequestTemplates = Dictionary(
            supplement.fetchRequestTemplates.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        fetchedProperties = supplement.fetchedProperties
        configurations = supplement.configurations
        views = supplement.views
        versionIdentifier = supplement.versionIdentifier
        editorInfo = supplement.editorInfo
        hierarchy = EntityHierarchy(entities)
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The properties of an entity: inherited ones first, then its own, each in declared order. Empty for an unknown
    /// name.
    public func properties(ofEntityNamed name: String) -> [PropertyDescription] {
        hierarchy.declarations(of: name).map(\.property)
    }
}

extension ManagedObjectModel {
    /// The view with a name.
    public func view(named name: String) -> ViewDescription? { views.first { $0.name == name } }

    /// Whether a store keeps the same for both models: they have the same entities and views.
    package func isKept(like other: ManagedObjectModel) -> Bool {
        self === other || entities == other.entities && Set(views) == Set(other.views)
    }
}

extension ManagedObjectModel: Equatable {
    /// Whether both models have the same content.
    public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
        left === right || left.entities == right.entities && ModelSupplement(left) == ModelSupplement(right)
    }
}

extension ManagedObjectModel {
    /// Whether an entity lists its words.
    package var hasFullText: Bool { entities.contains { !$0.fullText.isEmpty } }

    /// Whether a store of the model has the tables of declared views.
    package var needsViewTables: Bool { !views.isEmpty || hasFullText }
}
