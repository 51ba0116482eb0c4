import Foundation
import Testing

@testable import StrataInspector

extension JSONShapeTests {
    /// Words of the help with the arguments after them; STORE, FULL, BARE and NEW are put in place.
    struct Run {
        let command: String
        var arguments: [String] = []
        var exitCode: Int32 = 0
        /// A document a line.
        var isLines = false
        /// Whether keys are held against the help: those of rows are columns.
        var hasKeys = true
    }

    func documents(_ run: Run) throws -> [InputValue] {
        let words = run.command.split(separator: " ").map(String.init)
        let result = try Tool.run(words + run.arguments + (run.isLines && run.command == "query" ? [] : ["--json"]))
        #expect(result.exitCode == run.exitCode, "\(run): \(result)")
        #expect(result.output.hasSuffix("\n") || run.isLines && result.output.isEmpty, "\(run)")
        guard run.isLines else { return [try JSONReader.value(result.output)] }
        return try result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            try JSONReader.value(String($0))
        }
    }

    // MARK: Shapes

    /// The words in quotes of the paragraph about `--json`, and those of them that hold objects with keys of the store's.
    func documented(_ command: String) throws -> (words: Set<String>, open: Set<String>) {
        let help = try Tool.run(
            command.split(separator: " ").map(String.init) + ["--help"], environment: ["COLUMNS": "100000"]
        ).output
        let paragraph = try #require(
            help.components(separatedBy: "\n\n").first {
                ($0.contains("--json") || $0.hasPrefix("json is")) && $0.contains("\"")
            }, "\(command)")
        let words = paragraph.matches(of: /"(\w+)"/).map { String($0.1) }
        let open = paragraph.matches(of: /"(\w+)": \{\w+:/).map { String($0.1) }
        return (Set(words), Set(open))
    }

    func check(_ command: String, _ runs: [Run], alsoFrom others: [String] = [], rare: Set<String> = []) throws {
        var (words, open) = try documented(command)
        let own = words
        for other in others {
            let (more, openThere) = try documented(other)
            words.formUnion(more)
            open.formUnion(openThere)
        }
        var found = FoundKeys()
        for run in runs { for document in try documents(run) { found.take(document, open: open) } }
        #expect(found.keys.subtracting(words).isEmpty, "\(command): keys that its help does not name")
        #expect(
            own.subtracting(found.keys).subtracting(found.texts).subtracting(rare).isEmpty,
            "\(command): words of its help that it does not print")
    }
}
