import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata subscriptions`: shows how far the consumers of the history have come, or drops one.
struct SubscriptionsCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Shows how far the consumers of the history have come, or drops one.",
        discussion: """
            A subscription is a name under which the store keeps how far a consumer has read the log. The position is the \
            last transaction that it has acknowledged, the lag how many came after it, and waiting since when the first of \
            those was saved. --drop removes a subscription whose consumer is gone; one that comes back under that name \
            begins anew.

            --json prints {"subscriptions": [{"name", "transaction", "lag", "waitingSince"}]}. With --drop it prints \
            {"dropped": name}.

            Examples:
                strata subscriptions BowTies.strata
                strata subscriptions BowTies.strata --drop mailer
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: ArgumentHelp("Remove this subscription.", valueName: "name")) var drop: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        guard let drop else { return try store.reading { try report(try SubscriptionLag.list(of: $0)) } }
        try store.writing { store in
            guard try store.removeSubscription(drop) else {
                let known = NameSuggestions(try store.subscriptions().keys.sorted())
                throw UsageError("The store has no subscription '\(drop)'.\(known.hint(for: drop))")
            }
            try json ? JSONText.print(["dropped": drop]) : Output.shared.line("dropped \(drop)")
        }
    }

    private func report(_ subscriptions: [SubscriptionLag]) throws {
        if json {
            return try JSONText.print(["subscriptions": subscriptions.map(\.json)])
        }
        if subscriptions.isEmpty { return Output.shared.line("no subscription") }
        var columns = Columns(
            [.left, .right, .right, .left], isFirm: [false, true, true, true], cutsToTerminal: true)
        columns.add(["subscription", "position", "lag", "waiting since"].map { .init($0, .bold) })
        for subscription in subscriptions {
            columns.add(
                subscription.name, "t\(subscription.acknowledged)", "\(subscription.lag)",
                subscription.waitingSince.map(ValueText.moment) ?? "-")
        }
        columns.flush()
    }
}

/// The progress of a consumer of the history.
struct SubscriptionLag {
    let name: String
    let acknowledged: TransactionNumber
    /// Transactions that it has not acknowledged.
    let lag: UInt64
    /// When the first of them was saved; nil if there is none.
    let waitingSince: Date?

    /// The subscriptions of a store by name.
    static func list(of store: Store) throws -> [SubscriptionLag] {
        let last = try store.lastTransaction(upTo: try store.head())
        return try store.subscriptions().sorted { $0.key < $1.key }.map { name, acknowledged in
            let lag = last.rawValue - min(last, acknowledged).rawValue
            let next = TransactionNumber(rawValue: acknowledged.rawValue + 1)
            return SubscriptionLag(
                name: name, acknowledged: acknowledged, lag: lag,
                waitingSince: lag == 0 ? nil : try store.transaction(next)?.date)
        }
    }

    var json: JSONObject {
        [
            "name": name, "transaction": acknowledged.rawValue, "lag": lag,
            "waitingSince": JSONObject.orNull(waitingSince.map(ValueText.moment)),
        ]
    }
}
