import Foundation
import StrataModel
import StrataStore

/// Shows the objects that a request finds, in sections, and tells of every change to them.
///
/// It follows its context: after `processPendingChanges()`, saves, rollbacks and merges it looks at what has changed and
/// at nothing else, so that a save which touches k objects costs O(k log n) beside n results. It belongs to the
/// isolation of its context.
///
/// ```swift
/// let controller = FetchedResultsController(
///     fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context)
/// controller.onChange = { difference in print(difference.insertions.count) }
/// try controller.performFetch()
/// ```
///
/// With a limit or an offset, and with expressions that no single object answers (`now()`, an element by its place),
/// the request runs again at each change that concerns it; `rerunReason` says why.
public final class FetchedResultsController<Object: ManagedObject> {
    public let fetchRequest: FetchRequest<Object>
    public let managedObjectContext: ManagedObjectContext
    /// The property that tells sections apart; the request must be sorted by it first.
    public let sectionNameKeyPath: String?
    public let sectionNaming: SectionNaming
    /// What makes an object another, so that an update is told: dotted paths; nil is everything of its own.
    public let observedKeyPaths: [String]?
    /// Hears of every change.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
    /// Hears of every change, as one value.
    public var onChange: ((FetchedResultsDifference) -> Void)?
    var tracker: ResultsTracker?
    private var isFollowing = false
    private var hasNews = false

    /// Takes a request and the context whose objects it shows; `performFetch()` runs it.
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

    /// The same with sections by a key path, which may lead over to-ones.
    public convenience init<Value>(
        fetchRequest: FetchRequest<Object>, context: ManagedObjectContext, sectionsBy keyPath: KeyPath<Object, Value>,
        sectionNaming: SectionNaming = .value, observing keyPaths: [String]? = nil
    ) {
        self.init(
            fetchRequest: fetchRequest, context: context, sectionNameKeyPath: PropertyName.of(keyPath),
            sectionNaming: sectionNaming, observing: keyPaths)
    }

    /// Runs the request; from then on changes are told. Running it again begins anew, and tells nothing.
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

    /// Why changes run the whole request again; nil before `performFetch()`, and when only what they concern is read.
    public var rerunReason: String? { tracker?.rerunReason }

    var state: ResultsState { tracker?.results ?? ResultsState() }

    // MARK: Following

    private func follow() {
        guard let tracker else { return }
        // Whoever hears of a change may change, save and fetch.
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
