public import Foundation
public import StrataModel

extension FetchedResultsController {
    /// The objects in order, each made when it is accessed; nil before `performFetch()`.
    public var fetchedObjects: ResultObjects<Object>? {
        tracker.map { ResultObjects($0.results.list, 0..<$0.results.list.count, managedObjectContext) }
    }

    /// The sections in order; nil before `performFetch()`. Without a section key path there is one, with an empty name.
    public var sections: [FetchedResultsSection<Object>]? {
        tracker.map { tracker in tracker.results.sections.names.indices.map { info($0, tracker.results) } }
    }

    /// The ids in order, by section, as a value that can be sent anywhere.
    public var snapshot: FetchedResultsSnapshot { FetchedResultsSnapshot(state) }

    /// The object at an index path, which must exist.
    public func object(at indexPath: IndexPath) -> Object {
        guard let object = object(snapshot.itemIdentifier(at: indexPath)) else {
            preconditionFailure("The objects of the request are not \(Object.self).")
        }
        return object
    }

    /// The index path of an object; nil if it is not among the results.
    ///
    /// - Complexity: reads O(log n) rows; with a `rerunReason`, compares O(n) ids.
    public func indexPath(forObject object: Object) -> IndexPath? { indexPath(forObjectID: object.objectID) }

    /// The index path of the object with an id; nil if it is not among the results.
    ///
    /// Errors in reading go to the context's `faultingErrorHandler`.
    public func indexPath(forObjectID id: ObjectID) -> IndexPath? {
        guard let tracker else { return nil }
        do {
            return try tracker.index(of: id).map(tracker.results.indexPath)
        } catch {
            managedObjectContext.report(ManagedObjectContext.typed(error))
            return nil
        }
    }

    // MARK: Index titles

    /// The index title for a section name: its first letter in upper case, unless the delegate gives another.
    public func sectionIndexTitle(forSectionName name: String) -> String? { indexTitle(name) }

    /// The index titles of all sections, each once, in order.
    public var sectionIndexTitles: [String] { titledSections.map(\.title) }

    /// The first section with an index title.
    ///
    /// - Parameter index: the index of the title in `sectionIndexTitles`.
    /// - Returns: nil for an unknown title.
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

/// The objects of a list of results, each made when it is accessed. The list does not change.
public struct ResultObjects<Object: ManagedObject>: RandomAccessCollection {
    private let list: IdentifierList
    private let range: Range<Int>
    private let context: ManagedObjectContext

    init(_ list: IdentifierList, _ range: Range<Int>, _ context: ManagedObjectContext) {
        self.list = list
        self.range = range
        self.context = context
    }

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { range.count }
    /// The ids of the objects, in order.
    public var objectIDs: [ObjectID] { Array(list[range]) }

    /// The object at an index, as a fault if it is not in memory.
    public subscript(position: Int) -> Object {
        guard let object = context.registeredOrFault(list[range.lowerBound + position]),
            let typed = ManagedObjectContext.cast(object, to: Object.self)
        else { preconditionFailure("The objects of the request are not \(Object.self).") }
        return typed
    }
}

/// A section of fetched results.
public struct FetchedResultsSection<Object: ManagedObject> {
    /// The name that the section naming gave it.
    public let name: String
    /// The title of the section in an index.
    public let indexTitle: String?
    /// The objects of the section, in order.
    public let objects: ResultObjects<Object>
    /// The number of objects.
    public var numberOfObjects: Int { objects.count }
}
