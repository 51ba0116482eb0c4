public import Foundation
public import StrataModel

/// The ids of fetched results at one moment, by section, as a diffable data source takes them.
///
/// It is a value that can be sent anywhere. Copies share their memory, and so do successive snapshots where they agree.
public struct FetchedResultsSnapshot: Sendable {
    let state: ResultsState
    /// The objects that have been updated since the snapshot before.
    public let reconfiguredItemIdentifiers: [ObjectID]

    init(_ state: ResultsState, reconfigured: [ObjectID] = []) {
        self.state = state
        reconfiguredItemIdentifiers = reconfigured
    }

    /// The names of the sections, in order; one empty name for results without sections.
    public var sectionIdentifiers: [String] { state.sections.names }
    /// The number of sections.
    public var numberOfSections: Int { state.sections.count }
    /// The number of ids in all sections.
    public var numberOfItems: Int { state.list.count }
    /// All ids, in order.
    ///
    /// - Complexity: O(n)
    public var itemIdentifiers: [ObjectID] { Array(state.list) }

    /// The ids of the section at an index.
    public func itemIdentifiers(inSection section: Int) -> [ObjectID] {
        Array(state.list[state.sections.range(section)])
    }

    /// The number of ids in the section at an index.
    public func numberOfItems(inSection section: Int) -> Int { state.sections.range(section).count }

    /// The id at an index path, which must exist.
    public func itemIdentifier(at indexPath: IndexPath) -> ObjectID {
        state.list[state.sections.range(indexPath[0]).lowerBound + indexPath[1]]
    }

    /// The id at an index in the whole list.
    ///
    /// - Complexity: O(log n)
    public subscript(index: Int) -> ObjectID { state.list[index] }
}

/// The difference between two successive lists of results.
///
/// `deletions`, `deletedSections` and the `from` of moves refer to the old list, everything else to the new list. To
/// apply it to a table: remove the deleted and moved objects, then the deleted sections; insert the inserted sections,
/// then the inserted and moved objects in ascending order.
public struct FetchedResultsDifference: Sendable {
    /// An object that was moved or updated.
    public struct Move: Sendable, Hashable {
        /// The id of the object.
        public let objectID: ObjectID
        /// Its index path in the old list.
        public let from: IndexPath
        /// Its index path in the new list.
        public let to: IndexPath
    }

    /// An object that was inserted or deleted.
    public struct Item: Sendable, Hashable {
        /// The id of the object.
        public let objectID: ObjectID
        /// Its index path in the new list if it was inserted, in the old list if it was deleted.
        public let indexPath: IndexPath
    }

    private let change: ResultsChange

    init(_ change: ResultsChange) { self.change = change }

    /// Indexes of sections of the old list, ascending.
    public var deletedSections: [Int] { change.deletedSections }
    /// Indexes of sections of the new list, ascending.
    public var insertedSections: [Int] { change.insertedSections }

    /// The objects that are only in the old list, in its order.
    public var deletions: [Item] {
        change.deletions.map { Item(objectID: $0.id, indexPath: change.before.indexPath($0.index)) }
    }
    /// The objects that are only in the new list, in its order.
    public var insertions: [Item] {
        change.insertions.map { Item(objectID: $0.id, indexPath: change.after.indexPath($0.index)) }
    }
    /// The objects that have another position among the objects of both lists, in the order of the new list.
    public var moves: [Move] { change.moves.map(move) }
    /// The objects that have other values and were not moved. Their index paths differ where objects before them did.
    public var updates: [Move] { change.updates.map(move) }

    private func move(_ move: ResultsChange.Move) -> Move {
        Move(
            objectID: move.id, from: change.before.indexPath(move.old), to: change.after.indexPath(move.new))
    }

    /// The difference of the whole list, without sections and updates. A move is a removal and an insertion that are
    /// associated with each other.
    public var collectionDifference: CollectionDifference<ObjectID> {
        var changes: [CollectionDifference<ObjectID>.Change] = []
        for object in change.deletions {
            changes.append(.remove(offset: object.index, element: object.id, associatedWith: nil))
        }
        for object in change.insertions {
            changes.append(.insert(offset: object.index, element: object.id, associatedWith: nil))
        }
        for move in change.moves {
            changes.append(.remove(offset: move.old, element: move.id, associatedWith: move.new))
            changes.append(.insert(offset: move.new, element: move.id, associatedWith: move.old))
        }
        return CollectionDifference(changes) ?? [ObjectID]().difference(from: [])
    }
}
