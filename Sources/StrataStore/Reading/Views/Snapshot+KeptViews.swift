import LMDB
import StrataModel

/// The stored groups of a view.
struct KeptView {
    /// nil if the groups must be made from the objects: nothing is kept, or not everything yet, or the state is seen
    /// through an older model whose views are gone.
    let tables: ViewTables?
    /// The state whose groups the tables have; nil for the state of the other tables.
    let state: Snapshot?
    /// Objects that the view leaves out.
    let leftOut: Set<ObjectID>
}

extension Snapshot {
    /// The state of the tables, without layers.
    var withoutLayers: Snapshot {
        Snapshot(
            eventNumber: eventNumber, schema: schema, transaction: transaction, tables: tables, histories: histories,
            layers: [], hasStrayPairs: hasStrayPairs)
    }

    /// Returns the stored groups of a view.
    func kept(_ view: PreparedView) throws -> KeptView {
        guard let tables = tables.views else { return KeptView(tables: nil, state: nil, leftOut: []) }
        let known = try ViewProgress.read(view.id, transaction, self.tables)
        if histories.isPast {
            // Through an older model than the store's, the groups are those that were there at its end.
            guard let known, known.isRetired, known.isComplete, let others else {
                return KeptView(tables: nil, state: nil, leftOut: [])
            }
            return KeptView(
                tables: tables, state: try others.snapshot(at: known.position, through: schema, transaction),
                leftOut: known.leftOut)
        }
        if known == nil, view.isInline { return KeptView(tables: tables, state: nil, leftOut: []) }
        let progress = known ?? ViewProgress()
        guard progress.isComplete, let others else {
            return KeptView(tables: nil, state: nil, leftOut: progress.leftOut)
        }
        let state = progress.position == others.head ? nil : try others.snapshot(at: progress.position, transaction)
        return KeptView(tables: tables, state: state, leftOut: progress.leftOut)
    }

    /// Returns the differences between the groups of this state and the stored groups of a view; nil if there are none.
    ///
    /// - Complexity: O(rows in layers + objects that changed since the state of the groups).
    func changes(of view: PreparedView, since kept: KeptView) throws -> GroupChanges? {
        if layers.isEmpty, kept.state == nil { return nil }
        let changes = GroupChanges()
        try addDifference(
            of: view, from: kept.state ?? withoutLayers, 1, where: { !kept.leftOut.contains($0) }, to: changes)
        return changes
    }

    /// Adds the differences between this state's groups and those of another state over the same tables.
    ///
    /// - Parameters:
    ///   - sign: 1, or -1 for the reverse.
    ///   - isMember: whether an object belongs to the view at all.
    func addDifference(
        of view: PreparedView, from base: Snapshot, _ sign: Int64, where isMember: (ObjectID) -> Bool = { _ in true },
        to changes: GroupChanges
    ) throws {
        let (before, after) = (Evaluation(base), Evaluation(self))
        for id in try concerned(view, base) where isMember(id) {
            try spend(rows: 2)
            try view.noting(id) {
                try base.row(id)?.withNewestReader(id, schema) { try view.add($0, id, -sign, before, to: changes) }
                try row(id)?.withNewestReader(id, schema) { try view.add($0, id, sign, after, to: changes) }
            }
        }
    }

    /// The objects of a view whose groups may differ between two states: those that layers cover, those that lead to a
    /// row that they cover, in one state or the other, and those that have another link.
    private func concerned(_ view: PreparedView, _ base: Snapshot) throws -> Set<ObjectID> {
        var found: Set<ObjectID> = []
        for layer in layers + base.layers {
            for entity in view.entities { found.formUnion(layer.touched(entity)) }
            guard view.crossesRelationships else { continue }
            for pairs in view.pairs {
                for key in layer.pairs.keys where key.property == pairs.canonical {
                    for owner in pairs.owners(of: key) {
                        found.formUnion(try base.sources(of: owner, through: pairs.hops))
                        found.formUnion(try sources(of: owner, through: pairs.hops))
                    }
                }
            }
            for reading in view.readings where !reading.hops.isEmpty {
                for entity in reading.entities {
                    for id in layer.touched(entity) {
                        found.formUnion(try base.sources(of: id, through: reading.hops))
                        found.formUnion(try sources(of: id, through: reading.hops))
                    }
                }
            }
        }
        guard view.crossesRelationships else { return found }
        let entities = Set(view.entities)
        return found.filter { entities.contains($0.entityID) }
    }
}

/// An object that a view cannot group, and why.
struct ViewFault: Error {
    let object: ObjectID
    let cause: StrataError

    /// Throws only errors about the object itself, where it is not left out or tried again.
    static func naming<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let fault as ViewFault { throw fault.cause }
    }
}

extension PreparedView {
    /// Says which object it was if it cannot be grouped.
    @inline(__always)
    func noting(_ id: ObjectID, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StrataError where error.isOfRow {
            throw ViewFault(object: id, cause: error)
        }
    }
}

extension StrataError {
    /// Whether the error is about the values of a row, and not about the file or the budget of a request.
    fileprivate var isOfRow: Bool { [.invalidRequest, .wrongType].contains(code) }
}
