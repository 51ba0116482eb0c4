import ArgumentParser
import StrataGraph
import StrataModel
import StrataStore

/// What becomes of objects that were changed after the transaction that is reverted.
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

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Takes back what one transaction did, as a new transaction.",
        discussion: """
            What it made is deleted, what it deleted comes back under its own id, what it changed has the values from \
            before. The log keeps both. Where the same property was changed again since, that is a conflict: it is told, \
            nothing is saved and the exit code is 1, unless --conflicts says keep (what is there now) or revert.

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
            throw UsageError("'\(transaction)' is no transaction. Write 12 or t12.")
        }
        try change.run(store) { store, context in
            if context.transactionReason == nil { context.transactionReason = "revert of transaction \(number)" }
            do {
                try context.revert(TransactionNumber(rawValue: number), policy: conflicts.policy)
            } catch let error as StrataError where error.code == .futureEvent {
                throw UsageError("The log has no transaction \(number).")
            }
        }
    }
}
