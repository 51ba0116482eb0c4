public import Foundation
public import StrataModel

/// The ids of fetched results at one moment, by section: what a diffable data source takes.
///
/// It is a value that can be sent anywhere. Copies share their memory, and a later snapshot shares what has not changed.
public struct FetchedResultsSnapshot: Sendable {
    let state: ResultsState
    /// Objects that are others than in the snapshot before.
    public let reconfiguredItemIdentifiers: [ObjectID]

    init(_ state: ResultsState, reconfigured: [ObjectID] = []) {
        self.state = state
        reconfiguredItemIdentifiers = reconfigured
    }

    /// The names of the sections; one without a name where results have no sections.
    public var sectionIdentifiers: [String] { state.sections.names }
    public var numberOfSections: Int { state.sections.count }
    public var numberOfItems: Int { state.list.count }
    /// Every id, in order.
    public var itemIdentifiers: [ObjectID] { Array(state.list) }

    /// The ids of a section, by its number.
    public func itemIdentifiers(inSection section: Int) -> [ObjectID] {
        Array(state.list[state.sections.range(section)])
    }

    public func numberOfItems(inSection section: Int) -> Int { state.sections.range(section).count }

    public func itemIdentifier(at indexPath: IndexPath) -> ObjectID {
        state.list[state.sections.range(indexPath[0]).lowerBound + indexPath[1]]
    }

    /// The id in a place of the whole list.
    public subscript(place: Int) -> ObjectID { state.list[place] }
}

/// What changed from one list of results to the next.
///
/// Index paths of `deletions`, of `deletedSections` and the `from` of moves speak of the old list, all others of the
/// new one. A table takes out what is deleted and moved, then the deleted sections, then puts in the inserted sections
/// and, ascending, what is inserted and moved.
public struct FetchedResultsDifference: Sendable {
    /// An object that stands elsewhere, or where it stood and is another.
    public struct Move: Sendable, Hashable {
        public let objectID: ObjectID
        public let from: IndexPath
        public let to: IndexPath
    }
    /// An object that came or went.
    public struct Place: Sendable, Hashable {
        public let objectID: ObjectID
        public let indexPath: IndexPath
    }

    private let change: ResultsChange

    init(_ change: ResultsChange) { self.change = change }

    public var deletedSections: [Int] { change.deletedSections }
    public var insertedSections: [Int] { change.insertedSections }

    public var deletions: [Place] {
        change.deletions.map { Place(objectID: $0.id, indexPath: change.before.indexPath($0.place)) }
    }
    public var insertions: [Place] {
        change.insertions.map { Place(objectID: $0.id, indexPath: change.after.indexPath($0.place)) }
    }
    public var moves: [Move] { change.moves.map(move) }
    /// Objects that stand where they stood among those that stay, and hold or show other values.
    public var updates: [Move] { change.updates.map(move) }

    private func move(_ move: ResultsChange.Move) -> Move {
        Move(
            objectID: move.id, from: change.before.indexPath(move.old), to: change.after.indexPath(move.new))
    }

    /// The change of the whole list, sections aside, as the standard library has it; a move is a removal and an insertion
    /// that name each other.
    public var collectionDifference: CollectionDifference<ObjectID> {
        var changes: [CollectionDifference<ObjectID>.Change] = []
        for object in change.deletions {
            changes.append(.remove(offset: object.place, element: object.id, associatedWith: nil))
        }
        for object in change.insertions {
            changes.append(.insert(offset: object.place, element: object.id, associatedWith: nil))
        }
        for move in change.moves {
            changes.append(.remove(offset: move.old, element: move.id, associatedWith: move.new))
            changes.append(.insert(offset: move.new, element: move.id, associatedWith: move.old))
        }
        return CollectionDifference(changes) ?? [ObjectID]().difference(from: [])
    }
}
