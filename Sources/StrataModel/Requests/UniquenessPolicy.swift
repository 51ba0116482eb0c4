/// The policy of a batch insert for a row whose unique values another object has.
///
/// The check and the write are in one transaction, so no other save can come between them.
public enum UniquenessPolicy: String, Sendable, Hashable, CaseIterable {
    /// Fails with `constraintMerge`.
    case reject
    /// Keeps the object and ignores the row.
    case keep
    /// Replaces every attribute of the object by the row's value or by its default, and the to-ones that the row has.
    case replace
    /// Changes only the properties that the row has.
    case merge
}
