// The command `strata revert`.

import ArgumentParser
import StrataGraph
import StrataModel
import StrataStore

/// The values of `strata revert --conflicts`: what becomes of properties that later transactions changed.
enum RevertPolicy: String, ExpressibleByArgument, CaseIterable {
    case error, keep, revert

    var policy: MergePolicy {
        switch self {
        case .error: .error
        case .keep: .mergeByPropertyStoreTrump
        case .revert: .mergeByPropertyObjectTrump
        }
    }
}

/// `strata revert`: reverts one transaction by a new transaction.
struct RevertCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Reverts one transaction by a new transaction.",
        discussion: """
            Inserted objects are deleted, deleted ones come back under their ids, and changed properties get their earlier \
            values. The log keeps both transactions. A property that changed again since is a conflict: the command reports \
            it and saves nothing (exit code 1), unless --conflicts says keep (the current value) or revert.

            \(ChangeArguments.help)

            Examples:
                strata revert BowTies.strata t12
                strata revert BowTies.strata t12 --conflicts keep \\
                    --reason 'wrong file imported'
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("Its number: 12 or t12.", valueName: "transaction")) var transaction: String
    @Option(help: ArgumentHelp("error, keep or revert.", valueName: "way")) var conflicts = RevertPolicy.error
    @OptionGroup var change: ChangeArguments

    func run() throws {
        let digits = transaction.hasPrefix("t") ? String(transaction.dropFirst()) : transaction
        guard let number = UInt64(digits) else {
            throw UsageError("'\(transaction)' is not a transaction. Write 12 or t12.")
        }
        try change.run(store) { store, context in
            if context.transactionReason == nil { context.transactionReason = "revert of transaction \(number)" }
            do {
                try context.revert(TransactionNumber(rawValue: number), policy: conflicts.policy)
            } catch let error as StrataError where error.code == .futureEvent {
                throw UsageError("The log has no transaction \(number).")
            } catch let error as StrataError where !error.context.conflicts.isEmpty {
                let advice =
                    " Say --conflicts keep for what they wrote, or --conflicts revert for what was there before."
                throw StrataError(error.code, error.message + advice, context: error.context, cause: error)
            }
        }
    }
}
