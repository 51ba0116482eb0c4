import ArgumentParser
import StrataModel
import StrataXcode

struct ModelCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Says what is wrong with a model, and what of Xcode's file has no effect here.",
        discussion: """
            A fault keeps the model from being used: exit code 1. A note is something that Xcode can say and Strata does \
            not do; it is kept and exported again.

            --json prints {"model", "sound", "entities", "properties", "faults": [{"entity", "key", "message"}], \
            "notes": [{"kind", "line", "column", "owner", "message"}]}.

            Examples:
                strata model check Movies.xcdatamodeld
                strata model check Movies.xcdatamodeld --version 'Movies 2' --json
            """)

    @OptionGroup var model: ModelArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let input = try model.load()
        let faults = input.faults
        if json {
            Output.shared.line(try JSONText.of(CheckText(input, faults)))
        } else {
            let style = Style.standard
            for fault in faults { Output.shared.line("\(style("fault:", .red)) \(fault.message)") }
            for note in input.diagnostics { Output.shared.line("\(style("note:", .yellow)) \(note)") }
            Output.shared.line(
                faults.isEmpty
                    ? "\(style("sound", .green)): \(Self.size(of: input))"
                    : "\(style(ValueText.count(faults.count, "fault"), .red)): \(Self.size(of: input))")
        }
        if !faults.isEmpty { throw ExitStatus.FoundProblem() }
    }

    static func size(of input: ModelInput) -> String {
        let properties = input.entities.reduce(0) { $0 + $1.properties.count }
        return "\(input.name), \(ValueText.count(input.entities.count, "entity", "entities")), "
            + ValueText.count(properties, "property", "properties")
    }

    private struct CheckText: Encodable {
        struct Fault: Encodable {
            let entity: String?
            let key: String?
            let message: String
        }

        let model: String
        let sound: Bool
        let entities: Int
        let properties: Int
        let faults: [Fault]
        let notes: [NoteText]

        init(_ input: ModelInput, _ faults: [StrataError]) {
            model = input.name
            sound = faults.isEmpty
            entities = input.entities.count
            properties = input.entities.reduce(0) { $0 + $1.properties.count }
            self.faults = faults.map {
                Fault(entity: $0.context.entityName, key: $0.context.key, message: $0.message)
            }
            notes = input.diagnostics.map(NoteText.init)
        }
    }
}

/// A note on a file as JSON.
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
