import StrataModel
import StrataStore

// Fetching and counting on threads of Strata, for callers that must not block.

extension ManagedObjectContext {
    /// Fetches objects on a thread of Strata's own, so that neither the caller's isolation nor Swift's thread pool is
    /// blocked.
    ///
    /// The result shows the context's state and unsaved changes at the beginning of the call. The objects are made in
    /// the context's isolation at its end.
    ///
    /// - Parameter progress: counts the rows read, and can cancel the fetch.
    /// - Throws: `CancellationError` when the task or the progress is cancelled; otherwise as `fetch(_:)`.
    nonisolated(nonsending) public func fetchAsynchronously<Result: ManagedObject>(
        _ request: FetchRequest<Result>, progress: FetchProgress = FetchProgress()
    ) async throws -> [Result] {
        let (storeRequest, layers) = try prepare(request)
        let ids = try await found(progress) { [binding, base, below = inherited, budget = budget(of: request)] in
            try binding.read(at: base, layers: below + layers, monitor: progress.monitor, budget: budget) {
                try $0.fetch(storeRequest)
            }
        }
        return try objects(ids, of: request)
    }

    /// Counts the objects that match on a thread of Strata's own.
    ///
    /// - Parameter progress: counts the rows read, and can cancel the count.
    /// - Throws: as `fetchAsynchronously(_:progress:)`.
    nonisolated(nonsending) public func countAsynchronously<Result: ManagedObject>(
        for request: FetchRequest<Result>, progress: FetchProgress = FetchProgress()
    ) async throws -> Int {
        let (storeRequest, layers) = try prepare(request)
        return try await found(progress) { [binding, base, below = inherited, budget = budget(of: request)] in
            try binding.read(at: base, layers: below + layers, monitor: progress.monitor, budget: budget) {
                try $0.count(storeRequest)
            }
        }
    }

    nonisolated(nonsending) private func found<Value: Sendable>(
        _ progress: FetchProgress, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        defer { progress.monitor.finish() }
        return try await withTaskCancellationHandler {
            try await WorkerThreads.shared.run(body)
        } onCancel: {
            progress.cancel()
        }
    }
}
