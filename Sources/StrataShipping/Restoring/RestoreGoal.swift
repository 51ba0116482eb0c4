import Foundation
package import StrataGraph
package import StrataModel

/// The transaction that a restore ends with, as a condition that each transaction is tested by.
package enum RestoreGoal: Sendable, Hashable {
    case newest
    case transaction(TransactionNumber)
    case event(EventNumber)
    case microseconds(Int64)

    /// Whether the state has a transaction, or a snapshot that ends with it.
    package func includes(_ number: TransactionNumber, _ firstEvent: EventNumber, _ microseconds: Int64) -> Bool {
        switch self {
        case .newest: true
        case .transaction(let goal): number <= goal
        case .event(let goal): firstEvent <= goal
        case .microseconds(let goal): microseconds <= goal
        }
    }

    package func includes(_ record: TransactionRecord) -> Bool {
        includes(record.number, record.firstEvent, record.microseconds)
    }

    /// Whether the state has everything in a snapshot. One that ends within the transaction of the event does.
    package func includes(_ manifest: SnapshotManifest) -> Bool {
        includes(
            TransactionNumber(rawValue: manifest.transaction), EventNumber(rawValue: manifest.eventNumber),
            manifest.microseconds)
    }

    /// Whether no transaction after this one is included. False if the next one must be read to decide.
    package func isReached(by record: TransactionRecord) -> Bool {
        isReached(by: record.number, record.lastEvent) && self != .newest
    }

    /// Whether the log has come to the goal. One beyond its end is an error, except for a date.
    package func isReached(by number: TransactionNumber, _ lastEvent: EventNumber) -> Bool {
        switch self {
        case .newest: true
        case .microseconds: false
        case .transaction(let goal): number >= goal
        case .event(let goal): lastEvent >= goal
        }
    }
}

extension HistoryMoment {
    /// - Parameter tags: of the end of the log; asked for a tag only.
    package func goal(tags: () throws -> [String: EventNumber]) throws -> RestoreGoal {
        switch self {
        case .beginning: return .transaction(TransactionNumber(rawValue: 1))
        case .now: return .newest
        case .transaction(let number): return .transaction(number)
        case .event(let number): return .event(number)
        case .date(let date):
            let exact = (date.timeIntervalSince1970 * 1_000_000).rounded()
            return .microseconds(exact < 9e18 ? (exact > -9e18 ? Int64(exact) : .min) : .max)
        case .tag(let name):
            guard let event = try tags()[name] else {
                throw StrataError(.unknownKey, "The log at the target has no tag '\(name)'.")
            }
            return .event(event)
        }
    }
}
