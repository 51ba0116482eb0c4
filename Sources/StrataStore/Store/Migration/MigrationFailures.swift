import StrataModel

/// The reasons why a store cannot be migrated: one error for each object and property, the first hundred in full.
struct MigrationFailures {
    private(set) var details: [StrataError] = []
    private(set) var count = 0
    private static let mostDescribed = 100

    var isEmpty: Bool { count == 0 }

    mutating func add(
        _ code: StrataError.Code, _ message: String, _ entity: EntitySchema, _ id: ObjectID, _ key: String? = nil,
        _ value: AttributeValue? = nil
    ) {
        add(StrataError(code, message, context: .init(entityName: entity.name, key: key, value: value)), id)
    }

    mutating func add(_ error: StrataError, _ id: ObjectID) {
        count += 1
        guard details.count < Self.mostDescribed else { return }
        var error = error
        error.context.objectID = id
        details.append(error)
    }

    /// - Throws: `migration` with every failure, if there are any.
    func refuse(path: String) throws {
        guard !isEmpty else { return }
        let more = count > details.count ? ", of which the first \(details.count) are told" : ""
        throw StrataError(
            .migration, "The store's objects do not fit the new model, in \(count) places\(more).",
            context: .init(path: path), details: details)
    }
}
