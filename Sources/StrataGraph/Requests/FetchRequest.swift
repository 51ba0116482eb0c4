public import StrataModel

/// Asks for the objects of an entity that match a predicate, in an order.
///
/// ```swift
/// let request = try FetchRequest<Movie>(where: .greaterThan("rating", 4), sortedBy: [SortDescription("title")])
/// let movies = try context.fetch(request)
/// ```
///
/// It holds names and values only, so it can be sent anywhere.
///
/// What the class cannot answer is refused when the request is made, by the model that the class declares: unknown keys
/// with the nearest name, values of the wrong type, a to-many without quantifier. Two things are held against the model
/// of the container instead, by `ManagedObjectContext.check(_:)` or the first use: what is assigned to the properties
/// below later, and requests for a `ManagedObject` by the name of its entity, whose class knows no model.
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
    /// Whether the values of faults may be read along with their ids.
    ///
    /// With false nothing but ids is read, and `returnsObjectsAsFaults = false` has no effect.
    public var includesPropertyValues = true
    /// Whether objects in memory are read again when next used, unless the context changed them.
    public var shouldRefreshRefetchedObjects = false
    /// How many objects `fetchInBatches(_:)` makes and reads at a time; 0 leaves it to the context.
    public var fetchBatchSize = 0
    /// Relationships whose objects are read too, in one go each: dotted paths such as `"familyMember"` and
    /// `"actors.agent"`.
    public var relationshipKeyPathsForPrefetching: [String] = []

    /// Asks for all objects of the class.
    public init() { self.init(entityName: Result.entityName) }

    /// Asks for all objects of an entity by name; `Result` is its class, or `ManagedObject`.
    public init(entityName: String) {
        self.entityName = entityName
        sortDescriptors = []
        fetchLimit = 0
        fetchOffset = 0
    }

    /// Asks for objects of the class.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public init(
        where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [], limit: Int = 0,
        offset: Int = 0
    ) throws(StrataError) {
        try self.init(
            entityName: Result.entityName, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
    }

    /// Asks for objects of an entity by name; `Result` is its class, or `ManagedObject`.
    ///
    /// - Throws: as for the class, as far as that knows the entity.
    public init(
        entityName: String, where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) throws(StrataError) {
        self.init(entityName: entityName)
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        fetchOffset = offset
        try check()
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
