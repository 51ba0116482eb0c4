import Logging

/// The logger for failures and events that no caller receives. It never logs users' values.
package enum StoreLogger {
    static let shared = Logger(label: "strata.store")

    /// Logs a warning of a module above.
    package static func warn(_ message: String) { shared.warning("\(message)") }
}
