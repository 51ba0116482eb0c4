import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Two contexts and batches change values and links at random; after each save every derived attribute of every object
/// is what a plain walk over the graph makes of it, in the store and in the objects of the context that saved.
@Suite(.verifiesStores) struct RandomDerivedTests {
    @Test(arguments: RandomTesting.seeds)
    func everyDerivedValueIsWhatAPlainWalkMakesOfIt(_ seed: UInt64) throws {
        var run = try DerivedRun(seed: seed)
        var steps: [String] = []
        for step in 0..<80 {
            steps.append(try run.step())
            if let problem = try run.difference() {
                Issue.record("seed \(seed), step \(step): \(problem)\n\(steps.suffix(30).joined(separator: "\n"))")
                return
            }
        }
    }
}

private struct DerivedRun {
    private var changes: DerivedChanges
    private let container: PersistentContainer
    private let contexts: [ManagedObjectContext]

    init(seed: UInt64) throws {
        changes = DerivedChanges(seed: seed)
        container = try DerivedModel.container(try DerivedModel.model())
        contexts = [container.newBackgroundContext(), container.newBackgroundContext()]
        for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
        try changes.begin(contexts[0])
        contexts[1].refreshAllObjects()
    }

    /// A few changes in one context, then a save; now and then a batch.
    mutating func step() throws -> String {
        let number = changes.chance(contexts.count)
        let context = contexts[number]
        if changes.chance(8) == 0 { return try changes.batch(context, container.newBackgroundContext()) }
        var done: [String] = []
        for _ in 0...changes.chance(6) { done.append(try changes.change(context)) }
        if changes.chance(2) == 0 {
            context.refreshAllObjects()
            done.append("refresh")
        }
        try context.save()
        return "\(number): \(done.joined(separator: ", ")), save"
    }

    // MARK: The plain walk

    /// The first value that is not what it should be.
    func difference() throws -> String? {
        let fresh = container.newBackgroundContext()
        let expected = try Self.expectations(fresh)
        for (object, key, value) in expected where try !Self.isSame(object.value(forKey: key), value) {
            return "\(object.objectID).\(key) is \(try object.value(forKey: key) ?? "nil"), not \(value ?? "nil")"
        }
        for context in contexts {
            context.refreshAllObjects()
            for (object, key, value) in expected {
                let own = try context.existingObject(with: object.objectID)
                if try !Self.isSame(own.value(forKey: key), value) {
                    return "in a context \(object.objectID).\(key) is \(try own.value(forKey: key) ?? "nil")"
                }
            }
        }
        let counted = try fresh.all("Order", "itemCount >= 2").count
        let asked = try fresh.all("Order", "items.@count >= 2").count
        return counted == asked ? nil : "the index finds \(counted) orders, not \(asked)"
    }

    private static func isSame(_ left: Any?, _ right: Any?) -> Bool {
        (left as? AnyHashable) == (right as? AnyHashable)
    }

    private static func expectations(
        _ context: ManagedObjectContext
    ) throws -> [(ManagedObject, String, Any?)] {
        var expected: [(ManagedObject, String, Any?)] = []
        for order in try context.all("Order") {
            let title = try order.get("title", as: String.self)
            let items = try order.get("items", as: [ManagedObject].self) ?? []
            let customer = try order.get("customer", as: ManagedObject.self)
            let folded = title?.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            expected += [
                (order, "sortTitle", folded == "straße" ? "strasse" : folded),
                (order, "loudTitle", title?.uppercased()),
                (order, "itemCount", Int64(items.count)),
                (order, "total", try items.reduce(Decimal(0)) { $0 + (try $1.get("price", as: Decimal.self) ?? 0) }),
                (order, "weight", try items.reduce(Int32(0)) { try $0 + grams($1) }),
                (order, "tagCount", Int16(try order.get("tags", as: [ManagedObject].self)?.count ?? 0)),
                (order, "customerName", try customer?.get("name", as: String.self)?.lowercased()),
                (order, "city", try customer?.value(forKeyPath: "address.city")),
                (
                    order, "siblings",
                    try customer.map { Int32(try $0.get("orders", as: [ManagedObject].self)?.count ?? 0) }
                ),
            ]
            guard try order.value(forKey: "modified") is Date else { return [(order, "modified", Date())] }
        }
        for item in try context.all("Item") {
            let product = try item.get("product", as: ManagedObject.self)
            expected.append((item, "productName", try product?.get("name", as: String.self)))
        }
        for tag in try context.all("Tag") {
            let orders = try tag.get("orders", as: [ManagedObject].self) ?? []
            expected.append((tag, "rates", try orders.reduce(0.0) { $0 + (try $1.get("rate", as: Double.self) ?? 0) }))
        }
        return expected
    }

    private static func grams(_ item: ManagedObject) throws -> Int32 {
        try item.get("product", as: ManagedObject.self)?.get("grams", as: Int32.self) ?? 0
    }
}
