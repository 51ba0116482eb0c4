import StrataModel

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

    /// - Returns: nil if the value's key does not decide, as that of a long text does not.
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
