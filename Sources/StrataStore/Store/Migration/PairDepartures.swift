import StrataModel

/// When the objects of two entities lost the pairs between them: by the first model that does not have both ends of the
/// relationship any more. That depends on both entities, because one may have left before the other.
enum PairDepartures {
    /// - Parameters:
    ///   - number: of a many-to-many, or of a hidden inverse.
    ///   - version: of the last model in which `entity` has it.
    /// - Returns: the other ends' entities by the models that ended their pairs.
    static func ends(
        of entity: EntityID, _ number: PropertyID, upTo version: ModelVersion, _ histories: SchemaHistory
    ) throws -> [ModelVersion: Set<EntityID>] {
        var ends: [ModelVersion: Set<EntityID>] = [:]
        var known: Set<EntityID> = []
        var next = histories.versions.first { $0 > version }
        for schema in try histories.schemas(histories.versions.filter { $0 <= version }).reversed() {
            defer { next = schema.version }
            guard let next, let link = schema.links.links(ofOwners: entity).first(where: { $0.id == number }),
                case .pairs(_, _, _, let inverse) = link.source
            else { continue }
            let others = schema.entities.lazy.filter { !$0.isAbstract }.map(\.id).filter { other in
                schema.links.links(ofOwners: other).contains { $0.id == inverse }
            }
            let found = Set(others).subtracting(known)
            guard !found.isEmpty else { continue }
            ends[next] = found
            known.formUnion(found)
        }
        return ends
    }
}

/// The transactions that unlink pairs which earlier versions of Strata left linked.
enum PairMending {
    static let author = "strata"
    static let contextName = "mending"
}

extension LogReader {
    /// Calls `body` with the events of the migration to a model, and with those that unlinked later what an earlier version
    /// of Strata had left linked in it. These count as of the end of the migration, since when nothing shows the links.
    ///
    /// - Complexity: O(transactions since, and events of those).
    func departures(
        to version: ModelVersion, _ last: TransactionNumber, _ body: (EventView, EventNumber) throws -> Void
    ) throws {
        guard let moments = try migration(to: version, last) else { return }
        try events(from: moments.before.advanced(by: 1), through: moments.after) { event, eventNumber in
            try body(event, eventNumber)
            return true
        }
        var number = last
        while let record = try transaction(number), record.firstEvent > moments.after {
            if record.author == PairMending.author, record.contextName == PairMending.contextName {
                try events(from: record.firstEvent, through: record.lastEvent) { event, _ in
                    try body(event, moments.after)
                    return true
                }
            }
            number = TransactionNumber(rawValue: number.rawValue - 1)
        }
    }
}
