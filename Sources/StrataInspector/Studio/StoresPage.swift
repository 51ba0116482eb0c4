import StrataModel
import StrataStore

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
