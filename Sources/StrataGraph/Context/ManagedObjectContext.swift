import Foundation
public import StrataModel
import StrataStore

/// A place to work with objects: one state of the store, and the changes made to it that are not saved yet.
///
/// A context stands at one moment of the store (`sequence`) and reads everything as it was then, whatever others save
/// meanwhile; it moves on when it saves, and by `refreshAllObjects()` or `reset()`. It belongs to one isolation, as do
/// its objects: the view context to the main actor, the others to whoever was given them.
///
/// ```swift
/// let movie = Movie(context: context)
/// movie.title = "Stalker"
/// try context.save()
/// ```
public final class ManagedObjectContext {
    let binding: StoreBinding
    /// Where the context stands.
    @exclusivity(unchecked) var base: EventNumber
    /// The context that a child saves into.
    public let parent: ManagedObjectContext?
    /// Whether nothing can be saved from here; see `newScratchContext()`.
    public let isScratch: Bool
    /// What the parents of a child context have not saved, bottom to top; see `read`.
    @exclusivity(unchecked) var inherited: [Layer] = []
    /// Whether the context shows a past moment or belongs to a read-only container.
    public let isReadOnly: Bool
    /// Whether it shows a moment that was asked for, and never moves.
    let isPast: Bool
    @exclusivity(unchecked) var map = IdentityMap()
    @exclusivity(unchecked) var sweepThreshold = ManagedObjectContext.leastSweepThreshold
    @exclusivity(unchecked) var faultRuns = FaultRuns()
    @exclusivity(unchecked) var longText = LongText()
    @exclusivity(unchecked) private var lastClass: (ObjectIdentifier, EntityRuntime)?

    // Pending changes. The lists only grow until a save or rollback; an object's flags say whether it still counts.
    @exclusivity(unchecked) var inserted: ContiguousArray<ManagedObject> = []
    @exclusivity(unchecked) var updated: ContiguousArray<ManagedObject> = []
    @exclusivity(unchecked) var deleted: ContiguousArray<ManagedObject> = []
    /// Saved objects that are deleted without having been made.
    @exclusivity(unchecked) var deletedRows = DeletedRows()
    /// New objects that were deleted again.
    @exclusivity(unchecked) var withdrawnCount = 0
    /// Objects changed again after a layer or a round of `willSave` had seen them.
    @exclusivity(unchecked) var touched: ContiguousArray<ManagedObject> = []
    /// Members that came and went, oldest first; folded into states when somebody looks.
    @exclusivity(unchecked) var linkChanges: ContiguousArray<LinkChange> = []
    @exclusivity(unchecked) var toManyStates: [ToManyKey: ToManyState] = [:]
    /// Changed or deleted objects that others changed too, in a way that the next save must settle.
    @exclusivity(unchecked) var overtaken: Set<ObjectID> = []
    /// Objects that others deleted while changes were pending here, which may lead to them; the next save settles that.
    @exclusivity(unchecked) var vanished: Set<ObjectID> = []
    /// Objects whose deletion is pending and that others linked, or unlinked, by pairs since: nobody's members here.
    @exclusivity(unchecked) var leaving: Set<ObjectID> = []
    /// Ends of one-to-ones that a merge has cleared for links of this context; they lead on where these do not stand.
    @exclusivity(unchecked) var displaced: Set<LinkEnd> = []
    /// Counts changes of pairs, whose truth is no row.
    @exclusivity(unchecked) var pairGeneration = 0
    /// Counts the moves of `base` that may have changed a to-many; what was read of one is good until the next.
    @exclusivity(unchecked) var baseGeneration = 0
    var layers = PendingLayers()
    /// Keeps the files of unsaved large values from being swept.
    var blobLease: BlobLease?
    /// Errors that a property could not throw; the next save throws them.
    var pendingErrors: [StrataError] = []
    var isSaving = false
    /// What the save that runs has called `willSave` on.
    var prepared = ChangeCursor()
    var observers = ContextObservers()
    /// Records changes so that they can be undone; none by default.
    public var undoManager: ObjectUndoManager? {
        didSet {
            oldValue?.attach(to: nil)
            undoManager?.attach(to: self)
        }
    }
    /// Results that follow the context.
    var followers = ContextFollowers()
    /// What the save that runs relies on; see `save(expecting:)`.
    var expectedRevisions: [ObjectID: EventNumber?] = [:]
    /// Changes of which the store could not say whether they are on disk.
    var doubtful: ChangeSet?

    /// A name that is recorded with each save.
    public var name: String?
    /// Who saves; recorded with each save.
    public var transactionAuthor: String?
    /// Why; recorded with each save.
    public var transactionReason: String?
    /// What the save belongs to: a request, a job, a message; recorded with each save.
    public var transactionCorrelationID: String?
    /// Recorded with each save.
    public var transactionMetadata: [String: String] = [:]
    /// Who wins when others saved first and changed the same; an error by default.
    public var mergePolicy = MergePolicy.error
    /// What the policy overruled since the last save; recorded with the next.
    var overruled: [ConflictRecord] = []

