import Logging

/// The logger for failures and events that no caller receives. It never logs users' values.
package enum StoreLogger {
    static let shared = Logger(label: "strata.store")
    /// Gets the warnings of modules above in place of the log. For tests.
    @TaskLocal package static var warningReceiver: (@Sendable (String) -> Void)?

    /// Logs a warning of a module above.
    package static func warn(_ message: String) {
        if let warningReceiver { warningReceiver(message) } else { shared.warning("\(message)") }
    }
}
