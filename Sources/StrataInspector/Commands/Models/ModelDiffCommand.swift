import ArgumentParser
import StrataModel

/// `strata model diff`: shows what changes from one model to another, and what a migration does for it.
struct ModelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Shows what changes from one model to another, and what a migration does for it.",
        discussion: """
            OTHER is a second model. Without it, two versions of MODEL are compared: --version (or the current one) \
            with --other-version. Each change is one line: the work that existing objects need (none, build an index, \
            scan, rewrite), and the change. The exit code is 0 whether or not something changes.

            --json prints {"from", "to", "work", "changes": [{"kind", "work", "entity", "key", "message"}]}.

            Examples:
                strata model diff Movies.xcdatamodeld --version Movies \\
                    --other-version 'Movies 2'
                strata model diff Movies.strata Movies.xcdatamodeld
            """)

    @OptionGroup var model: ModelArguments
    @Argument(help: ArgumentHelp("The second model.", valueName: "other")) var other: String?
    @Option(help: ArgumentHelp("The version of the other model.", valueName: "version")) var otherVersion: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if other == nil, otherVersion == nil {
            throw ValidationError("Name a second model, or --other-version.")
        }
    }

    func run() throws {
        let from = try model.load()
        let to = try ModelInput.load(other ?? model.path, version: otherVersion)
        let target = try to.model()
        let difference = try SchemaDifference(from: try from.schema ?? Self.schema(try from.model()), to: target)
        if json {
            let changes = difference.changes.map { change -> JSONObject in
                [
                    "kind": change.kind.rawValue, "work": "\(change.work)", "entity": change.entityName,
                    "key": change.key, "message": change.sentence,
                ]
            }
            return try JSONText.print([
                "from": from.name, "to": to.name, "work": "\(difference.work)", "changes": changes,
            ])
        }
        var columns = Columns([.left, .left])
        for change in difference.changes {
            columns.add([.init("\(change.work)", Self.colour(change.work)), .init(change.sentence)])
        }
        columns.flush()
        Output.shared.line(
            difference.changes.isEmpty
                ? "\(from.name) and \(to.name) are the same"
                : "\(from.name) -> \(to.name): \(ValueText.count(difference.changes.count, "change"))")
    }

    private static func schema(_ model: ManagedObjectModel) throws -> Schema {
        try Schema(
            version: ModelVersion(rawValue: 1), model: model,
            assignment: try ModelAssignment().extended(for: model, from: nil))
    }

    private static func colour(_ work: MigrationPlan.Work) -> Style.Colour {
        switch work {
        case .none: .green
        case .build, .scan: .yellow
        case .rewrite: .red
        }
    }
}
