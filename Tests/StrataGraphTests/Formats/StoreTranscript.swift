import Foundation
import StrataGraph
import StrataModel

/// Everything that a store answers, as text: its objects now and at its tags, what queries find, and the log.
struct StoreTranscript {
    let container: PersistentContainer
    /// Newest last; a moment shows the names of the model of then.
    let models: [ManagedObjectModel]
    private(set) var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    init(_ container: PersistentContainer, models: [ManagedObjectModel], queries: [ReleasedStore.Query]) throws {
        self.container = container
        self.models = models
        lines.append("# Objects now")
        try objects(container.newBackgroundContext(), models[models.count - 1])
        for (name, moment) in try container.tags().sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            lines += ["", "# Objects at \(name), event \(moment)"]
            try objects(try container.context(asOf: .tag(name), model: .ofThen), models[0])
        }
        lines += ["", "# Queries"]
        for query in queries { try found(query) }
        lines += ["", "# Log"]
        for transaction in try container.transactions() { try events(transaction) }
        lines += ["", "# Subscriptions"]
        for (name, number) in try container.subscriptions().sorted(by: { $0.key < $1.key }) {
            lines.append("\(name): transaction \(number)")
        }
    }

    // MARK: Objects

    private mutating func objects(_ context: ManagedObjectContext, _ model: ManagedObjectModel) throws {
        for entity in model.entities where !entity.isAbstract {
            var request = FetchRequest<ManagedObject>(entityName: entity.name)
            request.includesSubentities = false
            let objects = try context.fetch(request).sorted { $0.objectID < $1.objectID }
            for object in objects { lines.append(try self.object(object, entity, model, context)) }
        }
    }

    private func object(
        _ object: ManagedObject, _ entity: EntityDescription, _ model: ManagedObjectModel,
        _ context: ManagedObjectContext
    ) throws -> String {
        let frozen = try context.frozen(object)
        var properties = entity.properties
        var parent = entity.superentityName
        while let name = parent, let next = model.entitiesByName[name] {
            properties = next.properties + properties
            parent = next.superentityName
        }
        let values = try properties.map { property in
            if case .relationship(let relationship) = property, relationship.isToMany {
                let members = try frozen.objectIDs(forKey: property.name).map(self.name)
                return "\(property.name)=[\(members.joined(separator: ", "))]"
            }
            return "\(property.name)=\(value(try frozen.value(forKey: property.name)))"
        }
        return ([name(object.objectID)] + values).joined(separator: " ")
    }

    private func name(_ id: ObjectID) -> String {
        guard let uri = try? container.uriRepresentation(of: id) else { return "?/\(id)" }
        return uri.path(percentEncoded: false).split(separator: "/").joined(separator: "/")
    }

    // MARK: Queries

    private mutating func found(_ query: ReleasedStore.Query) throws {
        let past = try query.tag.map { try container.context(asOf: .tag($0), model: .ofThen) }
        let context = past ?? container.newBackgroundContext()
        var request = try FetchRequest<ManagedObject>(
            entityName: query.entity, where: try FetchPredicate(format: query.format))
        let found = try context.fetch(request).map(\.objectID).sorted()
        request.sortDescriptors = []
        let count = try context.count(for: request)
        let moment = query.tag.map { " at \($0)" } ?? ""
        let names = found.map(name).joined(separator: ", ")
        lines.append("\(query.entity)\(moment) where \(query.format): \(count): \(names)")
    }

    // MARK: Log

    private mutating func events(_ transaction: HistoryTransaction) throws {
        let words = [
            "transaction \(transaction.number)", Self.date(transaction.date), transaction.author ?? "-",
            transaction.contextName ?? "-", transaction.reason ?? "-",
        ]
        let metadata = transaction.metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        lines.append(words.joined(separator: " | ") + metadata.joined())
        for event in try container.events(from: transaction.firstEvent, through: transaction.lastEvent) {
            let changes = event.changes.map { "\($0.key): \(value($0.before)) -> \(value($0.after))" }
            let object = event.objectID.map(name) ?? "-"
            lines.append("  \(event.eventNumber) \(event.kind.rawValue) \(object) \(changes.joined(separator: "; "))")
        }
    }

    // MARK: Values

    private func value(_ value: AttributeValue) -> String {
        switch value {
        case .null: "nil"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .date(let value): Self.date(value)
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .data(let value): "\(value.count) bytes of \(value.first ?? 0)"
        case .blob(let value): "large value of \(value.sizeInBytes) bytes"
        case .encrypted: "(encrypted)"
        case .objectID(let value): name(value)
        case .composite(let values):
            "{"
                + values.sorted { $0.key < $1.key }.map { "\($0.key): \(self.value($0.value))" }
                .joined(separator: ", ") + "}"
        }
    }

    private static func date(_ date: Date) -> String { date.formatted(.iso8601) }
}
