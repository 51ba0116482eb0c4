import Foundation
import StrataGraph
import StrataModel
import Testing

/// What a table shows: it knows the results only by what it was told of their changes.
final class Table<Object: ManagedObject>: FetchedResultsControllerDelegate {
    struct Section: Equatable {
        var name: String
        var ids: [ObjectID]
    }

    private(set) var sections: [Section] = []
    private(set) var flat: [ObjectID] = []
    /// Objects told of as inserted, moved or updated since `forget()`.
    private(set) var told: Set<ObjectID> = []
    private(set) var calls: [String] = []
    /// What was told that no table could do.
    private(set) var faults: [String] = []
    private var deleted: [IndexPath] = []
    private var inserted: [(ObjectID, IndexPath)] = []
    private var updated: [(ObjectID, IndexPath, IndexPath)] = []
    private var deletedSections: [Int] = []
    private var insertedSections: [(Int, String)] = []
    private var isOpen = false
    private var snapshot: FetchedResultsSnapshot?

    init() {}

    func load(_ controller: FetchedResultsController<Object>) {
        sections = (controller.sections ?? []).map { Section(name: $0.name, ids: $0.objects.objectIDs) }
        flat = controller.snapshot.itemIdentifiers
        told = []
        calls = []
    }

    func forget() {
        told = []
        calls = []
        faults = []
    }

    // MARK: What is told

    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {
        if isOpen { faults.append("a change inside a change") }
        isOpen = true
        (deleted, inserted, updated, deletedSections, insertedSections) = ([], [], [], [], [])
        calls.append("will")
    }

    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {
        calls.append("section \(type) \(index)")
        if type == .delete { deletedSections.append(index) } else { insertedSections.append((index, section.name)) }
    }

    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        func text(_ path: IndexPath?) -> String { path.map { "\($0[0]).\($0[1])" } ?? "-" }
        calls.append("\(type) \(text(indexPath)) \(text(newIndexPath))")
        let id = object.objectID
        if type != .delete { told.insert(id) }
        switch (type, indexPath, newIndexPath) {
        case (.insert, nil, let new?): inserted.append((id, new))
        case (.delete, let old?, nil): deleted.append(old)
        case (.move, let old?, let new?):
            deleted.append(old)
            inserted.append((id, new))
        case (.update, let old?, let new?): updated.append((id, old, new))
        default: faults.append("\(type) at \(text(indexPath)), \(text(newIndexPath))")
        }
    }

    func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {
        self.snapshot = snapshot
    }

    func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith difference: CollectionDifference<ObjectID>
    ) {
        guard let applied = flat.applying(difference) else { return faults.append("the difference does not apply") }
        flat = applied
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {
        isOpen = false
        calls.append("did")
        for (id, old, _) in updated where sections[old[0]].ids[old[1]] != id { faults.append("updated from elsewhere") }
        for path in deleted.sorted(by: >) { sections[path[0]].ids.remove(at: path[1]) }
        for section in deletedSections.sorted(by: >) {
            if !sections[section].ids.isEmpty { faults.append("a section was deleted with objects in it") }
            sections.remove(at: section)
        }
        for (section, name) in insertedSections.sorted(by: { $0.0 < $1.0 }) {
            sections.insert(Section(name: name, ids: []), at: section)
        }
        for (id, path) in inserted.sorted(by: { $0.1 < $1.1 }) { sections[path[0]].ids.insert(id, at: path[1]) }
        for (id, _, new) in updated where sections[new[0]].ids[new[1]] != id { faults.append("updated to elsewhere") }
        guard let snapshot else { return faults.append("no snapshot") }
        if flat != sections.flatMap(\.ids) { faults.append("the difference gives another list than the calls") }
        if flat != snapshot.itemIdentifiers || sections.map(\.name) != snapshot.sectionIdentifiers {
            faults.append("the snapshot is another list than the calls give")
        }
    }
}
