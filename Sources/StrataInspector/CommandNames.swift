import ArgumentParser
import StrataModel

/// Finds a command name that does not exist, before the argument parser reads it as something else.
enum CommandNames {
    /// Puts `--log-level` behind the command's name, where the argument parser looks for it.
    ///
    /// - Parameter arguments: the words after the program's name.
    static func arranged(_ arguments: [String]) -> [String] {
        let option = "--log-level"
        guard let first = arguments.first, first == option || first.hasPrefix(option + "=") else { return arguments }
        let level = arguments.prefix(first == option ? 2 : 1)
        let words = arguments.dropFirst(level.count)
        var command: any ParsableCommand.Type = StrataCommand.self
        let name = words.prefix { word in
            guard let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
            else { return false }
            command = next
            return true
        }
        // A word that is no command stays first, so that it is refused as one.
        if name.isEmpty, let word = words.first, !word.hasPrefix("-") { return Array(words + level) }
        return Array(name + level + words.dropFirst(name.count))
    }

    /// The long options of a command.
    static func options(of command: any ParsableCommand.Type) -> [String] {
        let names = StrataCommand.helpMessage(for: command).matches(of: #/  (--[a-z-]+)/#).map { String($0.1) }
        return Set(names).sorted()
    }

    /// Puts the nearest option, or the one that begins so, into the argument parser's message about an unknown one. Its
    /// own suggestion may have no letter in common.
    static func correctingOption(in message: String) -> String {
        let unknown = #/^Error: Unknown option '(--[^']+)'\.?( Did you mean '[^']*'\?)?/#
        guard let match = message.firstMatch(of: unknown),
            let usage = message.firstMatch(of: #/Usage: strata ([^\n]*)/#)
        else { return message }
        var command: any ParsableCommand.Type = StrataCommand.self
        for word in usage.1.split(separator: " ") {
            let next = command.configuration.subcommands.first { $0.configuration.commandName == String(word) }
            guard let next else { break }
            command = next
        }
        let names = options(of: command).map { String($0.dropFirst(2)) }
        let near = NearestName.of(String(match.1.dropFirst(2)), among: names).map { " Did you mean '--\($0)'?" } ?? ""
        return "Error: Unknown option '\(match.1)'.\(near)\(message[match.range.upperBound...])"
    }

    /// - Parameter arguments: the words after the program's name.
    /// - Throws: `UsageError` with the nearest name.
    static func check(_ arguments: [String]) throws {
        var words = arguments[...]
        if words.first == "help" { words = words.dropFirst() }
        var command: any ParsableCommand.Type = StrataCommand.self
        var path = "strata"
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let known = command.configuration.subcommands
            if known.isEmpty { return }
            guard let next = known.first(where: { $0.configuration.commandName == word }) else {
                let names = known.compactMap { $0.configuration.commandName }
                let nearest = NearestName.of(word, among: names).map { " Did you mean '\(path) \($0)'?" }
                let isGroup = command != StrataCommand.self
                let hint = nearest ?? (isGroup ? " It is one of \(names.joined(separator: ", "))." : "")
                throw UsageError("There is no command '\(path) \(word)'.\(hint) '\(path) --help' lists the commands.")
            }
            command = next
            path += " \(word)"
        }
    }
}
