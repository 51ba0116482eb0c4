import StrataModel

/// The reasons why a store cannot be migrated: one error for each object and property, the first hundred in full.
struct MigrationFailures {
    private(set) var details: [StrataError] = []
    private(set) var count = 0
    private static let mostDescribed = 100
    private var problems: [MigrationProblem] = []
    private var objects: [String: [ObjectID]] = [:]

    /// The failures by their reasons, and the objects by their entities.
    var misfits: Misfits { Misfits(problems: problems, objects: objects) }

    private mutating func file(_ error: StrataError, _ id: ObjectID) {
        let name = error.context.entityName ?? ""
        // Objects come one after the other.
        if objects[name]?.last != id { objects[name, default: []].append(id) }
        if let known = problems.firstIndex(where: { $0.isTold(by: error) }) {
            problems[known].add(id)
        } else if problems.count < Self.mostDescribed {
            problems.append(MigrationProblem(error))
            problems[problems.count - 1].add(id)
        }
    }

    var isEmpty: Bool { count == 0 }

    mutating func add(
        _ code: StrataError.Code, _ message: String, _ entity: EntitySchema, _ id: ObjectID, _ key: String? = nil,
        _ value: AttributeValue? = nil
    ) {
        add(StrataError(code, message, context: .init(entityName: entity.name, key: key, value: value)), id)
    }

    mutating func add(_ error: StrataError, _ id: ObjectID) {
        count += 1
        file(error, id)
        guard details.count < Self.mostDescribed else { return }
        var error = error
        error.context.objectID = id
        details.append(error)
    }

    /// - Throws: `migration` with every failure, if there are any.
    func refuse(path: String) throws {
        guard !isEmpty else { return }
        let more = count > details.count ? "; the first \(details.count) are listed" : ""
        throw StrataError(
            .migration,
            "The store's objects do not fit the new model, in \(CountText.of(count, "place"))\(more). Change them, or give rules: "
                + "MigrationRule in the library, --set and --delete-misfits in 'strata migrate'.",
            context: .init(path: path), details: details)
    }
}
