public import StrataGraph
import StrataModel

/// Holds what workers saw against the log, read as a list of versions.
public enum RaceCheck {
    /// - Returns: one line for each thing that should not be.
    public static func problems(_ container: PersistentContainer, _ reports: [RaceReport]) throws -> [String] {
        var problems = reports.flatMap(\.problems)
        var versions = Versions()
        let events = try container.events(through: try container.head())
        var next = 0
        let sum = Int64(RaceWorld.accountCount) * RaceWorld.balance
        for sight in reports.flatMap(\.sights).sorted(by: { $0.eventNumber < $1.eventNumber }) {
            while next < events.count, events[next].eventNumber.rawValue <= sight.eventNumber {
                versions.apply(events[next])
                next += 1
            }
            if next < events.count, events[next].transaction == events[max(0, next - 1)].transaction, next > 0 {
                problems.append("\(sight.eventNumber) is in the middle of a transaction")
            }
            let expected = versions.state
            if sight.state != expected {
                problems.append("at \(sight.eventNumber): saw \(sight.state), not \(expected)")
            }
            if sight.state.sum != sum { problems.append("at \(sight.eventNumber): the sum is \(sight.state.sum)") }
        }
        while next < events.count {
            versions.apply(events[next])
            next += 1
        }
        let transfers = reports.reduce(0) { $0 + $1.transfers }
        if versions.state.hits != Int64(transfers * 2) {
            problems.append(
                "\(transfers) transfers left \(versions.state.hits) hits: an update was lost, or made twice")
        }
        let live = try RaceWorld.state(container.newBackgroundContext())
        if live != versions.state { problems.append("the end is \(live), not \(versions.state)") }
        return problems
    }

    /// The store as events make it, one after the other.
    private struct Versions {
        private var accounts: [ObjectID: [String: AttributeValue]] = [:]
        /// Note -> account.
        private var notes: [ObjectID: ObjectID?] = [:]

        mutating func apply(_ event: HistoryEvent) {
            guard let id = event.objectID else { return }
            switch (event.kind, event.entityName) {
            case (.deleted, "Account"): accounts[id] = nil
            case (.deleted, _): notes[id] = nil
            case (_, "Account"): for change in event.changes { accounts[id, default: [:]][change.key] = change.after }
            default:
                if notes[id] == nil { notes[id] = .some(nil) }
                for change in event.changes where change.key == "account" {
                    if case .objectID(let account) = change.after {
                        notes[id] = account
                    } else {
                        notes[id] = .some(nil)
                    }
                }
            }
        }

        var state: RaceState {
            var state = RaceState()
            for (id, values) in accounts {
                let own = notes.filter { $0.value == id }.map { "\($0.key)" }.sorted()
                state.accounts["\(id)"] = RaceState.Account(
                    balance: integer(values["balance"]), hits: integer(values["hits"]), label: text(values["label"]),
                    notes: own)
            }
            state.noteCount = notes.count
            return state
        }

        private func integer(_ value: AttributeValue?) -> Int64 {
            if case .integer(let number)? = value { number } else { 0 }
        }

        private func text(_ value: AttributeValue?) -> String? {
            if case .string(let text)? = value { text } else { nil }
        }
    }
}
