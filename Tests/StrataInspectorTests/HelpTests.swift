import Foundation
import Testing

/// The help of every command, word for word as `Help/` has it. `STRATA_GOLDEN=write` writes these files anew.
@Suite struct HelpTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(component: "Help")

    /// Every command that the program names in its help.
    private static func commands() throws -> [String] {
        try Tool.run("--help").output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("  "), !line.hasPrefix("   "), let word = line.split(separator: " ").first,
                word.allSatisfy({ $0.isLowercase || $0 == "-" }), !word.hasPrefix("-")
            else { return nil }
            return String(word)
        }
    }

    @Test func everyCommandHasTheHelpThatItsFileHas() throws {
        let commands = try Self.commands()
        #expect(commands.count >= 20)
        for command in [[]] + commands.map({ [$0] }) {
            let name = command.first ?? "strata"
            let result = try Tool.run((command + ["--help"]), environment: ["COLUMNS": "80"])
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

    @Test func theHelpOfEveryCommandSaysWhatItsJSONLooksLike() throws {
        for command in try Self.commands() where command != "completions" && command != "help" {
            let help = try Tool.run(command, "--help").output
            #expect(help.contains("--json") && help.contains("{\""), "\(command)")
        }
    }
}
