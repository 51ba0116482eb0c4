import StrataStore

/// How far a fetch that runs elsewhere has come, and the way to end it.
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

    public init() {}

    /// Rows looked at so far.
    public var examinedRowCount: Int { monitor.examinedRowCount }

    /// Whether the results are there, or the fetch has failed.
    public var isFinished: Bool { monitor.isFinished }

    /// Whether somebody wants the fetch to end.
    public var isCancelled: Bool { monitor.isCancelled }

    /// Ends the fetch; it throws `CancellationError` soon.
    public func cancel() { monitor.cancel() }
}
