import StrataModel

// Descriptions, as `print` shows them, of moments and positions in the history.

extension HistoryMoment: CustomStringConvertible {
    /// `event 34`, `transaction 3`, `tag "release"`, a date, `beginning`, or `now`.
    public var description: String {
        switch self {
        case .event(let number): "event \(number)"
        case .date(let date): "\(date)"
        case .transaction(let number): "transaction \(number)"
        case .tag(let name): "tag \(name.debugDescription)"
        case .beginning: "beginning"
        case .now: "now"
        }
    }
}
