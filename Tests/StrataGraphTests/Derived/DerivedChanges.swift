import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport

/// Random changes to objects of `DerivedModel`, in a context or by a batch.
struct DerivedChanges {
    var generator: SeededGenerator
    private static let names = ["Ada", "ÉMILE", "straße", "", "ñ"]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Saves some objects of each entity but items.
    func begin(_ context: ManagedObjectContext) throws {
        for name in Self.names {
            _ = try context.make("Customer", ["name": name, "address": ["city": name + "ville"]])
            _ = try context.make("Product", ["name": name, "grams": Int32(name.utf8.count)])
            _ = try context.make("Tag", ["name": name])
            _ = try context.make("Order", ["title": name])
        }
        try context.save()
    }

    mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    mutating func pick(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
        try context.all(entity).sorted { $0.objectID < $1.objectID }.randomElement(using: &generator)
    }

    private mutating func name() -> String? { (Self.names + [nil]).randomElement(using: &generator) ?? nil }

    mutating func change(_ context: ManagedObjectContext) throws -> String {
        switch chance(12) {
        case 0:
            _ = try context.make("Order", ["title": name(), "rate": Double(chance(9))])
            return "new order"
        case 1, 2:
            let item = try context.make("Item", ["price": Decimal(Int.random(in: -9..<99, using: &generator))])
            try item.setValue(try pick("Order", context), forKey: "order")
            try item.setValue(try pick("Product", context), forKey: "product")
            return "new item"
        case 3: return try set("Item", "price", Decimal(chance(99)), context)
        case 4: return try set("Item", "order", try pick("Order", context), context)
        case 5: return try set("Item", "product", try pick("Product", context), context)
        case 6: return try set("Order", "customer", try pick("Customer", context), context)
        case 7: return try set("Product", "grams", Int32(chance(50)), context)
        case 8:
            let entity = ["Order", "Customer", "Product"].randomElement(using: &generator) ?? "Order"
            return try set(entity, entity == "Order" ? "title" : "name", name(), context)
        case 9:
            let tags = try context.all("Tag").filter { _ in Bool.random(using: &generator) }
            return try set("Order", "tags", tags, context)
        case 10: return try set("Order", "rate", Double(chance(9)), context)
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

    /// - Parameter fresh: a context that shows what is saved.
    mutating func batch(_ context: ManagedObjectContext, _ fresh: ManagedObjectContext) throws -> String {
        guard let order = try pick("Order", fresh) else { return "nothing" }
        switch chance(3) {
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
}
