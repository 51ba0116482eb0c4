/// What a batch insert does about a row whose unique values an object has already.
///
/// It is decided when the row is written, so nobody can come between.
public enum UniquenessPolicy: String, Sendable, Hashable, CaseIterable {
    /// The step is refused with `constraintMerge`.
    case reject
    /// The object stays as it is, and the row is passed over.
    case keep
    /// The object gets every attribute of the row, those that are not given by their defaults, and the to-ones given.
    case replace
    /// The object gets what the row gives; the rest of it stays.
    case merge
}
