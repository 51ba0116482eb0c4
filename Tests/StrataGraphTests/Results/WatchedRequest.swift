import StrataGraph
import StrataModel

/// One controller with the table that it tells.
struct WatchedRequest {
    let controller: FetchedResultsController<ManagedObject>
    let table = Table<ManagedObject>()
    let name: String

    init(_ controller: FetchedResultsController<ManagedObject>, _ name: String) throws {
        self.controller = controller
        self.name = name
        controller.delegate = table
        try controller.performFetch()
        table.load(controller)
    }

    /// What is wrong with the table: it must show what a new fetch finds.
    func problem() throws -> String? {
        if let fault = table.faults.first { return "\(name): \(fault)\n\(table.calls.joined(separator: ", "))" }
        let expected = try controller.managedObjectContext.fetchObjectIDs(controller.fetchRequest)
        guard table.flat == expected else {
            return "\(name): shown \(table.flat), found \(expected)\n\(table.calls.joined(separator: ", "))"
        }
        let fresh = FetchedResultsController(
            fetchRequest: controller.fetchRequest, context: controller.managedObjectContext,
            sectionNameKeyPath: controller.sectionNameKeyPath)
        try fresh.performFetch()
        let sections = (fresh.sections ?? []).map {
            Table<ManagedObject>.Section(name: $0.name, ids: $0.objects.objectIDs)
        }
        guard table.sections == sections else {
            return "\(name): sections \(table.sections), found \(sections)\n\(table.calls.joined(separator: ", "))"
        }
        return nil
    }
}
