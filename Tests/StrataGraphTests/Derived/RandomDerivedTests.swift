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
    private var generator: SeededGenerator
    private let container: PersistentContainer
    private let contexts: [ManagedObjectContext]
    private var names = ["Ada", "ÉMILE", "straße", "", "ñ"]

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        container = try DerivedModel.container(try DerivedModel.model())
        contexts = [container.newBackgroundContext(), container.newBackgroundContext()]
        for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
        let context = contexts[0]
        for name in names {
            _ = try context.make("Customer", ["name": name, "address": ["city": name + "ville"]])
            _ = try context.make("Product", ["name": name, "grams": Int32(name.utf8.count)])
            _ = try context.make("Tag", ["name": name])
            _ = try context.make("Order", ["title": name])
        }
        try context.save()
        contexts[1].refreshAllObjects()
    }

    private mutating func pick(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
        try context.all(entity).sorted { $0.objectID < $1.objectID }.randomElement(using: &generator)
    }

    private mutating func name() -> String? { (names + [nil]).randomElement(using: &generator) ?? nil }

    /// A few changes in one context, then a save; now and then a batch.
    mutating func step() throws -> String {
        let number = Int.random(in: 0..<contexts.count, using: &generator)
        let context = contexts[number]
        if Int.random(in: 0..<8, using: &generator) == 0 { return try batch(context) }
        var done: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) { done.append(try change(context)) }
        if Bool.random(using: &generator) {
            context.refreshAllObjects()
            done.append("refresh")
        }
        try context.save()
        return "\(number): \(done.joined(separator: ", ")), save"
    }

    private mutating func change(_ context: ManagedObjectContext) throws -> String {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0:
            _ = try context.make("Order", ["title": name(), "rate": Double(Int.random(in: 0..<9, using: &generator))])
            return "new order"
        case 1, 2:
            let item = try context.make("Item", ["price": Decimal(Int.random(in: -9..<99, using: &generator))])
            try item.setValue(try pick("Order", context), forKey: "order")
            try item.setValue(try pick("Product", context), forKey: "product")
            return "new item"
        case 3: return try set("Item", "price", Decimal(Int.random(in: 0..<99, using: &generator)), context)
        case 4: return try set("Item", "order", try pick("Order", context), context)
        case 5: return try set("Item", "product", try pick("Product", context), context)
        case 6: return try set("Order", "customer", try pick("Customer", context), context)
        case 7: return try set("Product", "grams", Int32(Int.random(in: 0..<50, using: &generator)), context)
        case 8:
            let entity = ["Order", "Customer", "Product"].randomElement(using: &generator) ?? "Order"
            return try set(entity, entity == "Order" ? "title" : "name", name(), context)
        case 9:
            let tags = try context.all("Tag").filter { _ in Bool.random(using: &generator) }
            return try set("Order", "tags", tags, context)
        case 10: return try set("Order", "rate", Double(Int.random(in: 0..<9, using: &generator)), context)
        default:
            let entity = ["Item", "Item", "Order", "Tag", "Customer"].randomElement(using: &generator) ?? "Item"
            guard let object = try pick(entity, context), try context.all(entity).count > 2 else { return "nothing" }
            context.delete(object)
            return "delete \(object.objectID)"
        }
    }

    private mutating func set(
        _ entity: String, _ key: String, _ value: Any?, _ context: ManagedObjectContext
    ) throws -> String {
        guard let object = try pick(entity, context) else { return "nothing" }
        try object.setValue(value, forKey: key)
        return "\(object.objectID).\(key)"
    }

    private mutating func batch(_ context: ManagedObjectContext) throws -> String {
        guard let order = try pick("Order", container.newBackgroundContext()) else { return "nothing" }
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            let rows: [[String: AttributeValue]] = (0..<5).map {
                ["price": .decimal(Decimal($0)), "order": .objectID(order.objectID)]
            }
            _ = try context.execute(BatchInsertRequest<ManagedObject>(entityName: "Item", rows))
            return "batch insert"
        case 1:
            _ = try context.execute(
                BatchUpdateRequest<ManagedObject>(
                    entityName: "Item", where: try FetchPredicate(format: "price < 20"),
                    setting: ["price": try FetchExpression(format: "price + 1")]))
            return "batch update"
        default:
            _ = try context.execute(
                BatchDeleteRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "price > 80")))
            return "batch delete"
        }
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
