import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Strata
import StrataObservability

/// The addresses for those who run the service.
struct OperationsRoutes: Sendable {
    let container: PersistentContainer
    let store: ContainerService
    let metrics: PrometheusMetrics

    func add(to router: Router<ServiceContext>) {
        router.get("/", use: index)
        router.get("metrics", use: text)
        router.get("health", use: health)
        router.get("health/live") { _, _ in try ReviewRoutes.json(["status": "alive"]) }
        router.get("health/ready", use: ready)
    }

    @Sendable private func index(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try ReviewRoutes.json([
            "addresses": [
                "GET /restaurants/{restaurant}/reviews?limit&offset&at", "POST /restaurants/{restaurant}/reviews",
                "GET /restaurants/{restaurant}/reviews/live", "GET /restaurants/{restaurant}/rating",
                "GET /ratings?limit",
                "GET|PUT|PATCH|DELETE /reviews/{review}", "GET /events?since", "GET /metrics", "GET /health",
                "GET /health/live", "GET /health/ready",
            ]
        ])
    }

    @Sendable private func text(_ request: Request, _ context: ServiceContext) async throws -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text())))
    }

    /// Whether requests may be sent here: a balancer asks this. Being alive is another question: a service that opens a
    /// large store is alive, and must not be killed for not being ready.
    @Sendable private func ready(_ request: Request, _ context: ServiceContext) async throws -> Response {
        guard await store.isReady else {
            var problem = Problem(.serviceUnavailable, "The store is not open.", remedy: "Ask again in a second.")
            problem.headers[.retryAfter] = "1"
            throw problem
        }
        return try ReviewRoutes.json(["status": "ready"])
    }

    private struct Health: Encodable {
        let status: String
        let transactions: UInt64
        let events: UInt64
        let lastSave: Date?
        let fileSizeInBytes: Int
        let readers: Int
        let oldestReader: Int
        /// How many transactions the outbox has not told yet.
        let outboxLag: Int?
    }

    @Sendable private func health(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let usage = try await container.performBackgroundTask { _ in try container.usage() }
        return try ReviewRoutes.json(
            Health(
                status: await store.isReady ? "ready" : "not ready", transactions: usage.transaction.rawValue,
                events: usage.event.rawValue, lastSave: usage.lastSave, fileSizeInBytes: usage.fileSizeInBytes,
                readers: usage.readerLags.count, oldestReader: usage.readerLags.max() ?? 0,
                outboxLag: usage.subscriptionLags[Outbox.subscriptionName]))
    }
}
