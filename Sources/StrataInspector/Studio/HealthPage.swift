import StrataModel
import StrataStore

/// The page of a store's health: the sizes of its parts, its declared views and its subscriptions.
struct HealthPage: Encodable {
    let moment: StudioMoment
    /// The listing of `strata inspect --json`.
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
