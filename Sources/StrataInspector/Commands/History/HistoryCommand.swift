import ArgumentParser

/// `strata history`: how much of a store's history is kept.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Truncates a store's history.",
        discussion: """
            A store keeps every change until its history is truncated. What is kept then begins with a baseline: the state \
            at one moment. 'strata log' lists what is kept.
            """,
        subcommands: [HistoryTrimCommand.self])
}
