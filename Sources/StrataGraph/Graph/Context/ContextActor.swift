/// Holds one context for many tasks: everything done with it happens one after another, on threads where it may block.
///
/// ```swift
/// let importer = ContextActor(adopting: container.newBackgroundContext())
/// try await importer.perform { context in
///     _ = Movie(context: context)
///     try context.save()
/// }
/// ```
public actor ContextActor {
    private let executor = WorkerExecutor()
    private let context: ManagedObjectContext

    /// The thread that the actor's work runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Takes the context over; the caller cannot use it any more.
    ///
    /// A context with `automaticallyMergesChangesFromParent` moves on as soon as others have saved.
    public init(adopting context: sending ManagedObjectContext) {
        let reach = ContextReach()
        context.reach = { reach.call() }
        self.context = context
        reach.set { [weak self] in Task { [weak self] in await self?.mergeWhatOthersSaved() } }
    }

    private func mergeWhatOthersSaved() { context.mergeWhatOthersSaved() }

    /// Runs `body` with the context; only sendable results leave.
    public func perform<Result: Sendable>(
        _ body: @Sendable (ManagedObjectContext) throws -> Result
    ) rethrows -> Result {
        try body(context)
    }
}

extension ManagedObjectContext {
    /// Runs `body` at once, where the context is; for code that comes from Core Data.
    public func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

    /// Runs `body` at once, where the context is; for code that comes from Core Data.
    public func perform<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

    /// Runs `body` at once, where the context is; for code that comes from Core Data.
    nonisolated(nonsending) public func perform<Result>(_ body: () throws -> Result) async rethrows -> Result {
        try body()
    }
}
