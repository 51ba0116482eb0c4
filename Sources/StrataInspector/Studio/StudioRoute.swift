import Foundation
import StrataModel
import StrataStore

// Which page of Strata Studio answers a path, and the pages for all stores and for the health of one.

/// The page that lists the stores that Studio shows.
struct StoresPage: Encodable {
    struct ListedStore: Encodable {
        let name: String
        let path: String
        let transactions: UInt64
        let events: UInt64
        let first: String?
        let last: String?
    }

    let stores: [ListedStore]

    init(_ sources: [StudioStore]) throws {
        stores = try sources.map { source in
            let last = try source.store.transactions(before: nil, limit: 1).first
            let first = try source.store.transactions(limit: 1).first
            return ListedStore(
                name: source.name, path: source.path, transactions: last?.number.rawValue ?? 0,
                events: last?.lastEvent.rawValue ?? 0, first: first.map { ValueText.moment($0.date) },
                last: last.map { ValueText.moment($0.date) })
        }
    }
}

/// The page of a store's health: the sizes of its parts, its declared views and its subscriptions.
struct HealthPage: Encodable {
    let moment: StudioMoment
    /// As `strata inspect --json` lists it.
    let listing: JSONObject
    /// The declared views of the newest model, as `strata views list --json` lists them: what each does, and how far
    /// those that catch up are behind the log.
    let views: [JSONObject]
    /// The subscriptions, and how far behind the log each is.
    let subscriptions: [JSONObject]

    init(_ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let store = reading.store
        listing = try StoreListing(store, path: store.path).json
        views = try store.views().map(\.json)
        subscriptions = try SubscriptionLag.list(of: store).map(\.json)
    }
}

/// Makes the page that a path below a store names.
enum StudioRoute {
    static func answer(_ path: [String], _ reading: StudioReading) throws -> StudioAnswer {
        switch (path.first ?? "model", path.count) {
        case ("model", 0...1): try StudioAnswer(json: ModelPage(reading))
        case ("model.svg", 1):
            StudioAnswer(contentType: "image/svg+xml", body: Data(try ModelDiagram(reading).svg.utf8))
        case ("timeline", 1): try StudioAnswer(json: TimelinePage(reading))
        case ("objects", 2): try StudioAnswer(json: ObjectsPage(path[1], reading))
        case ("export", 2): try ExportAnswer.answer(path[1], reading)
        case ("names", 2): try StudioAnswer(json: NamesPage(path[1], reading))
        case ("facet", 3): try StudioAnswer(json: FacetPage(path[1], path[2], reading))
        case ("object", 3): try StudioAnswer(json: ObjectPage("\(path[1])/\(path[2])", reading))
        case ("value", 4): try ValueAnswer.answer("\(path[1])/\(path[2])", path[3], reading)
        case ("transactions", 1): try StudioAnswer(json: TransactionsPage(reading))
        case ("transaction", 2): try StudioAnswer(json: TransactionPage(path[1], reading))
        case ("health", 1): try StudioAnswer(json: HealthPage(reading))
        default: throw StudioProblem(404, "There is no such page.")
        }
    }
}
