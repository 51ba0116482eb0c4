import StrataGraph
import StrataModel
import StrataTestSupport

/// A context that changes and moves at random in every way there is, beside a child and another context.
struct DerivedFamily {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let child: ManagedObjectContext
    let other: ManagedObjectContext
    var changes: DerivedChanges
    /// The object that the last step had read again.
    private(set) var reread: ObjectID?

    init(seed: UInt64) throws {
        changes = DerivedChanges(seed: seed)
        container = try DerivedModel.container(
            try DerivedModel.model { entities in
                entities[0].properties.append(
                    .attribute(AttributeDescription(name: "note", type: .string, isOptional: true, isTransient: true)))
            })
        context = container.newBackgroundContext()
        other = container.newBackgroundContext()
        child = try context.newChildContext()
        for context in [context, child, other] { context.mergePolicy = .mergeByPropertyObjectTrump }
        try changes.begin(context)
        for _ in 0..<25 { _ = try changes.change(context) }
        try context.save()
        context.undoManager = ObjectUndoManager()
    }

    /// - Returns: what the step did.
    mutating func step() throws -> String {
        reread = nil
        switch changes.chance(22) {
        case 0..<6:
            let text = try change(context)
            context.processPendingChanges()
            return text
        case 6, 7: return try "save, \(change(context))\(save(context))"
        case 8..<11:
            if changes.chance(2) == 0 { other.refreshAllObjects() }
            return try "other saves, \(change(other))\(save(other))"
        case 11, 12:
            context.refreshAllObjects()
            return "refresh"
        case 13, 14:
            if changes.chance(2) == 0 { child.refreshAllObjects() }
            return try "child saves, \(change(child))\(save(child))"
        case 15:
            let isOther = changes.chance(2) == 0
            return try "\(isOther ? "other" : "own") "
                + changes.batch(isOther ? other : context, container.newBackgroundContext())
        case 16: return try undoOrRedo()
        case 17:
            guard changes.chance(2) == 0 else { return try refreshOne() }
            context.rollback()
            return "rollback"
        case 18: return try revert()
        case 19: return try merge()
        case 20:
            context.automaticallyMergesChangesFromParent.toggle()
            _ = try context.all("Tag")
            return "automatic: \(context.automaticallyMergesChangesFromParent)"
        default:
            guard changes.chance(3) == 0 else { return "nothing" }
            context.reset()
            return "reset"
        }
    }

    private mutating func change(_ context: ManagedObjectContext) throws -> String {
        try (0...changes.chance(3)).map { _ in try changes.change(context) }.joined(separator: "; ")
    }

    /// What is refused is dropped.
    private func save(_ context: ManagedObjectContext) throws -> String {
        do {
            try context.save()
            return ""
        } catch let error as StrataError where [.merge, .deletedObject].contains(error.code) {
            context.rollback()
            return ", refused"
        }
    }

    private mutating func undoOrRedo() throws -> String {
        guard changes.chance(3) > 0 else {
            try context.redo()
            return "redo"
        }
        try context.undo()
        return "undo"
    }

    private mutating func refreshOne() throws -> String {
        let entity = ["Order", "Item", "Customer"].randomElement(using: &changes.generator) ?? "Order"
        guard let object = try changes.pick(entity, context) else { return "nothing" }
        let keepsChanges = changes.chance(2) == 0
        context.refresh(object, mergeChanges: keepsChanges)
        return "refresh \(object.objectID), keeping: \(keepsChanges)"
    }

    private mutating func merge() throws -> String {
        let transactions = try container.transactions()
        guard let last = transactions.suffix(3).randomElement(using: &changes.generator), changes.chance(2) == 0 else {
            guard let order = try changes.pick("Order", container.newBackgroundContext()) else { return "nothing" }
            reread = order.objectID
            try context.mergeChanges(fromObjectIDs: [order.objectID])
            return "merge \(order.objectID)"
        }
        try context.mergeChanges(from: last.number)
        return "merge \(last.number)"
    }

    private mutating func revert() throws -> String {
        // The first installs the model.
        guard let last = try container.transactions().dropFirst(2).suffix(3).randomElement(using: &changes.generator)
        else { return "nothing" }
        do {
            try context.revert(last.number, policy: .mergeByPropertyObjectTrump)
            return "revert \(last.number)"
        } catch let error as StrataError where error.code == .merge {
            return "no revert of \(last.number)"
        }
    }
}

// MARK: What objects show

extension DerivedFamily {
    /// The attributes and to-ones of each entity; of a composite its element.
    static let keys: [String: [String]] = [
        "Order": [
            "title", "rate", "sortTitle", "loudTitle", "itemCount", "total", "weight", "tagCount", "customerName",
            "city",
            "siblings", "modified", "customer",
        ],
        "Item": ["price", "productName", "order", "product"], "Product": ["name", "grams"],
        "Customer": ["name", "address.city"], "Tag": ["name", "rates"],
    ]

    /// The values that an object shows, in the order of the keys of its entity.
    static func values(of object: ManagedObject) throws -> [AttributeValue] {
        try (keys[object.entity.name] ?? []).map { key in
            switch try object.value(forKeyPath: key) {
            case let target as ManagedObject: .objectID(target.objectID)
            case let value as any StorableValue: value.attributeValue
            default: .null
            }
        }
    }

    /// The same of every object, as requests read them.
    static func rows(_ context: ManagedObjectContext) throws -> [ObjectID: [AttributeValue]] {
        var rows: [ObjectID: [AttributeValue]] = [:]
        for (entity, keys) in keys {
            let request = RowsFetchRequest(
                entityName: entity, columns: [OutputColumn("self", .evaluatedObject)] + keys.map { OutputColumn($0) })
            for row in try context.fetchRows(request).dictionaries {
                guard case .objectID(let id)? = row["self"] else { continue }
                rows[id] = keys.map { row[$0] ?? .null }
            }
        }
        return rows
    }
}
