// The delegate of a `FetchedResultsController`.

public import Foundation
public import StrataModel

/// The kinds of changes of an object or a section among fetched results. The raw values are Core Data's.
public enum FetchedResultsChangeType: UInt, Sendable, Hashable, CaseIterable {
    /// It is new among the results.
    case insert = 1
    /// It is no longer among the results.
    case delete = 2
    /// The object has another position.
    case move = 3
    /// The object has other values and the same position.
    case update = 4
}

/// Receives the changes of a controller's results. Every method is optional.
///
/// `controllerWillChangeContent` begins a change and `controllerDidChangeContent` ends it. Old index paths refer to the
/// results before the change, new index paths to the results after it. The calls between come in this order: deleted
/// sections, last first; inserted sections; deleted objects, last first; inserted objects; moves; updates. The objects
/// of a deleted section are reported too, as deleted or moved, and those of an inserted section as inserted or moved.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    /// The class of the objects.
    associatedtype Object: ManagedObject

    /// Called before the other calls of a change. The controller has its new results already.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

    /// Called for each object that has changed.
    ///
    /// - Parameters:
    ///   - indexPath: the old index path; nil for an insertion.
    ///   - newIndexPath: the new index path; nil for a deletion.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// Called for each section that was inserted or deleted.
    ///
    /// - Parameters:
    ///   - index: of the section; among the old sections for a deletion, the new ones for an insertion.
    ///   - type: `insert` or `delete`.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType)

    /// Called after the other calls of a change.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

    /// Called once for each change, with the new results.
    func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot)

    /// Called once for each change, with the difference of the whole list, without sections and updates.
    func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith difference: CollectionDifference<ObjectID>)

    /// The index title for a section name; by default its first letter in upper case.
    func controller(
        _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
    ) -> String?
}

extension FetchedResultsControllerDelegate {
    /// Does nothing.
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}
    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}
    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {}
    /// Does nothing.
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {}
    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {}
    /// The first letter of the name in upper case.
    public func controller(
        _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
    ) -> String? { name.first?.uppercased() }
}
