import Logging

/// The store's log: what a person who runs it may want to know; never users' values.
enum StoreLog {
    static let logger = Logger(label: "strata.store")
}
