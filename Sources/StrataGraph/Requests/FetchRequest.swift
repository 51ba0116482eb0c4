public import StrataModel
import StrataStore

/// A request for the objects of an entity that match a predicate, in an order.
///
/// ```swift
/// let request = try FetchRequest<Movie>().where { $0.rating > 4 }.sorted(by: \.title)
/// let movies = try context.fetch(request)
/// ```
///
/// Initializers and builder methods check a request against the model that its class declares. They refuse unknown keys
/// (and name the nearest), values of the wrong type, and a to-many without quantifier. Two things are checked only when
/// the request runs, or by `ManagedObjectContext.check(_:)`: values that are assigned to its properties, and requests
/// for plain `ManagedObject`s, whose class declares no model.
///
/// A request holds names and values only, so it can be sent anywhere.
///
/// SwiftUI has a property wrapper of this name. A file that imports both writes `Strata.FetchRequest`, or
/// `StrataGraph.FetchRequest` where it imports that module alone.
public struct FetchRequest<Result: ManagedObject>: Sendable {
    /// The entity by its name in the model.
    public var entityName: String { didSet { shape = nil } }
    /// The condition that objects must meet; nil is met by all.
    public var predicate: FetchPredicate? { didSet { shape = nil } }
    /// The order of the objects, first key first; without any they come in the order of their ids.
    public var sortDescriptors: [SortDescription] { didSet { shape = nil } }
    /// The number of objects to return at most; 0 for no limit.
    public var fetchLimit: Int
    /// The number of matching objects to skip.
    public var fetchOffset: Int
    /// Whether objects of subentities are included.
    public var includesSubentities = true { didSet { shape = nil } }
    /// Whether the results include the context's unsaved changes.
    public var includesPendingChanges = true
    /// Whether objects that are not in memory are returned as faults. If not, their values are read at once.
    public var returnsObjectsAsFaults = true
    /// Whether values may be read at all. If not, only ids are read, whatever `returnsObjectsAsFaults` says.
    public var includesPropertyValues = true
    /// Whether objects in memory without changes become faults, so that their values are read again.
    public var shouldRefreshRefetchedObjects = false
    /// The number of objects that `fetchInBatches(_:)` reads together; 0 for 100.
    public var fetchBatchSize = 0
    /// Key paths of relationships whose objects are read too, such as `"familyMember"` and `"actors.agent"`, with one
    /// read of the store for each relationship.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// The work and memory that the request may take; nil for the budget of the container's options.
    public var budget: RequestBudget?
    /// The compiled shape of the request; nil again when a property that it was compiled from changes.
    private(set) var shape: QueryShape?

    /// Requests all objects of the class.
    public init() { self.init(entityName: Result.entityName) }

    /// Requests all objects of an entity by its name. `Result` is its class or `ManagedObject`.
    public init(entityName: String) {
        self.entityName = entityName
        sortDescriptors = []
        fetchLimit = 0
        fetchOffset = 0
    }

    /// Requests objects of the class that meet a predicate.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public init(
        where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [], limit: Int = 0,
        offset: Int = 0
    ) throws(StrataError) {
        try self.init(
            entityName: Result.entityName, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
    }

    /// Requests objects of an entity by its name that meet a predicate. `Result` is its class or `ManagedObject`.
    ///
    /// - Throws: as for the class, if the class declares the entity.
    public init(
        entityName: String, where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) throws(StrataError) {
        self.init(entityName: entityName)
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        fetchOffset = offset
        shape = try RequestCheck.shape(of: self)
    }

    /// A copy with changes, checked.
    func changed(_ change: (inout FetchRequest) -> Void) throws(StrataError) -> FetchRequest {
        var request = self
        change(&request)
        request.shape = try RequestCheck.shape(of: request)
        return request
    }
}

extension SortDescription {
    /// Sorts by a property of the class, or of an object that to-ones lead to. A key path without property traps.
    public init<Root: ManagedObject, Value>(
        _ keyPath: KeyPath<Root, Value>, isAscending: Bool = true, folding: StringFolding = [],
        isNatural: Bool = false, nullPlacement: NullPlacement = .smallest
    ) {
        self.init(
            PropertyName.of(keyPath), isAscending: isAscending, folding: folding, isNatural: isNatural,
            nullPlacement: nullPlacement)
    }
}
