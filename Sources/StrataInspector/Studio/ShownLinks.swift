import Locking
import StrataModel
import StrataStore

/// The link events of objects that were shown lately.
///
/// The log has no list of them by object, so that finding them reads the records of all transactions. A step of the slider
/// shows the same object at another moment, and reads only what is new in the log.
final class ShownLinks: Sendable {
    private struct Found {
        let id: ObjectID
        /// The last event that was looked at.
        let last: EventNumber
        /// Newest first.
        let events: [EventNumber]
    }

    /// The object that was shown last comes last.
    private let found = Locked<[Found]>([])

    private static let mostObjects = 50
    private static let mostEvents = 1_000_000

    /// The numbers of the kept events of an object's pairs, newest first.
    ///
    /// - Parameter check: is called again and again while the log is read; an error of it ends the reading.
    func events(of id: ObjectID, in store: Store, check: () throws -> Void) throws -> [EventNumber] {
        let known = found.withLock { found in found.first { $0.id == id } }
        let head = try store.head()
        let new = try store.linkEventNumbers(of: id, after: known?.last ?? .zero, check: check)
        let dropped = try store.baseline()?.event ?? .zero
        var events = known?.events ?? []
        if !new.isEmpty { events.insert(contentsOf: new, at: 0) }
        while let oldest = events.last, oldest <= dropped { events.removeLast() }
        keep(Found(id: id, last: max(head, new.first ?? head), events: events))
        return events
    }

    private func keep(_ latest: Found) {
        found.withLock { found in
            found.removeAll { $0.id == latest.id }
            found.append(latest)
            var count = found.reduce(0) { $0 + $1.events.count }
            while found.count > Self.mostObjects || count > Self.mostEvents, let oldest = found.first {
                count -= oldest.events.count
                found.removeFirst()
            }
        }
    }
}
