import Foundation
public import StrataModel
import StrataStore

// In this folder: the context itself, its objects and faults. `Pending` owns what it has not saved, `Move` takes it
// from one state of the store to another, `Memory` is what it keeps in memory.

/// A graph of objects over one state of the store, with the changes made to them that are not saved yet.
///
/// A context shows one moment of the store (`eventNumber`) and reads everything as it was then, whatever others
/// save meanwhile. It moves on when it saves or executes a batch request, by `refreshAllObjects()`,
/// `refresh(_:mergeChanges:)`, `mergeChanges(from:)` or `reset()`, and by itself with
/// `automaticallyMergesChangesFromParent`. It belongs to one isolation, as do its objects: the view context to the main
/// actor, another context to the actor or task that received it.
///
/// ```swift
/// let movie = Movie(context: context)
/// movie.title = "Stalker"
/// try context.save()
/// ```
public final class ManagedObjectContext {
    let binding: StoreBinding
    /// The context that a child saves into.
    public let parent: ManagedObjectContext?
    /// Whether nothing can be saved from here; see `newScratchContext()`.
    public let isScratch: Bool
    /// Whether the context shows a past moment or belongs to a read-only container.
    public let isReadOnly: Bool
    /// The moment that was asked for; nil for a context that moves.
    private let past: PastMoment?

    @exclusivity(unchecked) var standpoint: Standpoint
    @exclusivity(unchecked) var map = IdentityMap()
    @exclusivity(unchecked) var memory = ContextMemory()
    @exclusivity(unchecked) var pending = PendingChanges()
    @exclusivity(unchecked) var pendingLinks = PendingLinks()
    var layers = PendingLayers()
    var saving = PendingSave()
    var errors = UnreportedErrors()
    var attributes = TransactionAttributes()
    var observers = ContextObservers()
    /// Results that follow the context.
    var followers = ContextFollowers()
    var following = ContextFollowing()
    /// Whether objects made from now on announce their changes through the Observation framework.
    ///
    /// On by default for the view context. Reading an observed object costs some 15 to 40 ns a property.
    @exclusivity(unchecked) public var observesObjects = false
    /// Records changes so that they can be undone; none by default.
    public var undoManager: ObjectUndoManager? {
        didSet {
            oldValue?.attach(to: nil)
            undoManager?.attach(to: self)
        }
    }
    /// The side that wins when others saved first and changed the same; an error by default.
    public var mergePolicy = MergePolicy.error
    /// Is called with every error that reading or writing a property could not throw, when it happens.
    ///
    /// The error is kept all the same, and the next `save()` throws it before it saves anything. Where the store is damaged
    /// (`corrupt`), the next fetch throws it too, and every save does until `reset()`: the property may have shown less
    /// than there is. Only a write to a deleted object is not kept; without a handler it is logged as a warning.
    public var faultingErrorHandler: ((StrataError) -> Void)?
    /// Values of the application, which Strata does not read.
    public var userInfo: [String: any Sendable] = [:]

    init(
        binding: StoreBinding, at eventNumber: EventNumber, isPast: Bool = false, converted: ConvertedState? = nil,
        parent: ManagedObjectContext? = nil, isScratch: Bool = false
    ) {
        self.binding = binding
        self.parent = parent
        self.isScratch = isScratch
        standpoint = Standpoint(at: eventNumber, in: binding.store)
        past = isPast ? PastMoment(converted: converted) : nil
        isReadOnly = !isScratch && (isPast || binding.store.isReadOnly)
    }

    deinit {
        readHeldFaults()
        map.forEach { $0.detach() }
    }

    // MARK: Its state of the store

    /// Whether the context shows a chosen past state, and never moves.
    var isPast: Bool { past != nil }
    /// The moment of the store that the context shows.
    public var eventNumber: EventNumber { base }
    /// The event number that the context reads at.
    var base: EventNumber { standpoint.eventNumber }
    /// The unsaved changes of a child context's parents, bottom to top.
    var inherited: [Layer] { standpoint.inherited }

    /// Whether the context moves to the newest state by itself: before each fetch, and as soon as others have saved
    /// where it knows how to be reached, as the view context and contexts behind a `ContextActor` do. A pinned one does
    /// not.
    public var automaticallyMergesChangesFromParent: Bool {
        get { following.isAutomatic }
        set {
            following.isAutomatic = newValue
            followHead()
        }
    }
    /// Whether the context stays at its moment; see `pin()`.
    public var isPinned: Bool { following.isPinned }
    /// Gets the context's isolation to call `mergeWhatOthersSaved()`; nil where only the owner of the context can.
    var reach: (@Sendable () -> Void)? {
        get { following.reach }
        set {
            following.reach = newValue
            followHead()
        }
    }

