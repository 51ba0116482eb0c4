import ArgumentParser
import Foundation
import Testing

@testable import StrataInspector

/// The help of every command, word for word as `Help/` has it. `STRATA_GOLDEN=write` writes these files anew.
@Suite struct HelpTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(component: "Help")

    /// Every command that the program names in its help, and those below it; each as its words.
    private static func commands(below words: [String] = []) throws -> [[String]] {
        var isList = false
        var found: [[String]] = []
        for line in try Tool.run(words + ["--help"]).output.split(separator: "\n") {
            if !line.hasPrefix(" ") { isList = line.hasSuffix("SUBCOMMANDS:") }
            guard isList, line.hasPrefix("  "), !line.hasPrefix("   "), let word = line.split(separator: " ").first,
                word.allSatisfy({ $0.isLowercase || $0 == "-" })
            else { continue }
            let command = words + [String(word)]
            found += [command] + (try commands(below: command))
        }
        return found
    }

    @Test func everyCommandHasTheHelpThatItsFileHas() throws {
        let commands = try Self.commands()
        #expect(commands.count >= 20)
        for command in [[]] + commands {
            let name = command.isEmpty ? "strata" : command.joined(separator: "-")
            let result = try Tool.run(command + ["--help"], environment: ["COLUMNS": "80"])
            #expect(result.exitCode == 0 && result.error.isEmpty, "\(name)")
            let file = Self.directory.appending(component: "\(name).txt")
            if ProcessInfo.processInfo.environment["STRATA_GOLDEN"] == "write" {
                try FileManager.default.createDirectory(at: Self.directory, withIntermediateDirectories: true)
                try Data(result.output.utf8).write(to: file)
            } else {
                #expect(result.output == (try String(contentsOf: file, encoding: .utf8)), "\(name)")
            }
        }
    }

    /// Each line of an example is read by the program as it stands.
    @Test func theHelpOfEveryCommandHasExamplesThatAreRead() throws {
        let commands = try Self.commands()
        for command in commands
        where !commands.contains(where: { $0.count > command.count && $0.starts(with: command) }) {
            let help = try Tool.run(command + ["--help"], environment: ["COLUMNS": "80"]).output
                .replacing("\\\n", with: "")
            let examples = help.split(separator: "\n").filter {
                $0.hasPrefix("    strata ") || $0.contains(" | strata ")
            }
            #expect(!examples.isEmpty, "\(command)")
            for example in examples {
                let words = try Self.words(String(example))
                #expect(words.starts(with: command), "\(example)")
                #expect(throws: Never.self, "\(example)") { try StrataCommand.parseAsRoot(words) }
            }
        }
    }

    /// A line that is too long is broken where the shell does not go on.
    @Test func noLineOfAnExampleIsTooLong() throws {
        for command in try Self.commands() {
            let help = try Tool.run(command + ["--help"], environment: ["COLUMNS": "80"]).output
            let examples = help.split(separator: "\n").drop { !["Example:", "Examples:"].contains($0) }.dropFirst()
            for line in examples.prefix(while: { !$0.hasPrefix("USAGE:") }) {
                #expect(line.hasPrefix("    "), "\(command)")
            }
        }
    }

    /// The words of the last command of a line of shell, without what leads elsewhere.
    private static func words(_ line: String) throws -> [String] {
        var words = [""]
        var isQuoted = false
        for letter in line {
            switch letter {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(letter)
            }
        }
        let last = try #require(words.lastIndex(of: "strata"))
        return words[(last + 1)...].filter { !$0.isEmpty }.prefix { $0 != ">" }
    }

    @Test(arguments: [
        (["help", "qurey"], "There is no command 'strata qurey'. Did you mean 'strata query'?"),
        (["qurey", "STORE", "Film"], "There is no command 'strata qurey'. Did you mean 'strata query'?"),
        (["model", "chekc", "M"], "There is no command 'strata model chekc'. Did you mean 'strata model check'?"),
        (["help", "model", "frob"], "There is no command 'strata model frob'."),
        (["help", "frob"], "There is no command 'strata frob'."),
    ])
    func anUnknownCommandIsRefusedWithTheNearestName(words: [String], sentence: String) throws {
        let result = try Tool.run(words)
        #expect(result.exitCode == 2 && result.output.isEmpty, "\(result)")
        #expect(result.error.hasPrefix("strata: \(sentence)"), "\(result)")
    }

    @Test func helpOfACommandIsItsHelp() throws {
        #expect(try Tool.run("help", "model", "check") == Tool.run("model", "check", "--help"))
        #expect(try Tool.run("help").exitCode == 0)
        #expect(try Tool.run("--help").exitCode == 0)
        #expect(try Tool.run("help", "--help").exitCode == 0)
    }

    @Test func theHelpOfEveryCommandSaysWhatItsJSONLooksLike() throws {
        let commands = try Self.commands()
        for command in commands where command != ["completions"] {
            // A command that only has others below it has nothing to print.
            if commands.contains(where: { $0.count > command.count && $0.starts(with: command) }) { continue }
            let help = try Tool.run(command + ["--help"]).output
            #expect(help.contains("--json") && help.contains("{\""), "\(command)")
        }
    }

    /// In very few columns the argument parser would end the process.
    @Test(arguments: ["-1", "0", "1", "26", "27", "39", "99999999999999999999", "wide"])
    func helpIsWrittenInAnyWidth(columns: String) throws {
        for words in [["--help"], ["help", "query"], ["query", "--limit"]] {
            let result = try Tool.run(words, environment: ["COLUMNS": columns])
            #expect(result.exitCode == (words == ["query", "--limit"] ? 2 : 0), "\(result)")
            #expect(
                (result.output + result.error).contains("strata query") || result.output.contains("query  "),
                "\(result)")
        }
    }

    @Test(arguments: [1, 10]) func helpIsWrittenInANarrowTerminal(width: Int) throws {
        let result = try Tool.onTerminal(["help", "count"], .output, width: width)
        #expect(result.exitCode == 0 && result.output.contains("USAGE: strata count"), "\(result)")
    }
}
