import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// As `RandomResultsTests`, with results ordered and divided by derived attributes, by elements of composites and by
/// values over to-ones whose targets change, and with every way in which a context changes and moves: undo, reverts,
/// batches, children, merges.
@Suite(.verifiesStores) struct RandomOrderedResultsTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...200)))
    func whatIsToldGivesTheNewResultsInEveryOrder(_ seed: UInt64) throws {
        var run = try OrderedResultsRun(seed: seed)
        var steps: [String] = []
        for step in 0..<16 {
            steps.append(try run.step())
            if let problem = try run.problem() {
                Issue.record("seed \(seed), step \(step): \(problem)\n\(steps.joined(separator: "\n"))")
                return
            }
        }
        #expect(run.shownCount > 0, "Nothing was ever shown.")
    }
}

private struct OrderedResultsRun {
    var family: DerivedFamily
    var watched: [WatchedRequest] = []
    /// What the objects of each request showed after the last step.
    var values: [[ObjectID: [AttributeValue]]] = []
    var shownCount = 0

    init(seed: UInt64) throws {
        family = try DerivedFamily(seed: seed)
        for index in 0..<4 {
            watched.append(try watch(isWhole: index == 0))
            values.append(try shown(watched[index]))
        }
    }

    private static let conditions: [String: [String?]] = [
        "Order": [
            nil, nil, "itemCount > 1", "total > 50", "customer.name != nil", "city BEGINSWITH 'A'",
            "ANY items.price > 40", "tags.@count >= 2", "ANY tags.rates > 5", "siblings > 1 OR rate > 3",
            "SUBQUERY(items, $i, $i.product.grams > 3).@count > 0", "customer.address.city CONTAINS 'v'",
            "ALL items.order.tagCount > 1", "weight > 10 AND NOT loudTitle == 'ADA'",
        ],
        "Item": [
            nil, "order.itemCount > 1", "productName != nil", "order.customer.name == 'Ada'", "price > 30",
            "ANY order.tags.name == 'Ada'", "order.total > price",
        ],
        "Tag": [nil, "rates > 4", "orders.@count > 1", "ANY orders.customer.name != nil"],
    ]
    private static let orders: [String: [String]] = [
        "Order": [
            "title", "rate", "itemCount", "total", "weight", "tagCount", "customerName", "city", "siblings", "modified",
            "customer.name", "customer.address.city", "sortTitle", "loudTitle", "items.@count",
        ],
        "Item": [
            "price", "productName", "product.name", "product.grams", "order.title", "order.total", "order.itemCount",
            "order.customer.name", "order.customer.address.city", "order.city",
        ],
        "Tag": ["name", "rates", "orders.@count"],
    ]

    /// - Parameter isWhole: whether all objects of an entity that has some are to be shown.
    private mutating func watch(isWhole: Bool = false) throws -> WatchedRequest {
        func chance(_ count: Int) -> Int { family.changes.chance(count) }
        let entity = isWhole ? "Order" : ["Order", "Order", "Item", "Item", "Tag"][chance(5)]
        let conditions = Self.conditions[entity] ?? []
        let format = isWhole ? nil : conditions[chance(conditions.count)]
        let keys = Self.orders[entity] ?? []
        let order = (0...chance(2)).map { _ in
            SortDescription(
                keys[chance(keys.count)], isAscending: chance(2) == 0, nullPlacement: chance(4) == 0 ? .last : .smallest
            )
        }
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.predicate = try format.map { try FetchPredicate(format: $0) }
        request.sortDescriptors = order
        request.includesPendingChanges = isWhole || chance(6) > 0
        if !isWhole, chance(5) == 0 {
            request.fetchLimit = 1 + chance(4)
            request.fetchOffset = chance(3)
        }
        let section = chance(2) == 0 ? order.first?.keyPath : nil
        return try WatchedRequest(
            FetchedResultsController(
                fetchRequest: request, context: family.context,
                sectionNameKeyPath: section?.contains("@") == true ? nil : section),
            "\(entity) where \(format ?? "all") by \(order.map(\.description)) in \(section ?? "-") "
                + "\(request.fetchLimit)+\(request.fetchOffset)")
    }

    mutating func step() throws -> String {
        if family.changes.chance(16) == 0 {
            let index = family.changes.chance(watched.count)
            watched[index] = try watch()
            values[index] = try shown(watched[index])
            return "watch \(watched[index].name)"
        }
        return try family.step()
    }

    mutating func problem() throws -> String? {
        family.context.processPendingChanges()
        for (index, watched) in watched.enumerated() {
            if let problem = try watched.problem() { return problem }
            let now = try shown(watched)
            for (id, values) in now where !watched.table.told.contains(id) {
                guard let before = self.values[index][id], before != values else { continue }
                return "\(watched.name): \(id) is another, and no change was announced: \(before) -> \(values)"
            }
            values[index] = now
            shownCount += now.count
            watched.table.forget()
        }
        return nil
    }

    /// What the objects of a request show of themselves.
    private func shown(_ watched: WatchedRequest) throws -> [ObjectID: [AttributeValue]] {
        guard watched.controller.fetchRequest.includesPendingChanges else { return [:] }
        var shown: [ObjectID: [AttributeValue]] = [:]
        for object in watched.controller.fetchedObjects.map(Array.init) ?? [] {
            shown[object.objectID] = try DerivedFamily.values(of: object)
        }
        return shown
    }
}
