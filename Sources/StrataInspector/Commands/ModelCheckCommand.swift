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
            Output.shared.line(try JSONText.of(CheckText(input, problems)))
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
        let properties = input.entities.reduce(0) { $0 + $1.properties.count }
        return "\(input.name), \(ValueText.count(input.entities.count, "entity", "entities")), "
            + ValueText.count(properties, "property", "properties")
    }

    private struct CheckText: Encodable {
        struct Problem: Encodable {
            let entity: String?
            let key: String?
            let message: String
        }

        let model: String
        let sound: Bool
        let entities: Int
        let properties: Int
        let problems: [Problem]
        let notes: [NoteText]

        init(_ input: ModelInput, _ problems: [StrataError]) {
            model = input.name
            sound = problems.isEmpty
            entities = input.entities.count
            properties = input.entities.reduce(0) { $0 + $1.properties.count }
            self.problems = problems.map {
                Problem(entity: $0.context.entityName, key: $0.context.key, message: $0.message)
            }
            notes = input.diagnostics.map(NoteText.init)
        }
    }
}

/// A note about a model file, as JSON.
struct NoteText: Encodable {
    let kind: String
    let line: Int
    let column: Int
    let owner: String?
    let message: String

    init(_ diagnostic: XcodeDiagnostic) {
        kind = diagnostic.kind.rawValue
        line = diagnostic.location.line
        column = diagnostic.location.column
        owner = diagnostic.owner
        message = diagnostic.sentence
    }
}
