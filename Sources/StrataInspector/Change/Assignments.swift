import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// `name=Red`, `drawer=Drawer/p3`, `drawer.label=top`: values for properties as the command line gives them.
struct Assignments {
    static let help = """
        Values are written property=value. A to-one takes an object, drawer=Drawer/p3, or names it by an attribute that \
        no other object there shares, drawer.label=top; a to-many takes several, parted by commas. Dates are ISO 8601 or \
        seconds since 1970, booleans yes or no, data is base64 or @FILE, a composite is a JSON object. --nil PROPERTY \
        takes a value away.
        """

    private let list: [(path: String, text: String)]
    private let nils: [String]

    /// - Throws: `UsageError` for a word without `=`.
    init(_ words: [String], nils: [String]) throws {
        list = try words.map { word in
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex else {
                throw UsageError("'\(word)' is no assignment. Write property=value.")
            }
            return (String(word[..<sign]), String(word[word.index(after: sign)...]))
        }
        self.nils = nils
    }

    var isEmpty: Bool { list.isEmpty && nils.isEmpty }

    /// Gives the object the values.
    func apply(to object: ManagedObject, _ finder: ObjectFinder) throws {
        guard let entity = finder.store.schema.entity(named: object.entity.name) else { return }
        try refuseTwice(entity)
        for name in nils { try object.setValue(nil, forKey: try property(name, entity).name) }
        for (path, text) in list { try set(path, text, object, entity, finder) }
    }

    /// Of two values for one property nobody knows which is meant.
    private func refuseTwice(_ entity: EntitySchema) throws {
        var seen: Set<String> = []
        for path in nils + list.map(\.path) {
            let name = try property(path.split(separator: ".", maxSplits: 1).first.map(String.init) ?? path, entity)
                .name
            guard seen.insert(name).inserted else { throw UsageError("\(name) is given twice.") }
        }
    }

    private func set(
        _ path: String, _ text: String, _ object: ManagedObject, _ entity: EntitySchema, _ finder: ObjectFinder
    ) throws {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        let property = try property(parts[0], entity)
        if let relationship = property.relationship {
            let key = parts.count > 1 ? parts[1] : nil
            let words = relationship.isToMany ? ListText.parts(text) : [text]
            let targets = try words.map { word in
                try finder.object(.text(word), by: key, in: relationship.destination, path)
            }
            let objects = try targets.map { try finder.context.existingObject(with: $0) }
            try object.setValue(relationship.isToMany ? objects : objects.first, forKey: property.name)
        } else if let attribute = property.attribute, parts.count == 1 {
            let input = try Self.input(text, attribute)
            do {
                let value = try finder.input.value(input, for: attribute)
                try object.setValue(value.isNull ? nil : value, forKey: property.name)
            } catch let fault as InputFault {
                throw UsageError("\(path): \(fault.message)")
            }
        } else {
            throw UsageError("\(path): \(parts[0]) is no relationship.")
        }
    }

    private func property(_ name: String, _ entity: EntitySchema) throws -> PropertySchema {
        if let property = entity.property(named: name), property.storage != .position { return property }
        let known = NameSuggestions(entity.properties.filter { $0.storage != .position }.map(\.name))
        throw UsageError("\(entity.name) has no property '\(name)'.\(known.hint(for: name))")
    }

    /// `@FILE` for data is what the file holds.
    private static func input(_ text: String, _ attribute: AttributeDescription) throws -> InputValue {
        guard [.binaryData, .transformable].contains(attribute.type), text.hasPrefix("@") else { return .text(text) }
        let path = String(text.dropFirst())
        do {
            return .data(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw UsageError("\(path) cannot be read: \(error.systemReason)")
        }
    }
}

/// Finds the objects that relationships are to lead to.
final class ObjectFinder {
    let store: Store
    let context: ManagedObjectContext
    let input: AttributeInput
    private struct Key: Hashable {
        let entity: EntityID
        let attribute: String
        let value: AttributeValue
    }
    /// What was found by an attribute.
    private var known: [Key: ObjectID] = [:]
    private static let mostKnown = 200_000
    /// What an import has not saved yet.
    var pending: PendingRows?
    /// Objects that `create` made and that are saved.
    private(set) var createdCount = 0

    init(_ store: Store, _ context: ManagedObjectContext, dates: DateForm = .usual) {
        self.store = store
        self.context = context
        input = AttributeInput(dates: dates) { text in
            do {
                return try ObjectReference.parse(text, in: store)
            } catch let error as UsageError {
                throw InputFault(error.message)
            }
        }
    }

    /// - Parameter key: the attribute that names the object; nil when the value is a reference such as `Drawer/p3`.
    /// - Throws: `UsageError` when there is none, or more than one.
    func object(_ value: InputValue, by key: String?, in entity: EntityID, _ path: String) throws -> ObjectID {
        guard let id = try find(value, by: key, in: entity, path) else {
            throw UsageError("\(path): there is no \(name(of: entity)) whose \(key ?? "id") is '\(value.text ?? "")'.")
        }
        return id
    }

    /// nil when there is none.
    ///
    /// - Throws: `PendingRows.NamedTooEarly` when one awaits being saved.
    func find(_ value: InputValue, by key: String?, in entity: EntityID, _ path: String) throws -> ObjectID? {
        guard let key else {
            guard let text = value.text else { throw UsageError("\(path) takes an object, not \(value.kindName).") }
            return try ObjectReference.parse(text, in: store)
        }
        guard let schema = store.schema.entity(entity), let attribute = schema.property(named: key)?.attribute else {
            throw UsageError("\(path): \(name(of: entity)) has no attribute '\(key)'.")
        }
        let sought: AttributeValue
        do {
            sought = try input.value(value, for: attribute)
        } catch let fault as InputFault {
            throw UsageError("\(path): \(fault.message)")
        }
        let known = Key(entity: entity, attribute: key, value: sought)
        if let id = self.known[known] { return id }
        let request = StoreRequest(entityID: entity, predicate: .equal(key, sought), limit: 2)
        let ids = try store.read(at: try store.head()) { try $0.fetch(request) }
        guard ids.count < 2 else {
            throw UsageError(
                "\(path): more than one \(schema.name) has '\(value.text ?? "")' as its \(key), so that names none.")
        }
        guard let id = ids.first else {
            if pending?.hold(sought, of: key, in: schema) == true { throw PendingRows.NamedTooEarly() }
            return nil
        }
        self.known[known] = id
        return id
    }

    /// Makes an object that `saveCreated` saves; from now on it is found.
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
        // Now whatever is forgotten can be found in the store.
        if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
    }

    private func name(of entity: EntityID) -> String { store.schema.entity(entity)?.name ?? "object" }
}
