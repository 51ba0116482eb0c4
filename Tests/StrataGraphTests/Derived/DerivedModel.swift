import Foundation
import StrataGraph
import StrataModel

/// Orders with items of products, customers with addresses, and tags: every form of derivation.
enum DerivedModel {
    static func model(_ change: (inout [EntityDescription]) throws -> Void = { _ in }) throws -> ManagedObjectModel {
        var entities = try [order(), item(), product(), customer(), tag()]
        try change(&entities)
        return try ManagedObjectModel(entities: entities)
    }

    static func derived(
        _ name: String, _ type: AttributeType, _ expression: String, isOptional: Bool = true
    ) throws -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: isOptional,
                derivationExpression: try FetchExpression(format: expression)))
    }

    static func plain(_ name: String, _ type: AttributeType) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true))
    }

    static func link(
        _ name: String, _ target: String, _ inverse: String?, isToMany: Bool = false, isOrdered: Bool = false,
        _ rule: DeleteRule = .nullify
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: target, inverseName: inverse, hasNoInverse: inverse == nil,
                isToMany: isToMany, isOrdered: isOrdered, deleteRule: rule))
    }

    private static func order() throws -> EntityDescription {
        EntityDescription(
            name: "Order",
            properties: [
                plain("title", .string), plain("rate", .double),
                link("items", "Item", "order", isToMany: true, isOrdered: true, .cascade),
                link("tags", "Tag", "orders", isToMany: true), link("customer", "Customer", "orders"),
                try derived("sortTitle", .string, "canonical:(title)"),
                try derived("loudTitle", .string, "uppercase:(title)"),
                try derived("itemCount", .integer64, "items.@count", isOptional: false),
                try derived("total", .decimal, "items.price.@sum", isOptional: false),
                try derived("weight", .integer32, "items.product.grams.@sum"),
                try derived("tagCount", .integer16, "tags.@count"),
                try derived("customerName", .string, "lowercase:(customer.name)"),
                try derived("city", .string, "customer.address.city"),
                try derived("siblings", .integer32, "customer.orders.@count"),
                try derived("modified", .date, "now()"),
            ],
            indexes: [FetchIndexDescription(name: "byCount", elements: [FetchIndexElement("itemCount")])])
    }

    private static func item() throws -> EntityDescription {
        EntityDescription(
            name: "Item",
            properties: [
                plain("price", .decimal), link("order", "Order", "items"), link("product", "Product", nil),
                try derived("productName", .string, "product.name"),
            ])
    }

    private static func product() -> EntityDescription {
        EntityDescription(name: "Product", properties: [plain("name", .string), plain("grams", .integer32)])
    }

    private static func customer() -> EntityDescription {
        let address = AttributeDescription(
            name: "address", type: .composite, isOptional: true,
            elements: [AttributeDescription(name: "city", type: .string, isOptional: true)])
        return EntityDescription(
            name: "Customer",
            properties: [
                plain("name", .string), .attribute(address), link("orders", "Order", "customer", isToMany: true),
            ])
    }

    private static func tag() throws -> EntityDescription {
        EntityDescription(
            name: "Tag",
            properties: [
                plain("name", .string), link("orders", "Order", "tags", isToMany: true),
                try derived("rates", .double, "orders.rate.@sum"),
            ])
    }

    static func container(
        _ model: ManagedObjectModel, at location: PersistentStoreLocation = .inMemory,
        limits: Int? = nil
    ) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Test", model: model, at: location, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }
}

extension ManagedObjectContext {
    @discardableResult func make(_ entity: String, _ values: [String: Any?] = [:]) throws -> ManagedObject {
        let object = try insertNewObject(forEntityName: entity)
        for (key, value) in values { try object.setValue(value, forKey: key) }
        return object
    }

    func all(_ entity: String, _ format: String? = nil) throws -> [ManagedObject] {
        var request = FetchRequest<ManagedObject>(entityName: entity)
        if let format { request.predicate = try FetchPredicate(format: format) }
        return try fetch(request)
    }
}

extension ManagedObject {
    func get<Value>(_ key: String, as type: Value.Type = Value.self) throws -> Value? {
        try value(forKey: key) as? Value
    }
}
