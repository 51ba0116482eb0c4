package import StrataModel

/// What an index alone says about the objects with a value.
package enum IndexLookup {
    /// The one with the lowest id.
    case found(ObjectID)
    case nothing
    /// Only a request tells: there are changes above the base, no index answers by one key, or the key was cut.
    case undecided
}

/// The lookup of one value in an index over one property: the plan that `Planner` would make for such a request,
/// without planning.
final class IndexPoint: Sendable {
    /// The access that a plan made for another value.
    private let access: IndexAccess
    private let codec: IndexKeyCodec

    init(_ access: IndexAccess, _ codec: IndexKeyCodec) {
        self.access = access
        self.codec = codec
    }

    /// The entries of a value; nil if its key does not decide, as that of a long text does not.
    private func range(_ value: AttributeValue) -> KeyRange? {
        do throws(UncomparableKey) {
            guard let range = try codec.range(equal: [value]), !range.needsRecheck else { return nil }
            return range
        } catch {
            return nil
        }
    }

    /// Looks up a value among some entities without a plan.
    func lookUp(_ value: AttributeValue, _ entities: EntitySet, in snapshot: Snapshot) throws -> IndexLookup {
        guard snapshot.layers.isEmpty, let range = range(value) else { return .undecided }
        // The index of a parent has entries of other entities too.
        let limit = access.isCovered ? 1 : 16
        var ids: [ObjectID] = []
        try snapshot.appendBaseEntries(access.index, lower: range.lower, upper: range.upper, atMost: limit, to: &ids)
        if let found = ids.first(where: { access.isCovered || entities.contains($0) }) { return .found(found) }
        return ids.count < limit ? .nothing : .undecided
    }

    /// - Returns: nil if the value's key does not decide, as that of a long text does not.
    func plan(_ value: AttributeValue, _ entities: EntitySet) -> QueryPlan? {
        guard let range = range(value) else { return nil }
        var access = access
        access.ranges = [range]
        return QueryPlan(
            root: PlanStep(.index(access), entities, rows: 0, cost: PlanCost.seek), order: .byID, cost: PlanCost.seek,
            isSettled: true)
    }
}
