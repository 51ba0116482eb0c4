/// What a batch insert does with a row if an object already has its unique values.
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
