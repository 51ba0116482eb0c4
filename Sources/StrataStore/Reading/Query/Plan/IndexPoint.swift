import StrataModel

/// An index over one property, asked for one value of it: what `IndexMatch` and `Planner` come to for such a request,
/// without a search for it.
final class IndexPoint: Sendable {
    /// As it was for another value.
    private let access: IndexAccess
    private let codec: IndexKeyCodec

    init(_ access: IndexAccess, _ codec: IndexKeyCodec) {
        self.access = access
        self.codec = codec
    }

    /// Nil where the value's key does not settle it, as that of a long text does not.
    func plan(_ value: AttributeValue, _ entities: EntitySet) -> QueryPlan? {
        let found: KeyRange?
        do throws(UncomparableKey) {
            found = try codec.range(equal: [value])
        } catch {
            return nil
        }
        guard let range = found, !range.needsRecheck else { return nil }
        var access = access
        access.ranges = [range]
        return QueryPlan(
            root: PlanStep(.index(access), entities, rows: 0, cost: PlanCost.seek), order: .byID, cost: PlanCost.seek,
            isSettled: true)
    }
}
