import ArgumentParser
import StrataModel
import StrataXcode

/// `strata model check`: lists the problems of a model, and the settings of Xcode's file that have no effect in Strata.
struct ModelCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Lists the problems of a model, and the settings of Xcode's file that have no effect in Strata.",
        discussion: """
            A problem keeps the model from being used: exit code 1. A note names a setting that Xcode knows and that has no \
            effect in Strata; it is kept and exported again.

            --json prints {"model", "sound", "entities", "properties", "problems": [{"entity", "key", "message"}], \
            "notes": [{"kind", "line", "column", "owner", "message"}]}.

            Examples:
                strata model check Movies.xcdatamodeld
                strata model check Movies.xcdatamodeld --version 'Movies 2' --json
            """)

    @OptionGroup var model: ModelArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let input = try model.load()
        let problems = input.problems
        if json {
            try JSONText.print([
                "model": input.name, "sound": problems.isEmpty, "entities": input.entities.count,
                "properties": Self.propertyCount(of: input),
                "problems": problems.map { problem -> JSONObject in
                    ["entity": problem.context.entityName, "key": problem.context.key, "message": problem.message]
                },
                "notes": input.diagnostics.map(\.json),
            ])
        } else {
            let style = Style.standard
            for problem in problems { Output.shared.line("\(style("problem:", .red)) \(problem.message)") }
            for note in input.diagnostics { Output.shared.line("\(style("note:", .yellow)) \(note)") }
            Output.shared.line(
                problems.isEmpty
                    ? "\(style("sound", .green)): \(Self.size(of: input))"
                    : "\(style(ValueText.count(problems.count, "problem"), .red)): \(Self.size(of: input))")
        }
        if !problems.isEmpty { throw ExitStatus.FoundProblem() }
    }

    static func size(of input: ModelInput) -> String {
        "\(input.name), \(ValueText.count(input.entities.count, "entity", "entities")), "
            + ValueText.count(propertyCount(of: input), "property", "properties")
    }

    private static func propertyCount(of input: ModelInput) -> Int {
        input.entities.reduce(0) { $0 + $1.properties.count }
    }
}

extension XcodeDiagnostic {
    var json: JSONObject {
        [
            "kind": kind.rawValue, "line": location.line, "column": location.column, "owner": owner,
            "message": sentence,
        ]
    }
}