    /// For the application.
    public var userInfo: [String: any Sendable] = [:]
    /// Hears of every error that reading or writing a property could not throw, when it happens.
    ///
    /// The error is kept all the same, and the next `save()` throws it before it saves anything.
    public var faultingErrorHandler: ((StrataError) -> Void)?
    /// Whether a fault whose object is gone counts as deleted and reads as nil, zero and empty (the default, as in
    /// Core Data), or reports `referentialIntegrity` (133000) too.
    public var shouldDeleteInaccessibleFaults = true
    /// Whether the context keeps every object that it has made or read, until `reset()`, as a cache for a graph that is
    /// walked again and again. Off by default: objects that nobody holds and that have no changes are let go.
    ///
    /// Cost: the memory of the objects, some 100 bytes each beside their rows.
    public var retainsRegisteredObjects = false {
        didSet { sweepThreshold = retainsRegisteredObjects ? .max : Self.leastSweepThreshold }
    }
    static var leastSweepThreshold: Int { 2048 }
    /// As many blocks of one size the C library keeps at hand.
    static var sweptAtOnce: Int { 4 }
    /// Whether the context moves to the newest state by itself: before each fetch, and as soon as others have saved where
    /// it knows how to be reached, as the view context and contexts behind a `ContextActor` do. A pinned one does not.
    public var automaticallyMergesChangesFromParent = false {
        didSet { followHead() }
    }
    /// Whether the context stays at its moment; see `pin()`.
    public internal(set) var isPinned = false
    /// Gets the context's isolation to call `mergeWhatOthersSaved()`; nil where nobody but the owner can.
    var reach: (@Sendable () -> Void)? {
        didSet { followHead() }
    }
    var headObservation: HeadObservation?
    /// Whether objects made from now on announce their changes through the Observation framework.
    ///
    /// On by default for the view context. Reading an observed object costs some 15 to 40 ns a property.
    @exclusivity(unchecked) public var observesObjects = false

    /// The id of the transaction that the next save makes, where one and the same save may be tried again.
    var savedTransactionID: UUID?

    init(
        binding: StoreBinding, at eventNumber: EventNumber, isPast: Bool = false,
        parent: ManagedObjectContext? = nil, isScratch: Bool = false
    ) {
        self.binding = binding
        self.parent = parent
        self.isScratch = isScratch
        base = eventNumber
        self.isPast = isPast
        isReadOnly = !isScratch && (isPast || binding.store.isReadOnly)
    }

    deinit {
        readHeldFaults()
        map.forEach { $0.detach() }
    }

    /// The moment of the store that the context shows.
    public var eventNumber: EventNumber { base }

    // MARK: What is pending

    /// Whether anything would be saved.
    public var hasChanges: Bool {
        inserted.count > withdrawnCount || updated.contains { $0._flags.contains(.updated) }
            || !deletedRows.isEmpty || deleted.contains { $0._flags.contains(.deleted) } || doubtful != nil
    }

    /// New objects that are not saved.
    public var insertedObjects: Set<ManagedObject> {
        Set(inserted.lazy.filter { $0._flags.contains(.inserted) })
    }

    /// Saved objects with changes that are not saved.
    public var updatedObjects: Set<ManagedObject> {
        Set(updated.lazy.filter { $0._flags.contains(.updated) && !$0._flags.contains(.deleted) })
    }

    /// Saved objects whose deletion is not saved.
    ///
    /// This makes every object that a cascade deleted without making it; `deletedObjectIDs` makes none.
    public var deletedObjects: Set<ManagedObject> {
        for id in Array(deletedRows.rows.keys) { _ = registeredOrFault(id) }
        return deletedObjectsInMemory
    }

    var deletedObjectsInMemory: Set<ManagedObject> { Set(deleted.lazy.filter { $0._flags.contains(.deleted) }) }

    /// The ids of saved objects whose deletion is not saved.
    public var deletedObjectIDs: Set<ObjectID> {
        Set(deletedRows.rows.keys).union(deleted.lazy.filter { $0._flags.contains(.deleted) }.map(\.objectID))
    }

    /// Every object in memory.
    public var registeredObjects: Set<ManagedObject> {
        var objects: Set<ManagedObject> = []
        map.forEach { objects.insert($0) }
        return objects
    }

    // MARK: Entities

    func entity(of objectClass: ManagedObject.Type) -> EntityRuntime {
        let key = ObjectIdentifier(objectClass)
        if let lastClass, lastClass.0 == key { return lastClass.1 }
        guard let entity = binding.entity(of: objectClass) else {
            preconditionFailure(
                "\(objectClass) is not the class of an entity in this container's model. "
                    + "Name it when the container is made, or use insertNewObject(forEntityName:).")
        }
        lastClass = (key, entity)
        return entity
    }

    // MARK: Errors

    /// The errors that the next save will throw.
    public var unreportedErrors: [StrataError] { pendingErrors }

    /// Keeps an error that the caller could not be told of.
    func report(_ error: StrataError) {
        pendingErrors.append(error)
        faultingErrorHandler?(error)
    }
}

@available(*, unavailable, message: "A context stays in one isolation; hand it over with sending, or use an actor.")
extension ManagedObjectContext: @unchecked Sendable {}

extension ManagedObject {
    /// Cuts the object off from its context.
    final func detach() {
        _contextReference = nil
        _state |= ObjectState.detached
    }
}
