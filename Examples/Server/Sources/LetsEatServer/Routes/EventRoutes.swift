import Foundation
import HTTPTypes
import Hummingbird
import Strata

/// Changes as they are saved, as server-sent events.
///
/// `/events` is the log: every transaction that concerns reviews, from any process, each with a token. A client that
/// comes back with the last token misses nothing. `/restaurants/17/reviews/live` is a list as it is now, again after each
/// change; a slow reader gets one for all changes meanwhile.
struct EventRoutes: Sendable {
    let container: PersistentContainer
    let feeds: FeedLimit

    func add(to router: Router<ServiceContext>) {
        router.get("events", use: events)
        router.get("restaurants/:restaurant/reviews/live", use: live)
    }

    // MARK: The log

    private struct Transaction: Encodable {
        struct Change: Encodable {
            let number: UInt64
            let kind: String
            let values: [String: JSONValue]
        }

        let transaction: UInt64
        let date: Date
        let author: String?
        let changes: [Change]
    }

    @Sendable private func events(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let token = try Self.token(request)
        let transactions = try container.transactions(since: try token ?? container.currentHistoryToken())
        return try feeds.response(transactions.compactMap { try Self.event($0) })
    }

    /// - Returns: nil for a transaction that concerns no reviews.
    private static func event(_ change: TransactionChanges) throws -> FeedEvent? {
        let changes = try change.changes().filter { $0.entityName == Review.entityName }
        guard !changes.isEmpty else { return nil }
        let transaction = Transaction(
            transaction: change.transaction.number.rawValue, date: change.transaction.date,
            author: change.transaction.author,
            changes: changes.map { change in
                let values = change.properties.map { ($0.key, JSONValue($0.after)) }
                return .init(
                    number: change.objectID.row, kind: change.kind.rawValue,
                    values: Dictionary(uniqueKeysWithValues: values))
            })
        return FeedEvent(id: try JSONText.text(change.token), data: try JSONText.text(transaction))
    }

    /// The position of a client that comes back: `Last-Event-ID`, or `since` in the address; nil for a new one.
    ///
    /// - Throws: a problem for text that is no token. The store refuses tokens of another one, or too old.
    private static func token(_ request: Request) throws -> HistoryToken? {
        guard let text = request.headers[.lastEventID] ?? request.uri.queryParameters["since"].map(String.init) else {
            return nil
        }
        do {
            return try JSONDecoder().decode(HistoryToken.self, from: Data(text.utf8))
        } catch {
            throw Problem(.badRequest, "Last-Event-ID is no id of an event.", remedy: "Begin without it.")
        }
    }

    // MARK: A list

    private struct LiveList: Encodable {
        let at: UInt64
        let reviews: [ReviewResource]
        let inserted: [UInt64]
        let updated: [UInt64]
        let deleted: [UInt64]
    }

    @Sendable private func live(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let limit = try Page.number("limit", request, 1...Page.largest) ?? 20
        let newest = try ReviewStore.newest(of: try ReviewRoutes.restaurant(context))
        let results = container.results(for: newest, coalescing: .milliseconds(50))
        return try feeds.response(results.map { try await list(limit, $0) })
    }

    private func list(_ limit: Int, _ update: LiveResultsUpdate) async throws -> FeedEvent {
        let list = try await container.performBackgroundTask { _ in
            let context = try container.context(asOf: .event(update.eventNumber))
            let reviews = try update.objectIDs.prefix(limit).map {
                try ReviewResource(context.existingObject(with: $0, as: Review.self), in: context)
            }
            let difference = update.difference
            return LiveList(
                at: update.eventNumber.rawValue, reviews: reviews,
                inserted: difference?.insertions.map(\.objectID.row) ?? [],
                updated: difference?.updates.map(\.objectID.row) ?? [],
                deleted: difference?.deletions.map(\.objectID.row) ?? [])
        }
        return FeedEvent(id: nil, data: try JSONText.text(list))
    }
}
