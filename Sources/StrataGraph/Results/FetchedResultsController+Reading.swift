public import Foundation
public import StrataModel

extension FetchedResultsController {
    /// The objects in order, made when they are looked at; nil before `performFetch()`.
    public var fetchedObjects: ResultObjects<Object>? {
        tracker.map { ResultObjects($0.results.list, 0..<$0.results.list.count, managedObjectContext) }
    }

    /// The sections in order; one without a name where there is no section key path; nil before `performFetch()`.
    public var sections: [FetchedResultsSection<Object>]? {
        tracker.map { tracker in tracker.results.sections.names.indices.map { info($0, tracker.results) } }
    }

    /// The ids in order, by section: a value that can be sent anywhere.
    public var snapshot: FetchedResultsSnapshot { FetchedResultsSnapshot(state) }

    /// The object in a place; one that is not there is misuse and traps.
    public func object(at indexPath: IndexPath) -> Object {
        guard let object = object(snapshot.itemIdentifier(at: indexPath)) else {
            preconditionFailure("The objects of the request are not \(Object.self).")
        }
        return object
    }

    /// Where an object stands; nil when it is not among the results.
    ///
    /// - Complexity: O(log n) rows are read; with a `rerunReason`, O(n).
    public func indexPath(forObject object: Object) -> IndexPath? { indexPath(forObjectID: object.objectID) }

    /// Where the object with an id stands; nil when it is not among the results.
    public func indexPath(forObjectID id: ObjectID) -> IndexPath? {
        guard let tracker else { return nil }
        do {
            return try tracker.place(of: id).map(tracker.results.indexPath)
        } catch {
            managedObjectContext.report(ManagedObjectContext.typed(error))
            return nil
        }
    }

    // MARK: Index titles

    /// The title in an index for a section of this name: its first letter, upper case, unless the delegate says
    /// otherwise.
    public func sectionIndexTitle(forSectionName name: String) -> String? { indexTitle(name) }

    /// The titles of all sections, each once, in order.
    public var sectionIndexTitles: [String] { titledSections.map(\.title) }

    /// The first section with a title.
    ///
    /// - Parameter index: the title's place among `sectionIndexTitles`.
    /// - Returns: nil for a title that is not there.
    public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
        let all = titledSections
        if all.indices.contains(index), all[index].title == title { return all[index].section }
        return all.first { $0.title == title }?.section
    }

    private var titledSections: [(title: String, section: Int)] {
        var seen: Set<String> = []
        return state.sections.names.enumerated().compactMap { section, name in
            guard let title = indexTitle(name), seen.insert(title).inserted else { return nil }
            return (title, section)
        }
    }
}

/// Objects of a list of results, made when they are looked at; the list stays as it was when it was asked for.
public struct ResultObjects<Object: ManagedObject>: RandomAccessCollection {
    private let list: IdentifierList
    private let range: Range<Int>
    private let context: ManagedObjectContext

    init(_ list: IdentifierList, _ range: Range<Int>, _ context: ManagedObjectContext) {
        self.list = list
        self.range = range
        self.context = context
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }
    /// The ids of the objects, in order.
    public var objectIDs: [ObjectID] { Array(list[range]) }

    public subscript(position: Int) -> Object {
        guard let object = context.registeredOrFault(list[range.lowerBound + position]),
            let typed = ManagedObjectContext.cast(object, to: Object.self)
        else { preconditionFailure("The objects of the request are not \(Object.self).") }
        return typed
    }
}

/// A section of results.
public struct FetchedResultsSection<Object: ManagedObject> {
    public let name: String
    /// The title in an index.
    public let indexTitle: String?
    public let objects: ResultObjects<Object>
    public var numberOfObjects: Int { objects.count }
}
