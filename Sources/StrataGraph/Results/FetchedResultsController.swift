import Foundation
import StrataModel
import StrataStore

/// Keeps the results of a request in sections, and reports every change to them.
///
/// It follows its context through `processPendingChanges()`, saves, rollbacks and merges. It belongs to the isolation
/// of the context.
///
/// ```swift
/// let controller = FetchedResultsController(
///     fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context)
/// controller.onChange = { difference in print(difference.insertions.count) }
/// try controller.performFetch()
/// ```
///
/// A change of k objects takes O(k log n) for n results. A request with a limit or an offset runs again at each change
/// that concerns it, and one with an expression that does not depend on the object alone (such as `now()`) at every
/// change; `rerunReason` says why.
///
/// An error in reading a change is kept by the context as that of a property is: `faultingErrorHandler` gets it, the
/// results stay as they were, and the next save throws it.
public final class FetchedResultsController<Object: ManagedObject> {
    /// The request whose results it keeps.
    public let fetchRequest: FetchRequest<Object>
    /// The context that the objects belong to.
    public let managedObjectContext: ManagedObjectContext
    /// The key path whose values make the sections. The request must be sorted by it first.
    public let sectionNameKeyPath: String?
    /// Names the sections by the value at the key path.
    public let sectionNaming: SectionNaming
    /// Key paths whose changes count as an update of an object; nil for all of its own properties.
    public let observedKeyPaths: [String]?
    /// Receives every change, call by call.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
    /// Receives every change, as one value.
    public var onChange: ((FetchedResultsDifference) -> Void)?
    var tracker: ResultsTracker?
    private var isFollowing = false
    private var hasNews = false

    /// Makes a controller without results; `performFetch()` runs the request.
    ///
    /// - Parameter keyPaths: key paths whose changes count as an update; nil for all properties of the object.
    public init(
        fetchRequest: FetchRequest<Object>, context: ManagedObjectContext, sectionNameKeyPath: String? = nil,
        sectionNaming: SectionNaming = .value, observing keyPaths: [String]? = nil
    ) {
        self.fetchRequest = fetchRequest
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.sectionNaming = sectionNaming
        observedKeyPaths = keyPaths
    }

    /// Makes a controller with sections by a typed key path, which may lead over to-ones.
    ///
    /// - Parameter keyPaths: key paths whose changes count as an update; nil for all properties of the object.
    public convenience init<Value>(
        fetchRequest: FetchRequest<Object>, context: ManagedObjectContext, sectionsBy keyPath: KeyPath<Object, Value>,
        sectionNaming: SectionNaming = .value, observing keyPaths: [String]? = nil
    ) {
        self.init(
            fetchRequest: fetchRequest, context: context, sectionNameKeyPath: PropertyName.of(keyPath),
            sectionNaming: sectionNaming, observing: keyPaths)
    }

    /// Runs the request and begins to report changes. A second call replaces the results without reporting.
    ///
    /// - Throws: as `ManagedObjectContext.fetch(_:)`; `invalidRequest` when the order does not begin with the sections.
    public func performFetch() throws {
        let (request, _) = try managedObjectContext.prepare(fetchRequest)
        let made = try ResultsTracker(
            managedObjectContext.binding, request, sectionNameKeyPath: sectionNameKeyPath, naming: sectionNaming,
            observing: observedKeyPaths)
        try made.start(at: try contextState())
        tracker = made
        managedObjectContext.followers.add(self)
    }

    private func contextState() throws -> StoreState {
        try managedObjectContext.state(includesPendingChanges: fetchRequest.includesPendingChanges)
    }

    /// The reason why each change runs the whole request again; nil if it does not, and before `performFetch()`.
    public var rerunReason: String? { tracker?.rerunReason }

    var state: ResultsState { tracker?.results ?? ResultsState() }

    // MARK: Following

    private func follow() {
        guard let tracker else { return }
        // Delegate and handler may change objects, save and fetch, which calls this function again.
        hasNews = true
        if isFollowing { return }
        isFollowing = true
        defer { isFollowing = false }
        while hasNews {
            hasNews = false
            do {
                if let change = try tracker.advance(to: try contextState()) { tell(change) }
            } catch {
                managedObjectContext.report(ManagedObjectContext.typed(error))
            }
        }
    }

    private func tell(_ change: ResultsChange) {
        let difference = FetchedResultsDifference(change)
        if let delegate { tell(delegate, change, difference) }
        onChange?(difference)
    }

    private func tell(
        _ delegate: some FetchedResultsControllerDelegate<Object>, _ change: ResultsChange,
        _ difference: FetchedResultsDifference
    ) {
        delegate.controllerWillChangeContent(self)
        for section in change.deletedSections.reversed() {
            delegate.controller(
                self, didChange: info(section, change.before), atSectionIndex: section, for: .delete)
        }
        for section in change.insertedSections {
            delegate.controller(self, didChange: info(section, change.after), atSectionIndex: section, for: .insert)
        }
        for object in difference.deletions.reversed() {
            tell(delegate, object.objectID, object.indexPath, .delete, nil)
        }
        for object in difference.insertions { tell(delegate, object.objectID, nil, .insert, object.indexPath) }
        for move in difference.moves { tell(delegate, move.objectID, move.from, .move, move.to) }
        for update in difference.updates { tell(delegate, update.objectID, update.from, .update, update.to) }
        let snapshot = FetchedResultsSnapshot(change.after, reconfigured: change.updates.map(\.id))
        delegate.controller(self, didChangeContentWith: snapshot)
        delegate.controller(self, didChangeContentWith: difference.collectionDifference)
        delegate.controllerDidChangeContent(self)
    }

    private func tell(
        _ delegate: some FetchedResultsControllerDelegate<Object>, _ id: ObjectID, _ old: IndexPath?,
        _ type: FetchedResultsChangeType, _ new: IndexPath?
    ) {
        guard let object = object(id) else { return }
        delegate.controller(self, didChange: object, at: old, for: type, newIndexPath: new)
    }

    func object(_ id: ObjectID) -> Object? {
        managedObjectContext.registeredOrFault(id).flatMap { ManagedObjectContext.cast($0, to: Object.self) }
    }

    func info(_ section: Int, _ state: ResultsState) -> FetchedResultsSection<Object> {
        let name = state.sections.names[section]
        return FetchedResultsSection(
            name: name, indexTitle: indexTitle(name),
            objects: ResultObjects(state.list, state.sections.range(section), managedObjectContext))
    }

    func indexTitle(_ name: String) -> String? {
        if let delegate { return delegate.controller(self, sectionIndexTitleForSectionName: name) }
        return name.first?.uppercased()
    }
}

@available(*, unavailable, message: "Results stay in the isolation of their context; send a snapshot.")
extension FetchedResultsController: @unchecked Sendable {}

extension FetchedResultsController: ContextFollower {
    func contextMayHaveChanged() { follow() }
}
