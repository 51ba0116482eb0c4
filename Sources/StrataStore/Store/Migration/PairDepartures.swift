import Locking
import StrataModel

/// When the objects of two entities lost the pairs between them: in the migration to the first model that does not have
/// both ends of the relationship any more. That depends on both entities, because one may have left before the other.
struct PairDeparture {
    /// The last model that had both ends.
    let last: ModelVersion
    /// The model after it.
    let version: ModelVersion
    /// The entities at the other end.
    let others: Set<EntityID>

    /// The departures of the pairs of one entity's objects, the newest first. Each other entity is in one of them.
    ///
    /// - Parameters:
    ///   - number: of a many-to-many, or of a hidden inverse.
    ///   - version: of the last model in which `entity` has it.
    static func all(
        of entity: EntityID, _ number: PropertyID, upTo version: ModelVersion, _ histories: SchemaHistory
    ) throws -> [PairDeparture] {
        var departures: [PairDeparture] = []
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
            departures.append(PairDeparture(last: schema.version, version: next, others: found))
            known.formUnion(found)
        }
        return departures
    }
}

extension LogReader {
    /// Calls `body` with the events of the migration to a model, and with those that unlinked later what an earlier version
    /// of Strata had left linked in it. These count as of the end of the migration, since when nothing shows the links.
    ///
    /// - Complexity: O(events of those, and transactions since that were not searched before).
    func departures(
        to version: ModelVersion, _ last: TransactionNumber, _ body: (EventView, EventNumber) throws -> Void
    ) throws {
        let moments = try migration(to: version, last)
        try events(from: moments.before.advanced(by: 1), through: moments.after) { event, eventNumber in
            try body(event, eventNumber)
            return true
        }
        let mendings = try histories.mendings.withLock { try $0.records(after: moments.last, through: last, self) }
        for record in mendings {
            try events(from: record.firstEvent, through: record.lastEvent) { event, _ in
                try body(event, moments.after)
                return true
            }
        }
    }
}
