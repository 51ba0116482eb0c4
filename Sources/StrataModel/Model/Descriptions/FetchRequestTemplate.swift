/// A named request in a model. Variables in its predicate get their values when it is used.
///
/// ```swift
/// let template = FetchRequestTemplate(
///     name: "FilmsSince", entityName: "Film", where: try FetchPredicate(format: "year >= $YEAR"))
/// ```
public struct FetchRequestTemplate: Sendable, Hashable, Codable {
    /// The name, unique in the model.
    public var name: String
    /// The name of the entity whose objects it finds.
    public var entityName: String
    /// The condition; `$NAME` is a variable. nil for all objects.
    public var predicate: FetchPredicate?
    /// The order of the result.
    public var sortDescriptors: [SortDescription]
    /// The largest number of objects; 0 for no limit.
    public var fetchLimit: Int
    /// Whether the request finds objects of subentities too.
    public var includesSubentities: Bool
    /// The number of objects that are made at a time; 0 leaves it to the context.
    public var fetchBatchSize = 0
    /// Whether the request takes unsaved changes of the context into account.
    public var includesPendingChanges = true
    /// Whether the request reads the rows of the objects.
    public var includesPropertyValues = true
    /// Whether the request returns faults.
    public var returnsObjectsAsFaults = true
    /// Entries of the model editor.
    public var editorInfo: EditorInfo = [:]

    /// A named request.
    public init(
        name: String, entityName: String, where predicate: FetchPredicate? = nil,
        sortedBy sortDescriptors: [SortDescription] = [], limit: Int = 0, includesSubentities: Bool = true
    ) {
        self.name = name
        self.entityName = entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        self.includesSubentities = includesSubentities
    }
}
