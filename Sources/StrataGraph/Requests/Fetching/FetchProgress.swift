import StrataStore

/// The progress of an asynchronous fetch, and the means to cancel it.
///
/// ```swift
/// let progress = FetchProgress()
/// Task {
///     try await Task.sleep(for: .seconds(2))
///     progress.cancel()
/// }
/// let movies = try await context.fetchAsynchronously(request, progress: progress)
/// ```
///
/// It may be used from any thread.
public final class FetchProgress: Sendable {
    let monitor = QueryMonitor()

    /// Makes the progress for one fetch.
    public init() {}

    /// The number of rows read so far.
    public var examinedRowCount: Int { monitor.examinedRowCount }

    /// Whether the fetch has ended, with results or an error.
    public var isFinished: Bool { monitor.isFinished }

    /// Whether `cancel()` was called.
    public var isCancelled: Bool { monitor.isCancelled }

    /// Ends the fetch, which throws `CancellationError`.
    public func cancel() { monitor.cancel() }
}
