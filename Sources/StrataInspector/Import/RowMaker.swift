import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// What `import` does with a record that names an object that does not exist.
enum MissingTarget: String, CaseIterable {
    /// The import stops.
    case error
    /// The relationship stays empty.
    case leave
    /// The object is made, with the attribute that names it.
    case create
}

/// Converts the records of a file into rows of a batch insert.
struct RowMaker {
    var mapping: FieldMapping
    let finder: ObjectFinder
    let missing: MissingTarget
    /// What separates the members of a list in text.
    let separator: Character
    /// Whether an empty field keeps an existing value instead of setting nil.
    let keepsAtBlanks: Bool
    /// How many objects that do not exist were named, and left out.
    private(set) var leftOutCount = 0

    /// - Throws: `InputError` with the key of the wrong value.
    mutating func row(_ record: InputRecord) throws -> BatchRow<ManagedObject> {
        let leftOutBefore = leftOutCount
        do {
            return try made(record)
        } catch {
            // The record may be read again.
            leftOutCount = leftOutBefore
            throw error
        }
    }

    private mutating func made(_ record: InputRecord) throws -> BatchRow<ManagedObject> {
        var row = BatchRow<ManagedObject>()
        var keys: [PropertyID: String] = [:]
        for (key, value) in record.values {
            guard let target = try mapping.target(of: key) else { continue }
            if let other = keys.updateValue(key, forKey: target.property.id) {
                let both = [key, other].sorted()
                throw InputError("'\(both[0])' and '\(both[1])' both go to \(target.property.name).")
            }
            do {
                try set(value, target, in: &row)
            } catch let error as InputError {
                throw InputError("\(key): \(error.message)")
            } catch let error as UsageError {
                throw InputError(error.message)
            }
        }
        for key in record.blanks {
            // Without a default, a missing value is nil too.
            guard let property = try mapping.target(of: key)?.property, let attribute = property.attribute,
                attribute.isOptional, attribute.defaultValue != nil, !keepsAtBlanks, keys[property.id] == nil
            else { continue }
            row[property.name] = .null
        }
        return row
    }

    private mutating func set(
        _ value: InputValue, _ target: FieldMapping.Target, in row: inout BatchRow<ManagedObject>
    ) throws {
        let name = target.property.name
        guard let relationship = target.property.relationship else {
            // Exports contain derived attributes; they are computed again.
            guard let attribute = target.property.attribute, attribute.derivationExpression == nil else { return }
            row[name] = try finder.input.value(value, for: attribute)
            return
        }
        if relationship.isToMany {
            row.members[name] = try members(value).compactMap { try object($0, target, relationship.destination) }
        } else if case .null = value {
            row[name] = .null
        } else if let id = try object(value, target, relationship.destination) {
            row[name] = .objectID(id)
        }
    }

    private func members(_ value: InputValue) throws -> [InputValue] {
        switch value {
        case .null: []
        case .list(let values): values
        case .text(let text):
            text.split(separator: separator).map { .text($0.trimmingCharacters(in: .whitespaces)) }
        default: throw InputError("\(value.kindName) is not a list of objects.")
        }
    }

    private mutating func object(
        _ value: InputValue, _ target: FieldMapping.Target, _ entity: EntityID
    ) throws -> ObjectID? {
        if let id = try finder.find(value, by: target.key, in: entity, target.path) { return id }
        switch missing {
        case .leave:
            leftOutCount += 1
            return nil
        case .error: return try finder.object(value, by: target.key, in: entity, target.path)
        case .create:
            guard let key = target.key, let schema = finder.store.schema.entity(entity),
                let attribute = schema.property(named: key)?.attribute
            else { return try finder.object(value, by: target.key, in: entity, target.path) }
            guard !schema.isAbstract else {
                throw InputError("\(schema.name) is abstract, so the object cannot be made.")
            }
            return try finder.create(key, try finder.input.value(value, for: attribute), in: schema)
        }
    }
}