    /// Whether the context keeps every object that it has made or read, until `reset()`, as a cache for a graph that is
    /// walked again and again. Off by default: objects that the app does not hold and that have no changes are
    /// released.
    ///
    /// Cost: the memory of the objects, some 100 bytes each beside their rows.
    public var retainsRegisteredObjects: Bool {
        get { memory.retainsObjects }
        set { memory.retainsObjects = newValue }
    }

    // MARK: What a save records

    /// A name that is recorded with each save.
    public var name: String? {
        get { attributes.contextName }
        set { attributes.contextName = newValue }
    }
    /// The user, device or process that saves; recorded with each save.
    public var transactionAuthor: String? {
        get { attributes.author }
        set { attributes.author = newValue }
    }
    /// The reason for the changes; recorded with each save.
    public var transactionReason: String? {
        get { attributes.reason }
        set { attributes.reason = newValue }
    }
    /// The id of a request, a job or a message that the save belongs to; recorded with each save.
    public var transactionCorrelationID: String? {
        get { attributes.correlationID }
        set { attributes.correlationID = newValue }
    }
    /// Recorded with each save.
    public var transactionMetadata: [String: String] {
        get { attributes.metadata }
        set { attributes.metadata = newValue }
    }

    // MARK: What is pending

    /// Whether anything would be saved.
    public var hasChanges: Bool { !pending.isEmpty || saving.doubtful != nil }

    /// New objects that are not saved.
    public var insertedObjects: Set<ManagedObject> {
        Set(pending.inserted.lazy.filter { $0._flags.contains(.inserted) })
    }

    /// Saved objects with changes that are not saved.
    public var updatedObjects: Set<ManagedObject> {
        Set(pending.updated.lazy.filter { $0._flags.contains(.updated) && !$0._flags.contains(.deleted) })
    }

    /// Saved objects whose deletion is not saved.
    ///
    /// This makes every object that a cascade deleted without making it; `deletedObjectIDs` makes none.
    public var deletedObjects: Set<ManagedObject> {
        for id in Array(pending.deletedRows.rows.keys) { _ = registeredOrFault(id) }
        return deletedObjectsInMemory
    }

    var deletedObjectsInMemory: Set<ManagedObject> { Set(pending.deleted.lazy.filter { $0._flags.contains(.deleted) }) }

    /// The ids of saved objects whose deletion is not saved.
    public var deletedObjectIDs: Set<ObjectID> {
        Set(pending.deletedRows.rows.keys).union(
            pending.deleted.lazy.filter { $0._flags.contains(.deleted) }.map(\.objectID))
    }

    /// Every object in memory. A new object that was deleted again is not among them.
    public var registeredObjects: Set<ManagedObject> {
        var objects: Set<ManagedObject> = []
        map.forEach { if !$0._flags.contains(.withdrawn) { objects.insert($0) } }
        return objects
    }

    // MARK: Entities

    func entity(of objectClass: ManagedObject.Type) -> EntityRuntime {
        let key = ObjectIdentifier(objectClass)
        if let lastClass = memory.lastClass, lastClass.0 == key { return lastClass.1 }
        guard let entity = binding.entity(of: objectClass) else {
            preconditionFailure(
                "\(objectClass) is not the class of an entity in this container's model. "
                    + "Name it when the container is made, or use insertNewObject(forEntityName:).")
        }
        memory.lastClass = (key, entity)
        return entity
    }

    // MARK: Errors

    /// The values and links of a past moment that the app's model cannot show, because a migration since gave them
    /// another form: by entity and property, with their number and the first objects. They read as nil.
    ///
    /// `PersistentContainer.context(asOf:model:)` with `.ofThen` shows them.
    public var unreadableValues: [MigrationProblem] { past?.converted?.problems ?? [] }

    /// The errors about values of an object that cannot be shown.
    func unreadableValues(of id: ObjectID) -> [StrataError] { past?.converted?.errors(of: id) ?? [] }

    /// The errors that the next save will throw.
    public var unreportedErrors: [StrataError] { errors.unreported }

    /// Whether a fault whose object is gone counts as deleted and reads as nil, zero and empty (the default, as in
    /// Core Data), or reports `referentialIntegrity` (133000) too.
    public var shouldDeleteInaccessibleFaults: Bool {
        get { errors.toleratesGoneObjects }
        set { errors.toleratesGoneObjects = newValue }
    }

    /// Keeps an error that could not be thrown to the caller.
    func report(_ error: StrataError) {
        errors.keep(error)
        faultingErrorHandler?(error)
    }

    /// Passes on an error that no save has to throw.
    func tell(_ error: StrataError) {
        if let faultingErrorHandler { faultingErrorHandler(error) } else { StoreLogger.warn("\(error)") }
    }
}

@available(*, unavailable, message: "A context stays in one isolation; hand it over with sending, or use an actor.")
extension ManagedObjectContext: @unchecked Sendable {}
