public import Logging
public import Metrics
public import ServiceLifecycle
public import StrataGraph
import StrataModel

/// A container as a service: it opens the store, records its sizes as gauges while the process runs, and closes it after
/// the saves that wait when the process shuts down.
///
/// Put it before the services that use the store: a group shuts services down in the opposite order. A service that needs
/// the store before it begins calls `waitUntilReady()`.
///
/// | gauge | unit | dimensions |
/// |---|---|---|
/// | `strata.store.size` | bytes | `strata.part`: `file`, `log`, `views`, `buffers`, `free` |
/// | `strata.store.readers` | readers | |
/// | `strata.store.oldest_reader` | commits | |
/// | `strata.store.transactions`, `strata.store.events` | | |
/// | `strata.subscription.lag` | transactions | `strata.subscription` |
/// | `strata.view.lag` | events | `strata.view` |
/// | `strata.view.lag.duration` | milliseconds | `strata.view` |
/// | `strata.view.failed` | 0 or 1 | `strata.view` |
public actor ContainerService: Service {
    private let container: PersistentContainer
    private let interval: Duration
    private let logger: Logger
    private let factory: any MetricsFactory
    private var state = State.waiting([])

    private enum State {
        case waiting([CheckedContinuation<Void, any Error>])
        case ready
        case ended(any Error)
    }

    /// Makes a service of a container, open or not.
    ///
    /// - Parameters:
    ///   - interval: how often sizes are recorded.
    ///   - factory: nil is the factory of the process.
    public init(
        _ container: PersistentContainer, interval: Duration = .seconds(10), factory: (any MetricsFactory)? = nil,
        logger: Logger = Logger(label: "strata.service")
    ) {
        self.container = container
        self.interval = interval
        self.factory = factory ?? MetricsSystem.factory
        self.logger = logger
    }

    /// Opens the store, and runs until the process shuts down gracefully or the task is cancelled.
    ///
    /// - Throws: as `PersistentContainer.loadPersistentStores()`.
    public func run() async throws {
        do {
            try container.loadPersistentStores()
        } catch {
            finish(.ended(error))
            throw error
        }
        finish(.ready)
        logger.info("the store \(container.name) is open")
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.recordSizes()
                try? await Task.sleep(for: self.interval)
            }
        }
        // Lets waiting saves finish.
        container.close()
        finish(.ended(CancellationError()))
        logger.info("the store \(container.name) is closed")
    }

    /// Whether the store is open, for a check of readiness.
    public var isReady: Bool { if case .ready = state { true } else { false } }

    /// Waits until the store is open.
    ///
    /// - Throws: why it could not be opened; `CancellationError` after it was closed.
    public func waitUntilReady() async throws {
        switch state {
        case .ready: return
        case .ended(let error): throw error
        case .waiting(let others):
            try await withCheckedThrowingContinuation { state = .waiting(others + [$0]) }
        }
    }

    private func finish(_ next: State) {
        if case .waiting(let waiters) = state {
            for waiter in waiters {
                if case .ended(let error) = next { waiter.resume(throwing: error) } else { waiter.resume() }
            }
        }
        state = next
    }

    private func recordSizes() {
        do {
            let usage = try container.usage()
            let parts = [
                ("file", usage.fileSizeInBytes), ("log", usage.logSizeInBytes), ("views", usage.viewSizeInBytes),
                ("buffers", usage.bufferSizeInBytes), ("free", usage.freeSizeInBytes),
            ]
            for (part, size) in parts { gauge("strata.store.size", [("strata.part", part)], size) }
            gauge("strata.store.readers", [], usage.readerLags.count)
            gauge("strata.store.oldest_reader", [], usage.readerLags.max() ?? 0)
            gauge("strata.store.transactions", [], Int(usage.transaction.rawValue))
            gauge("strata.store.events", [], Int(usage.event.rawValue))
            for (name, lag) in usage.subscriptionLags {
                gauge("strata.subscription.lag", [("strata.subscription", name)], lag)
            }
            for view in try container.viewStatuses() where view.upkeep == .catchingUp {
                let dimensions = [("strata.view", view.name)]
                gauge("strata.view.lag", dimensions, view.lagInEvents)
                gauge("strata.view.lag.duration", dimensions, Int(view.lag / .milliseconds(1)))
                if case .failed = view.state {
                    gauge("strata.view.failed", dimensions, 1)
                } else {
                    gauge("strata.view.failed", dimensions, 0)
                }
            }
        } catch {
            logger.warning("the store \(container.name) could not be measured: \(error)")
        }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)], _ value: Int) {
        Gauge(label: label, dimensions: StoreMetrics.dimensions(of: container.name) + dimensions, factory: factory)
            .record(value)
    }
}
