import Foundation

/// What a node is asked for, a line of JSON on its standard input.
enum NodeOrder: Codable, Sendable {
    case change(MovieChange)
    /// Asks for everything that the node shows.
    case tell
}

/// A change of the movies, which is one save.
enum MovieChange: Codable, Sendable {
    case plant(fixtures: String)
    case add(String, member: String)
    case give(String, member: String)
    case delete(String)

    var sentence: String {
        switch self {
        case .plant: "the family moves in"
        case .add(let title, let member): "\(member) adds \(title)"
        case .give(let title, let member): "\(title) goes to \(member)"
        case .delete(let title): "\(title) is deleted"
        }
    }
}

/// What a node reports, a line of JSON on its standard output. Times are in nanoseconds since the start of the system,
/// which all processes of a machine count alike.
enum NodeReport: Codable, Sendable {
    /// The store is open, and shows the state at this event.
    case ready(event: UInt64, time: UInt64)
    /// A save has returned. It took the time from `begin` to `end`.
    case saved(transaction: UInt64, event: UInt64, begin: UInt64, end: UInt64)
    /// The list on the screen has changed, and shows the state at this event.
    case shows(event: UInt64, time: UInt64)
    /// Everything that the list shows, and the last transaction of the store.
    case all(movies: [String], transaction: UInt64)
    case failed(String)

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

extension Encodable {
    /// The value as one line.
    func line() throws -> Data { try JSONEncoder().encode(self) + Data("\n".utf8) }
}
