import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata shell`: asks and changes a store line by line.
struct ShellCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Asks and changes a store line by line.",
        discussion: """
            A line is a command without 'strata' and STORE: query Film --sort year, show Film/p5, views list, model show. An entity \
            with a condition behind it is a query, and options may follow: Film rating > 4 --sort -year. .help lists what else there is.

            On a terminal, Tab completes commands, options, entities and key paths, and the arrow keys edit the line and \
            bring back earlier ones, which are kept in $STRATA_HISTORY or ~/.local/state/strata/history. Elsewhere lines \
            are read from standard input; the exit code is that of the last line that failed.

            Commands take --json as outside the shell: count Film --json prints {"entity", "count", "eventNumber"}.

            Examples:
                strata shell BowTies.strata
                echo 'BowTie rating > 4' | strata shell BowTies.strata
            """)

    @OptionGroup var store: StoreArguments

    func run() throws {
        let schema = try store.reading { $0.schema }
        let shell = Shell(store: store, completion: NameCompletion(schema), schema: schema)
        let file = HistoryFile()
        let isInteractive = LineEditor.isInteractive
        if isInteractive { Output.shared.line("\(store.path). .help lists what can be typed, .quit ends.") }
        Output.shared.flush()
        var editor = LineEditor(
            prompt: "strata> ", history: isInteractive ? file.lines() : [], completions: shell.completions(of:))
        var exitCode = ExitStatus.fine
        while let line = editor.line() {
            do {
                guard try shell.run(line, editor.history) else { break }
            } catch {
                let code = ExitStatus.report(error)
                if code != ExitStatus.fine { exitCode = code }
            }
            Output.shared.flush()
            // The command's process has ended quietly, and so do the lines after it.
            if Output.hasNoReader { break }
        }
        if isInteractive { file.write(editor.history) }
        if exitCode != ExitStatus.fine, !isInteractive { throw ExitCode(exitCode) }
    }
}

/// Runs the lines of a shell.
struct Shell {
    let store: StoreArguments
    let completion: NameCompletion
    let schema: Schema

    private static let ownCommands = [
        (".help", "Lists what can be typed."), (".entities", "Lists the entities."),
        (".properties", "Lists the properties of an entity: .properties Film."),
        (".history", "Lists the lines before."), (".quit", "Ends the shell; so does Ctrl-D."),
    ]

    private static var commands: [any ParsableCommand.Type] {
        StrataCommand.configuration.subcommands.filter { command in
            command != ShellCommand.self
                && ([command] + command.configuration.subcommands).contains(where: takesStore)
        }
    }

    /// Whether the shell gives a command its store; one of models gets it as the model.
    private static func takesStore(_ command: any ParsableCommand.Type) -> Bool {
        command is any StoreCommand.Type || ModelCommand.configuration.subcommands.contains { $0 == command }
    }

    /// Returns the number of words that name a command that takes the store: two for one of a group; nil for another
    /// one.
    private static func length(ofCommandIn words: [String]) -> Int? {
        var command: any ParsableCommand.Type = StrataCommand.self
        for (index, word) in words.enumerated() {
            guard let next = command.configuration.subcommands.first(where: { name($0) == word }) else { return nil }
            if takesStore(next) { return index + 1 }
            command = next
        }
        return nil
    }

    private static func name(_ command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }

    /// - Returns: whether the shell continues.
    /// - Throws: `UsageError`; the exit code of a command that failed.
    func run(_ line: String, _ history: [String]) throws -> Bool {
        let words = try ShellWords.split(line)
        guard let first = words.first else { return true }
        switch first {
        case ".quit", ".exit", "quit", "exit": return false
        case ".help": printHelp()
        case ".entities": for name in completion.entityNames { Output.shared.line(name) }
        case ".history": for line in history { Output.shared.line(line) }
        case ".properties":
            guard words.count == 2 else { throw UsageError("Name one entity: .properties Film.") }
            for property in try EntityName.find(words[1], in: schema).properties where property.storage != .position {
                Output.shared.line(property.name)
            }
        case _ where first.hasPrefix("."):
            throw UsageError("There is no '\(first)'; .help lists what there is.")
        default: try runCommand(try arguments(words, line))
        }
        return true
    }

    /// The words of the command line that a line stands for.
    private func arguments(_ words: [String], _ line: String) throws -> [String] {
        if schema.entity(named: words[0]) != nil {
            let rest = line.drop(while: \.isWhitespace).dropFirst(words[0].count).drop(while: \.isWhitespace)
            let options = ShellWords.startOfOptions(in: rest)
            let condition = Self.withoutWhere(rest[..<options].trimmingCharacters(in: .whitespaces))
            if condition.isEmpty {
                return ["query", store.path] + ShellWords.joiningLists(words) + keyFiles(words)
            }
            let more = ShellWords.joiningLists(try ShellWords.split(String(rest[options...])))
            return ["query", store.path, words[0], "--where", condition] + more + keyFiles(more)
        }
        try checkBeginning(words[0])
        try CommandNames.check(words)
        guard let length = Self.length(ofCommandIn: words), !words.contains("--help") else { return words }
        let rest = ShellWords.joiningLists(Array(words[length...]))
        return words[..<length] + [store.path] + rest + (words[0] == "model" ? [] : keyFiles(words))
    }

    /// `where` may stand before a condition, as in a sentence.
    private static func withoutWhere(_ condition: String) -> String {
        guard let match = condition.prefixMatch(of: /(?i:where)\s+(?!=|<|>|!)/) else { return condition }
        return String(condition[match.range.upperBound...])
    }

    /// Refuses a first word that is no command, with the nearest entity or command.
    private func checkBeginning(_ word: String) throws {
        let commands = Self.commands.map(Self.name) + ["help"]
        if StrataCommand.configuration.subcommands.contains(where: { Self.name($0) == word }) || commands.contains(word)
        {
            return
        }
        let near = NearestName.of(word, among: completion.entityNames + commands + ["quit"])
        let hint = near.map { " Did you mean '\($0)'?" } ?? ""
        let entity = completion.entityNames.lazy.compactMap { schema.entity(named: $0) }.first
        let key = entity?.properties.first { $0.attribute != nil }?.name
        let example = key.map { ", such as '\(entity?.name ?? "") \($0) != nil'" } ?? ""
        throw UsageError(
            "There is no entity and no command '\(word)'.\(hint) A line is an entity and a condition\(example), or a "
                + "command; .help lists them.")
    }

    /// The shell's own key files, for a line that names none.
    private func keyFiles(_ words: [String]) -> [String] {
        if words.contains(where: { $0 == "--key-file" || $0.hasPrefix("--key-file=") }) { return [] }
        return store.keyFile.flatMap { ["--key-file", $0] }
    }

    /// Runs a command in a process of its own, so that neither its end nor Ctrl-C ends the shell.
    private func runCommand(_ arguments: [String]) throws {
        Output.shared.flush()
        guard let end = GuardedRun.childEnd([:], [CommandLine.arguments.first ?? "strata"] + arguments) else {
            throw UsageError("The system could not start a process for the command.")
        }
        switch end {
        case .code(ExitStatus.fine): break
        case .code(let code): throw ExitCode(code)
        case .signal(let number): throw ExitCode(128 + number)
        }
    }

    private func printHelp() {
        var columns = Columns([.left, .left], indent: "  ")
        columns.add("ENTITY CONDITION", "Finds objects: Film rating > 4.")
        for command in Self.commands { columns.add(Self.name(command), command.configuration.abstract) }
        for (name, text) in Self.ownCommands { columns.add(name, text) }
        columns.flush()
        Output.shared.line("'COMMAND --help' tells more.")
    }

    // MARK: Completion

    /// Returns completions for the end of the text before the cursor.
    func completions(of text: String) -> (count: Int, texts: [String]) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let word = words.last ?? ""
        let before = words.dropLast().filter { !$0.isEmpty }
        func matching(_ names: [String]) -> (count: Int, texts: [String]) {
            (word.count, names.filter { $0.hasPrefix(word) && !$0.isEmpty }.map { $0 + " " })
        }
        guard let first = before.first else {
            return matching(Self.commands.map(Self.name) + Self.ownCommands.map(\.0) + completion.entityNames)
        }
        var command = Self.commands.first { Self.name($0) == first }
        if command == nil, completion.entity(named: first) != nil { command = QueryCommand.self }
        let parts = command?.configuration.subcommands ?? []
        if !parts.isEmpty {
            guard before.count > 1 else { return matching(parts.map(Self.name)) }
            command = parts.first { Self.name($0) == before[1] }
        }
        if word.hasPrefix("-") { return matching(command.map(CommandNames.options) ?? []) }
        let reference = word.split(separator: "=", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        if reference.contains("/"), completion.entity(named: reference) != nil {
            let end = reference == word ? " " : ""
            return (reference.count, references(beginningWith: reference).map { $0 + end })
        }
        guard let entity = before.lazy.compactMap(completion.entity(named:)).first else {
            return matching(completion.entityNames)
        }
        let count = NameCompletion.lengthOfPath(atEndOf: word)
        return (count, completion.keyPaths(completing: String(word.suffix(count)), of: entity))
    }

    /// The objects whose names begin so, such as `Film/p1`: a page of them.
    private func references(beginningWith text: String) -> [String] {
        guard let entity = completion.entity(named: text) else { return [] }
        do {
            return try store.reading { store in
                var names: [String] = []
                var left = Self.mostRead
                try store.read(at: try store.head()) { snapshot in
                    try snapshot.scan(entity.id) { id, _ in
                        let name = id.named(entity.name)
                        if name.hasPrefix(text) { names.append(name) }
                        left -= 1
                        return names.count < Self.mostReferences && left > 0
                    }
                }
                return names
            }
        } catch {
            // There is nothing to complete; the line itself will say why.
            return []
        }
    }

    private static let mostReferences = 50
    /// Objects that are looked at, so that a key answers at once.
    private static let mostRead = 100_000
}

/// The lines of earlier sessions.
private struct HistoryFile {
    private let url: URL

    init() {
        let environment = ProcessInfo.processInfo.environment
        let state = environment["XDG_STATE_HOME"] ?? NSString(string: "~/.local/state").expandingTildeInPath
        url = URL(filePath: environment["STRATA_HISTORY"] ?? state + "/strata/history")
    }

    func lines() -> [String] {
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    /// Others cannot read it. A directory that cannot be written has no history.
    func write(_ lines: [String]) {
        let path = url.path(percentEncoded: false)
        try? FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        _ = FileManager.default.createFile(
            atPath: path, contents: Data((lines.joined(separator: "\n") + "\n").utf8),
            attributes: [.posixPermissions: 0o600])
    }
}
