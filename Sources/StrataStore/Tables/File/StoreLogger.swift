import Logging

/// The logger for failures and events that no caller receives. It never logs users' values.
enum StoreLogger {
    static let shared = Logger(label: "strata.store")
}
