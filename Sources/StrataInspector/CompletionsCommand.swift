import ArgumentParser

/// `strata completions`: prints a script with which a shell completes commands, options, entities and key paths.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Prints a script with which a shell completes commands, options, entities and key paths.",
        discussion: """
            Entities and key paths are completed from the store that is named on the line. There is no --json: the output \
            is a program for the shell.

            Examples:
                strata completions bash > ~/.local/share/bash-completion/completions/strata
                strata completions zsh > ~/.zfunc/_strata
                strata completions fish > ~/.config/fish/completions/strata.fish
            """)

    @Argument(
        help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"), completion: .list(["bash", "zsh", "fish"]))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw UsageError("There is no completion for '\(shell)': it is bash, zsh or fish.")
        }
        Output.shared.line(StrataCommand.completionScript(for: shell))
    }
}
