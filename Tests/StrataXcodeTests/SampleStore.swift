import Foundation
import StrataGraph
import StrataModel
import Testing

/// A store of a model with at least one object of each concrete entity, all of whose values are valid.
struct SampleStore {
    let model: ManagedObjectModel

    func run() throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            component: "sample-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: directory) }
        var options = PersistentStoreOptions()
        options.durability = .disposable
        let names = try fill(PersistentContainer(name: "Sample", model: model, at: .url(directory), options: options))
        let again = PersistentContainer(name: "Sample", model: model, at: .url(directory), options: options)
        try again.loadPersistentStores()
        defer { again.close() }
        let context = again.newBackgroundContext()
        for (name, values) in names {
            var request = FetchRequest<ManagedObject>(entityName: name)
            request.includesSubentities = false
            let object = try #require(try context.fetch(request).first)
            for (key, value) in values {
                let found = try object.value(forKey: key)
                #expect("\(found ?? "nil")" == value, "\(name).\(key)")
            }
        }
        #expect(try again.verify().problems == [])
    }

    /// - Returns: the values of the first object of each entity, as text.
    private func fill(_ container: PersistentContainer) throws -> [String: [String: String]] {
        try container.loadPersistentStores()
        defer { container.close() }
        let context = container.newBackgroundContext()
        var given: [String: [String: String]] = [:]
        var open: [ManagedObject] = []
        var objects: [ManagedObject] = []
        func make(_ entity: String) throws -> ManagedObject {
            let object = try context.insertNewObject(forEntityName: entity)
            let values = try setValues(of: object, entity, number: objects.count)
            if given[entity] == nil { given[entity] = values }
            objects.append(object)
            open.append(object)
            return object
        }
        for entity in model.entities where !entity.isAbstract { _ = try make(entity.name) }
        while let object = open.popLast() {
            for case .relationship(let relationship) in model.properties(ofEntityNamed: object.entity.name)
            where !relationship.isTransient && (!relationship.mayBeEmpty || relationship.minCount > 0) {
                let least = max(1, relationship.minCount)
                while try count(relationship, of: object) < least {
                    let free = try objects.first { try isFree($0, for: relationship, of: object) }
                    guard let target = try free ?? concrete(relationship.destinationEntityName).map(make) else { break }
                    try link(object, relationship, target)
                }
            }
            try #require(objects.count < 5_000)
        }
        try context.save()
        return given
    }

    private func concrete(_ name: String) -> String? {
        model.entities.first { !$0.isAbstract && isKind($0.name, of: name) }?.name
    }

    private func isKind(_ name: String, of ancestor: String) -> Bool {
        var next: String? = name
        while let current = next {
            if current == ancestor { return true }
            next = model.entitiesByName[current]?.superentityName
        }
        return false
    }

    private func count(_ relationship: RelationshipDescription, of object: ManagedObject) throws -> Int {
        let value = try object.value(forKey: relationship.name)
        return relationship.isToMany ? (value as? [ManagedObject])?.count ?? 0 : value == nil ? 0 : 1
    }

    /// Whether a link removes no other link.
    private func isFree(
        _ target: ManagedObject, for relationship: RelationshipDescription, of object: ManagedObject
    ) throws -> Bool {
        guard isKind(target.entity.name, of: relationship.destinationEntityName) else { return false }
        if relationship.isToMany, try members(relationship, of: object).contains(where: { $0 === target }) {
            return false
        }
        let properties = model.properties(ofEntityNamed: relationship.destinationEntityName)
        guard let name = relationship.inverseName,
            let inverse = properties.first(where: { $0.name == name })?.relationship, !inverse.isToMany
        else { return true }
        return try target.value(forKey: name) == nil
    }

    private func members(_ relationship: RelationshipDescription, of object: ManagedObject) throws -> [ManagedObject] {
        try object.value(forKey: relationship.name) as? [ManagedObject] ?? []
    }

    private func link(
        _ object: ManagedObject, _ relationship: RelationshipDescription, _ target: ManagedObject
    ) throws {
        if relationship.isToMany {
            try object.setValue(try members(relationship, of: object) + [target], forKey: relationship.name)
        } else {
            try object.setValue(target, forKey: relationship.name)
        }
    }

    // MARK: Values

    private func setValues(of object: ManagedObject, _ entity: String, number: Int) throws -> [String: String] {
        var values: [String: String] = [:]
        for case .attribute(let attribute) in model.properties(ofEntityNamed: entity) {
            if attribute.isTransient && attribute.isOptional || attribute.derivationExpression != nil { continue }
            guard let value = value(of: attribute, number) else { continue }
            try object.setValue(value, forKey: attribute.name)
            if !attribute.isTransient, attribute.type != .composite, attribute.type != .transformable {
                values[attribute.name] = "\(try object.value(forKey: attribute.name) ?? "nil")"
            }
        }
        return values
    }

    /// nil for values that stay unchanged.
    private func value(of attribute: AttributeDescription, _ number: Int) -> Any? {
        var range: (AttributeValue?, AttributeValue?) = (nil, nil)
        for case .range(let minimum, let maximum) in attribute.validationRules { range = (minimum, maximum) }
        // One bound is enough: the tests of rules cover values between bounds.
        if case .integer(let bound)? = range.1 ?? range.0 { return bound }
        if case .double(let bound)? = range.1 ?? range.0 { return bound }
        switch attribute.type {
        case .integer16, .integer32, .integer64: return Int64(number)
        case .decimal: return Decimal(number) / 4
        case .double: return Double(number) / 8
        case .float: return Float(number) / 8
        case .string: return "text \(number)"
        case .boolean: return number % 2 == 0
        case .date: return Date(timeIntervalSinceReferenceDate: Double(number) * 3600)
        case .binaryData: return Data(repeating: UInt8(truncatingIfNeeded: number), count: 100)
        case .uuid: return UUID()
        case .uri: return URL(string: "https://example.org/\(number)")
        // There is no transformer for the app's own types, so these are bytes that one could have made.
        case .transformable: return AttributeValue.data(Data("value \(number)".utf8))
        case .composite: return attribute.isOptional ? nil : composite(attribute, number)
        case .undefined, .objectID: return nil
        }
    }

    private func composite(_ attribute: AttributeDescription, _ number: Int) -> Any? {
        var values: [String: Any] = [:]
        for element in attribute.elements { values[element.name] = value(of: element, number) }
        return values
    }
}
