// Converts the records of a file into rows of a batch insert.

import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// The policy of `import` for a record that names an object that does not exist.
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
    private var columns = ImportColumns()
    let finder: ObjectFinder
    let missing: MissingTarget
    /// The separator of a list's members in text.
    let separator: Character
    /// Whether an empty field keeps an existing value instead of setting nil.
    let keepsAtBlanks: Bool
    /// The number of objects that do not exist and were named, and left out.
    private(set) var leftOutCount = 0

    init(
        mapping: FieldMapping, finder: ObjectFinder, missing: MissingTarget, separator: Character, keepsAtBlanks: Bool
    ) {
        self.mapping = mapping
        self.finder = finder
        self.missing = missing
        self.separator = separator
        self.keepsAtBlanks = keepsAtBlanks
    }

    /// - Throws: `InputError` with the key of the wrong value.
    mutating func row(_ record: InputRecord) throws -> BatchValues {
        let leftOutBefore = leftOutCount
        do {
            return try made(record)
        } catch {
            // The record may be read again.
            leftOutCount = leftOutBefore
            throw error
        }
    }

    private mutating func made(_ record: InputRecord) throws -> BatchValues {
        if columns.keys != record.keys { try columns.change(to: record.keys, &mapping) }
        var given = try columns.givenTwice(record)
        var entries: [BatchValues.Entry] = []
        entries.reserveCapacity(record.keys.count)
        var members: [String: [ObjectID]] = [:]
        for (index, value) in record.values.enumerated() {
            guard let column = columns.list[index] else { continue }
            guard let value else {
                // Without a default, a missing value is nil too.
                guard column.hasDefaultForNil, !keepsAtBlanks, given?.insert(column.property).inserted ?? true else {
                    continue
                }
                entries.append(BatchValues.Entry(name: column.name, value: .null))
                continue
            }
            do {
                try set(value, column, &entries, &members)
            } catch let error as InputError {
                throw InputError("\(record.keys[index]): \(error.message)")
            } catch let error as UsageError {
                throw InputError(error.message)
            }
        }
        return BatchValues(entries: entries, members: members)
    }

    private mutating func set(
        _ value: InputValue, _ column: ImportColumn, _ entries: inout [BatchValues.Entry],
        _ members: inout [String: [ObjectID]]
    ) throws {
        switch column.kind {
        case .leftOut: break
        case .attribute:
            guard let made = try column.value(value, finder.input) else { break }
            entries.append(BatchValues.Entry(name: column.name, value: made))
        case .toMany: members[column.name] = try self.members(value).compactMap { try object($0, column) }
        case .toOne:
            if case .null = value {
                entries.append(BatchValues.Entry(name: column.name, value: .null))
            } else if let id = try object(value, column) {
                entries.append(BatchValues.Entry(name: column.name, value: .objectID(id)))
            }
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

    private mutating func object(_ value: InputValue, _ column: ImportColumn) throws -> ObjectID? {
        if let id = column.object(named: value) { return id }
        guard let destination = column.destination else { return nil }
        let id = try object(value, column.target, destination)
        if let id { column.note(id, for: value) }
        return id
    }

    private mutating func object(
        _ value: InputValue, _ target: FieldMapping.Target, _ entity: EntityID
    ) throws -> ObjectID? {
        if let id = try finder.find(value, by: target.key, in: entity, target.path) {
            // A reference is accepted whether its object exists or not; the save refuses one to a missing object.
            if target.key != nil || missing != .leave { return id }
            if try finder.isThere(id) { return id }
        }
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
