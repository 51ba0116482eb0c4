import StrataModel

/// The order that a to-many by pairs has again, with the positions of the last model in which it was ordered.
///
/// Models in between did not have the relationship, or not its order. The pairs stay under its number of then. If it was
/// kept in rows, they or their events have the positions still.
struct FormerOrder {
    /// The positions in rows of the members.
    private struct RowPositions {
        let toOne: PastValues
        let position: PastValues

        init?(_ link: Link, in schema: Schema) {
            guard case .rows(let number) = link.source, let position = schema.property(number)?.relationship?.position
            else { return nil }
            toOne = PastValues(position: number, in: schema)
            self.position = PastValues(position: position, in: schema)
        }

        /// Nil if the member led to another object then.
        func position(of member: ObjectID, owner: ObjectID, _ state: Snapshot) throws -> Int64? {
            guard let row = try state.row(member),
                try toOne.value(of: member, row, state)?.target == owner,
                case .integer(let position)? = try position.value(of: member, row, state)
            else { return nil }
            return position
        }
    }

    /// The end of the list of the owner that was asked for last.
    private final class KnownEnd {
        var owner: ObjectID?
        var end: Int64 = 0
    }

    private let link: Link
    private let rows: RowPositions?
    private let known = KnownEnd()
    /// The relationship in the last model that had it.
    private let last: Link
    private let version: ModelVersion
    /// Whether members that came later have no position in the models since.
    private let addsAtEnd: Bool
    private let former: FormerStates?
    private let cut: CutPairs?

    /// Nil if the relationship has no order, if the old model has it, and if it never had one.
    ///
    /// - Parameter schemas: the models up to the old one, oldest first.
    init?(_ property: PropertySchema, to new: Schema, _ schemas: [Schema], _ former: FormerStates?, _ cut: CutPairs?) {
        guard property.relationship?.description.isOrdered ?? false,
            new.links.link(property.id)?.isPairs ?? false
        else { return nil }
        let formers = new.assignment.replaced[property.id] ?? []
        let lineage = Schema.lineage(of: property.id, formers, through: schemas)
        var addsAtEnd = false
        var last: Link?
        for schema in schemas.reversed() {
            guard let link = lineage.lazy.compactMap({ schema.links.link($0) }).first else { continue }
            last = last ?? link
            if link.isOrdered, let last {
                rows = RowPositions(link, in: schema)
                guard link.isPairs || rows != nil, addsAtEnd || schema !== schemas.last else { return nil }
                self.link = link
                self.last = last
                version = schema.version
                self.addsAtEnd = addsAtEnd
                self.former = former
                self.cut = cut
                return
            }
            addsAtEnd = true
        }
        return nil
    }

    /// The position of a member; behind the last one if the member came later. Nil if the models since know it.
    func position(of member: ObjectID, owner: ObjectID, _ snapshot: Snapshot) throws -> Int64? {
        let state = try former?.snapshot(version) ?? snapshot
        if let rows {
            if let position = try rows.position(of: member, owner: owner, state) { return position }
            return addsAtEnd ? try end(of: owner, rows, state, snapshot) : nil
        }
        if let key = link.pairKey(owner: owner, member: member), let positions = try state.pair(key) {
            return link.isSource(owner, of: key) ? positions.inSource : positions.inTarget
        }
        guard addsAtEnd else { return nil }
        let members = try cut?.members(of: link.id, owner: owner)
        let last = try members.map { $0.last?.position } ?? state.lastPosition(of: link.id, owner: owner)
        return (last ?? 0) + 1
    }

    /// The position behind those that members have from rows.
    ///
    /// - Complexity: O(members), once for owners that are asked for one after the other.
    private func end(of owner: ObjectID, _ rows: RowPositions, _ state: Snapshot, _ snapshot: Snapshot) throws -> Int64
    {
        if known.owner == owner { return known.end }
        var end: Int64 = 0
        for member in try snapshot.members(of: last.id, owner: owner) {
            if let position = try rows.position(of: member, owner: owner, state) { end = max(end, position + 1) }
        }
        (known.owner, known.end) = (owner, end)
        return end
    }
}

extension OldLinks {
    /// The relationships of the new model that have a former order again, by number.
    static func orders(
        from old: Schema, to new: Schema, _ histories: SchemaHistory, _ former: FormerStates?, _ cut: CutPairs?
    ) throws -> [PropertyID: FormerOrder] {
        let properties = new.entities.flatMap(\.properties).filter { property in
            old.property(property.id) == nil && property.relationship?.description.isOrdered ?? false
        }
        if properties.isEmpty { return [:] }
        let schemas = try histories.schemas(histories.versions.filter { $0 <= old.version })
        let orders = properties.compactMap { property in
            FormerOrder(property, to: new, schemas, former, cut).map { (property.id, $0) }
        }
        return Dictionary(orders) { first, _ in first }
    }
}
