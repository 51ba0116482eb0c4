import StrataModel
import StrataStore

/// One column of an export: a value, or the members of a to-many.
struct ExportColumn {
    enum Content {
        case value(OutputColumn)
        /// Members named by this attribute of theirs; by reference if nil.
        case members(PropertySchema, key: String?)
    }

    let name: String
    let content: Content

    /// - Parameters:
    ///   - text: the columns; nil for every attribute and to-one. A to-one is named by an attribute that the model says is
    ///     unique there, else by reference.
    ///   - namesAll: whether every object of an entity has a value of that attribute; otherwise it cannot name them.
    static func columns(
        _ text: String?, of entity: EntitySchema, _ schema: Schema, namesAll: (EntityID, String) throws -> Bool
    ) throws -> [ExportColumn] {
        guard let text else {
            return try entity.properties.filter(\.isVisibleInRow).map { property in
                var name = property.name
                if let destination = property.relationship?.destination, let key = uniqueKey(of: destination, schema),
                    try namesAll(destination, key)
                {
                    name += ".\(key)"
                }
                return ExportColumn(name: name, content: .value(OutputColumn(name)))
            }
        }
        return try ListText.parts(text).map { try column($0, entity) }
    }

    private static func column(_ text: String, _ entity: EntitySchema) throws -> ExportColumn {
        let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
        if let property = entity.property(named: parts[0]), property.relationship?.isToMany ?? false,
            parts.count == 1 || !parts[1].hasPrefix("@")
        {
            return ExportColumn(name: text, content: .members(property, key: parts.count > 1 ? parts[1] : nil))
        }
        guard let column = try ColumnText.parse(text, of: entity).first else {
            throw UsageError("--columns is empty.")
        }
        return ExportColumn(name: text, content: .value(column))
    }

    /// The attribute with a uniqueness constraint of its own; nil if the entity has none.
    private static func uniqueKey(of entity: EntityID, _ schema: Schema) -> String? {
        var next = schema.entity(entity)
        while let current = next {
            let keys = current.description.uniquenessConstraints.filter { $0.count == 1 }.flatMap { $0 }
            if let key = keys.first(where: { schema.entity(entity)?.property(named: $0)?.attribute != nil }) {
                return key
            }
            next = current.superentityID.flatMap(schema.entity)
        }
        return nil
    }
}

/// The contents of one column for one object.
enum ExportCell {
    case value(AttributeValue)
    case list([AttributeValue])
}

/// The objects of an export, row by row, all from one state. Memory holds only their ids.
struct ExportStream {
    let store: Store
    let moment: StoreMoment
    let request: StoreRequest
    let columns: [ExportColumn]
    let progress: ProgressLine
    private static let slice = 1000

    func forEach(_ body: ([ExportCell]) throws -> Void) throws {
        let handler = progress.handler
        defer { progress.finish() }
        let total = try WatchedQuery.size(request, store, moment)
        let ids = try WatchedQuery.run(store, moment, total: total) { try $0.fetch(request) }
        for start in stride(from: 0, to: ids.count, by: Self.slice) {
            handler(StoreProgress(phase: "objects", done: start, total: ids.count))
            for row in try rows(Array(ids[start..<min(start + Self.slice, ids.count)])) { try body(row) }
        }
    }

    private func rows(_ ids: [ObjectID]) throws -> [[ExportCell]] {
        try moment.read(store) { snapshot in
            let values = try values(ids, snapshot)
            return try ids.map { id in
                var next = values[id]?.makeIterator()
                return try columns.map { column in
                    switch column.content {
                    case .value: .value(next?.next() ?? .null)
                    case .members(let property, let key): .list(try members(property, key, of: id, snapshot))
                    }
                }
            }
        }
    }

    private func values(_ ids: [ObjectID], _ snapshot: Snapshot) throws -> [ObjectID: ArraySlice<AttributeValue>] {
        let outputs = columns.compactMap { if case .value(let column) = $0.content { column } else { nil } }
        let objects = StoreRequest(
            entityID: request.entityID, includesSubentities: request.includesSubentities,
            predicate: .isIn("SELF", ids.map { .objectID($0) }))
        let rows = try snapshot.rows(RowsRequest(objects: objects, columns: [ColumnText.object] + outputs))
        var found: [ObjectID: ArraySlice<AttributeValue>] = [:]
        for row in rows { if case .objectID(let id)? = row.first { found[id] = row.dropFirst() } }
        return found
    }

    private func members(
        _ property: PropertySchema, _ key: String?, of id: ObjectID, _ snapshot: Snapshot
    ) throws -> [AttributeValue] {
        var members: [ObjectID] = []
        try snapshot.members(of: property.id, owner: id) { member in
            members.append(member)
            return true
        }
        guard let key, let destination = property.relationship?.destination, !members.isEmpty else {
            return members.map(AttributeValue.objectID)
        }
        let objects = StoreRequest(entityID: destination, predicate: .isIn("SELF", members.map { .objectID($0) }))
        let rows = try snapshot.rows(
            RowsRequest(objects: objects, columns: [ColumnText.object, OutputColumn(key)]))
        var found: [AttributeValue: AttributeValue] = [:]
        for row in rows { if let id = row.first, let value = row.last { found[id] = value } }
        return members.map { found[.objectID($0)] ?? .null }
    }
}
