// Texts about the beginning of a truncated history.

import StrataModel
import StrataStore

extension LogBaseline {
    /// The beginning of the history: `event 12 (t4, 2026-11-24T10:00:00.000Z)`.
    var placeText: String { "event \(event) (t\(transaction), \(ValueText.moment(date)))" }

    /// The author, time and reason of the last truncation of the history.
    var truncationText: String {
        let author = author.map { " by \(ValueText.harmless($0))" } ?? ""
        let reason = reason.map { ": \(ValueText.harmless($0))" } ?? ""
        return "truncated \(ValueText.moment(truncated))\(author)\(reason)"
    }

    /// `HistoryTrimCommand` and `InspectCommand` document the shape.
    var json: JSONObject {
        [
            "eventNumber": event.rawValue, "transaction": transaction.rawValue, "time": ValueText.moment(date),
            "truncated": ValueText.moment(truncated), "author": author, "reason": reason,
        ]
    }
}
