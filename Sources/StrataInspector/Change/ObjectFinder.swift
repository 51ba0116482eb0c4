import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Finds the objects that values of relationships name.
final class ObjectFinder {
    let store: Store
    let context: ManagedObjectContext
    let input: AttributeInput
    private struct Key: Hashable {
        let entity: EntityID
        let attribute: String
        let value: AttributeValue
    }
    /// Objects found by an attribute so far.
    private var known: [Key: ObjectID] = [:]
    private static let mostKnown = 200_000
    /// Rows that an import has not saved yet.
    var pending: PendingRows?
    /// The number of objects that `create` made and saved.
    private(set) var createdCount = 0

    init(_ store: Store, _ context: ManagedObjectContext, dates: DateForm = .usual) {
        self.store = store
        self.context = context
        input = AttributeInput(dates: dates) { text in
            do {
                return try ObjectReference.parse(text, in: store)
            } catch let error as UsageError {
                throw InputError(error.message)
            }
        }
    }

    /// - Parameter key: the attribute that names the object; nil when the value is a reference such as `Drawer/p3`.
    /// - Throws: `UsageError` if no object, or more than one, has the value.
    func object(_ value: InputValue, by key: String?, in entity: EntityID, _ path: String) throws -> ObjectID {
        guard let id = try find(value, by: key, in: entity, path) else {
            throw UsageError("\(path): there is no \(name(of: entity)) whose \(key ?? "id") is '\(value.text ?? "")'.")
        }
        return id
    }

    /// nil when there is none.
    ///
    /// - Throws: `PendingRows.NamedTooEarly` if the object is a row that is not saved yet.
    func find(_ value: InputValue, by key: String?, in entity: EntityID, _ path: String) throws -> ObjectID? {
        guard let key else {
            guard let text = value.text else {
                throw UsageError("\(path) takes a reference such as \(name(of: entity))/p1, not \(value.kindName).")
            }
            do {
                return try ObjectReference.parse(text, in: store)
            } catch let error as UsageError {
                throw UsageError("\(path): \(error.message)")
            }
        }
        guard let schema = store.schema.entity(entity), let attribute = schema.property(named: key)?.attribute else {
            let properties = store.schema.entity(entity)?.properties ?? []
            let known = NameSuggestions(properties.filter { $0.attribute != nil }.map(\.name))
            throw UsageError("\(path): \(name(of: entity)) has no attribute '\(key)'.\(known.hint(for: key))")
        }
        let sought: AttributeValue
        do {
            sought = try input.value(value, for: attribute)
        } catch let error as InputError {
            throw UsageError("\(path): \(error.message)")
        }
        let known = Key(entity: entity, attribute: key, value: sought)
        if let id = self.known[known] { return id }
        let request = StoreRequest(entityID: entity, predicate: .equal(key, sought), limit: 2)
        let ids = try store.read(at: try store.head()) { try $0.fetch(request) }
        guard ids.count < 2 else {
            throw UsageError(
                "\(path): more than one \(schema.name) has '\(value.text ?? "")' as its \(key); name it by reference.")
        }
        guard let id = ids.first else {
            if pending?.hold(sought, of: key, in: schema) == true { throw PendingRows.NamedTooEarly() }
            return nil
        }
        self.known[known] = id
        return id
    }

    /// Whether the store has the object now.
    func isThere(_ id: ObjectID) throws -> Bool {
        try store.read(at: try store.head()) { try $0.row(id) != nil }
    }

    /// Makes an object, which `saveCreated` saves. `find` finds it from now on.
    func create(_ key: String, _ value: AttributeValue, in entity: EntitySchema) throws -> ObjectID {
        let object = try context.insertNewObject(forEntityName: entity.name)
        try object.setValue(value, forKey: key)
        known[Key(entity: entity.id, attribute: key, value: value)] = object.objectID
        return object.objectID
    }

    /// Saves what was created, in one transaction.
    func saveCreated() throws {
        let count = context.insertedObjects.count
        if count > 0 { try context.save() }
        createdCount += count
        // The objects are in the store now, so they need not be remembered.
        if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
    }

    private func name(of entity: EntityID) -> String { store.schema.entity(entity)?.name ?? "object" }
}
