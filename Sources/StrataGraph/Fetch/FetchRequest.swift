public import StrataModel

/// Asks for the objects of an entity that match a predicate, in an order.
///
/// ```swift
/// let request = FetchRequest<Movie>(where: .greaterThan("rating", 4), sortedBy: [SortDescription("title")])
/// let movies = try context.fetch(request)
/// ```
///
/// It holds names and values only, so it can be sent anywhere.
public struct FetchRequest<Result: ManagedObject>: Sendable {
    public var entityName: String
    public var predicate: FetchPredicate?
    public var sortDescriptors: [SortDescription]
    /// Most objects to return; 0 is no limit.
    public var fetchLimit: Int
    /// Matching objects to pass over first.
    public var fetchOffset: Int
    /// Objects of subentities too.
    public var includesSubentities = true
    /// Whether unsaved changes of the context count.
    public var includesPendingChanges = true
    /// Whether objects not in memory come as faults, or with their values read.
    public var returnsObjectsAsFaults = true
    /// Whether objects in memory are read again when next used, unless the context changed them.
    public var shouldRefreshRefetchedObjects = false
    /// How many objects `fetchInBatches(_:)` makes and reads at a time; 0 leaves it to the context.
    public var fetchBatchSize = 0
    /// Relationships whose objects are read too, in one go each: dotted paths such as `"familyMember"` and
    /// `"actors.agent"`.
    public var relationshipKeyPathsForPrefetching: [String] = []

    /// Asks for the objects of the class.
    public init(
        where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [], limit: Int = 0,
        offset: Int = 0
    ) {
        self.init(
            entityName: Result.entityName, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
    }

    /// Asks for the objects of an entity by name; `Result` is its class, or `ManagedObject`.
    public init(
        entityName: String, where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        fetchOffset = offset
    }
}

extension SortDescription {
    /// Sorts by a property of the class, or of an object one or more to-ones away.
    ///
    /// The key path becomes its name at once; one that names no property is misuse and traps.
    public init<Root: ManagedObject, Value>(
        _ keyPath: KeyPath<Root, Value>, isAscending: Bool = true, folding: StringFolding = [],
        isNatural: Bool = false, nullPlacement: NullPlacement = .smallest
    ) {
        self.init(
            PropertyName.of(keyPath), isAscending: isAscending, folding: folding, isNatural: isNatural,
            nullPlacement: nullPlacement)
    }
}

/// Names of properties from key paths.
public enum PropertyName {
    /// The same for a key path whose type is not known.
    static func ofAny<Root: ManagedObject>(_ keyPath: PartialKeyPath<Root>) -> String {
        do {
            return try KeyPathNames.name(of: keyPath)
        } catch {
            preconditionFailure("The key path is no path of properties of \(Root.self): \(error)")
        }
    }

    /// The dotted name of a key path through properties of entities; one that is none is misuse and traps.
    public static func of<Root: ManagedObject, Value>(_ keyPath: KeyPath<Root, Value>) -> String {
        ofAny(keyPath)
    }
}
