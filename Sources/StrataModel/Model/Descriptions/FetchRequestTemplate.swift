/// A request that the model has under a name, with variables to be filled in when it is used.
///
/// ```swift
/// let template = FetchRequestTemplate(
///     name: "FilmsSince", entityName: "Film", where: try FetchPredicate(format: "year >= $YEAR"))
/// ```
public struct FetchRequestTemplate: Sendable, Hashable, Codable {
    public var name: String
    public var entityName: String
    /// `$NAME` stands for a value that is given later.
    public var predicate: FetchPredicate?
    public var sortDescriptors: [SortDescription]
    /// Most objects to return; 0 is no limit.
    public var fetchLimit: Int
    public var includesSubentities: Bool
    /// How many objects are made at a time; 0 leaves it to the context.
    public var fetchBatchSize = 0
    public var includesPendingChanges = true
    public var includesPropertyValues = true
    public var returnsObjectsAsFaults = true
    public var editorInfo: EditorInfo = [:]

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
