public import Foundation
public import StrataModel

/// What became of an object or section among results. Raw values are Core Data's.
public enum FetchedResultsChangeType: UInt, Sendable, Hashable, CaseIterable {
    case insert = 1
    case delete = 2
    case move = 3
    case update = 4
}

/// Hears what changes in the results of a controller; every method may be left out.
///
/// The calls of one change stand between `controllerWillChangeContent` and `controllerDidChangeContent`. Old places
/// speak of the results before all of it, new ones of those after it. The order is: deleted sections from the last,
/// inserted sections, deleted objects from the last, inserted objects, moves, updates. Objects of a deleted section are
/// told of as deleted or moved too, and objects of an inserted one as inserted or moved.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    associatedtype Object: ManagedObject

    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

    /// - Parameters:
    ///   - indexPath: where it stood; nil for an insertion.
    ///   - newIndexPath: where it stands; nil for a deletion.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// `type` is `insert` or `delete`.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType)

    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

    /// The same change as a snapshot of the results after it.
    func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot)

    /// The same change of the whole list, sections and updates aside.
    func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith difference: CollectionDifference<ObjectID>)

    /// The title in an index for a section; by default the first letter, upper case.
    func controller(
        _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
    ) -> String?
}

extension FetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {}
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {}
    public func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
    ) -> String? { name.first?.uppercased() }
}
