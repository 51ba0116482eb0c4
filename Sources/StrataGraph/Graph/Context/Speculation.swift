import StrataModel

/// Changes that were tried and can be kept or dropped; see `ManagedObjectContext.whatIf(_:)`.
///
/// Belongs to the isolation of the context it was made from. Releasing it drops the changes.
public final class Speculation<Value> {
    /// Shows the changes; may be changed further, fetched from, and looked at.
    public let context: ManagedObjectContext
    /// The value that the body returned.
    public let value: Value
    /// Whether the changes were kept or dropped.
    private(set) public var isOver = false

    init(context: ManagedObjectContext, value: Value) {
        self.context = context
        self.value = value
    }

    /// The changes that the body made, one value an object.
    public func changes() throws -> [ObjectChange] { try context.changes() }

    /// Checks the changes by the rules of the model, as a save would.
    ///
    /// - Throws: everything that is wrong at once, as `save()` does.
    public func validate() throws { try context.validateChanges() }

    /// Brings the changes into the context that they were made from, where the next save takes them.
    ///
    /// - Throws: validation errors, `merge` when that context has changed the same since; then nothing has happened.
    ///   `invalidRequest` when this was kept or dropped before.
    public func keep() throws {
        try end { try context.save() }
    }

    /// Forgets the changes.
    public func drop() throws { try end { context.rollback() } }

    private func end(_ body: () throws -> Void) throws {
        guard !isOver else { throw StrataError(.invalidRequest, "These changes were kept or dropped before.") }
        try body()
        isOver = true
    }
}

extension ManagedObjectContext {
    /// Tries changes without making them: `body` gets a context that shows this one's state, and does in it as it
    /// likes.
    ///
    /// ```swift
    /// let plan = try context.whatIf { draft in
    ///     for movie in try draft.fetch(FetchRequest<Movie>(format: "rating < 2")) { draft.delete(movie) }
    /// }
    /// print(try plan.changes().count, "objects would go")
    /// try plan.keep() // or release it
    /// ```
    ///
    /// - Throws: `readOnly` for a context of a past moment (a scratch context can be changed there), and what `body`
    ///   throws.
    public func whatIf<Value>(_ body: (ManagedObjectContext) throws -> Value) throws -> Speculation<Value> {
        let draft = try newChildContext()
        let value = try body(draft)
        draft.processPendingChanges()
        return Speculation(context: draft, value: value)
    }

    /// Runs `willSave` on what is pending and checks it by the rules of the model, as a save would.
    ///
    /// - Throws: everything that is wrong at once; see `save()`.
    public func validateChanges() throws {
        try throwPendingErrors()
        guard hasChanges else { return }
        saving.isRunning = true
        defer { saving.isRunning = false }
        try prepare()
        try validate()
    }
}
