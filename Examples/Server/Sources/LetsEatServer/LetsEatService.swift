import CoreMetrics
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Strata
import StrataObservability

/// LetsEat as a service: reviews of restaurants over HTTP.
///
/// It is the container, and four services that start and stop in this order: the store, the outbox, the sweeper, the server.
public struct LetsEatService: Sendable {
    let container: PersistentContainer
    let store: ContainerService
    let metrics: PrometheusMetrics
    let webhook: (any Webhook)?
    let logger: Logger
    var feeds = FeedLimit(500)
    var mostConnections = 1000
    var patience = TimeAmount.seconds(60)

    /// Makes a service over a store, which is opened when it runs.
    ///
    /// - Parameters:
    ///   - storeURL: the store's directory; nil for a store in memory.
    ///   - webhook: the address to which messages on new reviews are sent; nil for none.
    /// - Throws: `invalidModel`.
    public init(storeURL: URL?, webhook: String?, metrics: PrometheusMetrics, logger: Logger) throws {
        try self.init(
            at: storeURL.map { .url($0) } ?? .inMemory, webhook: webhook.map { HTTPWebhook(url: $0) },
            metrics: metrics, logger: logger)
    }

    init(
        at location: PersistentStoreLocation, webhook: (any Webhook)?, metrics: PrometheusMetrics, logger: Logger
    ) throws {
        var options = PersistentStoreOptions()
        // A request that waits longer for another process gets 503, and may come again.
        options.timeout = .seconds(5)
        options.observer = ObserverGroup(
            StoreMetrics(store: "LetsEat", factory: metrics), StoreTraces(store: "LetsEat"))
        container = try Self.container(at: location, options)
        store = ContainerService(container, factory: metrics, logger: logger)
        self.metrics = metrics
        self.webhook = webhook
        self.logger = logger
    }

    private static func container(
        at location: PersistentStoreLocation, _ options: PersistentStoreOptions
    ) throws -> PersistentContainer {
        try PersistentContainer(
            name: "LetsEat", entities: [Review.self, RestaurantPhoto.self, Receipt.self], views: [Ratings.view],
            at: location, options: options)
    }

    /// Verifies a store that no service uses: its pages, its log, and its tables against the log.
    ///
    /// - Returns: a line for each problem.
    /// - Throws: what opening and reading the store throws.
    public static func problems(ofStoreAt url: URL) throws -> [String] {
        let container = try container(at: .url(url), PersistentStoreOptions(isReadOnly: true))
        try container.loadPersistentStores()
        defer { container.close() }
        return try container.verify().problems
    }

    var router: Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: ProblemMiddleware())
        OperationsRoutes(container: container, store: store, metrics: metrics).add(to: router)
        ReviewRoutes(store: ReviewStore(container: container)).add(to: router)
        EventRoutes(container: container, feeds: feeds).add(to: router)
        return router
    }

    /// The server and the services it needs.
    ///
    /// - Parameter onServerRunning: is called with the channel that listens.
    public func application(
        address: BindAddress, onServerRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        var services: [any Service] = [store]
        if let webhook {
            services.append(
                Outbox(container: container, store: store, webhook: webhook, logger: logger, metrics: metrics))
        }
        services.append(ReceiptSweeper(container: container, store: store, logger: logger))
        // A connection that sends nothing, or no whole request, for that time is closed, and one whose client does not take
        // its answer. More connections wait until others end.
        var application = Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [BodyDeadline(patience), AnswerDeadline(patience)],
                    idleTimeout: patience)),
            configuration: .init(
                address: address, serverName: "LetsEat",
                availableConnectionsDelegate: MaximumAvailableConnections(mostConnections, logger: logger)),
            services: services, onServerRunning: onServerRunning, logger: logger)
        application.beforeServerStarts { try await store.waitUntilReady() }
        return application
    }
}
