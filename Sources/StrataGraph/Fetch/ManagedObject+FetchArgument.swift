public import StrataModel

extension ManagedObject: FetchArgument {
    /// The object by its id, as in `try FetchPredicate(format: "owner == %@", person)`.
    public final var fetchExpression: FetchExpression { .constant(.objectID(objectID)) }
}
