import Foundation

/// Dates as people and programs write them.
enum DateText {
    /// ISO 8601: `2026-11-21`, `2026-11-21T10:00:00Z`, with fraction or offset.
    static func date(_ text: String) -> Date? {
        // Shorter than the shortest date, or no digit first: most text that is asked.
        guard text.utf8.count >= 10, text.utf8.first.map({ 48...57 ~= $0 }) ?? false else { return nil }
        if let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) {
            return date
        }
        if let date = try? Date(text, strategy: .iso8601) { return date }
        // The style would pass over what follows the day.
        guard text.utf8.count == 10 else { return nil }
        return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
    }
}
