import ArgumentParser
import StrataModel
import StrataStore

/// `strata views`: lists, shows, queries, makes and drops views of a store.
struct ViewsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views",
        abstract: "Lists, shows, queries, makes and drops views of a store.",
        discussion: """
            A view groups the objects of an entity and keeps aggregates of each group. The store keeps it in step with \
            every commit.

            Each takes --json; what it prints stands in its own help, such as {"views": [...]} of \
            `strata help views list`.
            """,
        subcommands: [
            ViewsListCommand.self, ViewsShowCommand.self, ViewsQueryCommand.self, ViewsCreateCommand.self,
            ViewsDropCommand.self, ViewsRebuildCommand.self,
        ])
}

/// Finds a view by name.
enum ViewName {
    /// - Throws: `UsageError` with the names that exist.
    static func find(_ name: String, in schema: Schema) throws -> ViewDescription {
        if let view = schema.model.view(named: name) { return view }
        if schema.model.views.isEmpty { throw UsageError("The store's model declares no views.") }
        let known = NameSuggestions(schema.model.views.map(\.name))
        throw UsageError("The model has no view '\(name)'.\(known.hint(for: name))")
    }
}

extension ViewUse {
    var json: JSONObject {
        [
            "name": description.name, "version": description.version, "entity": description.entityName,
            "definition": description.description, "rows": groupCount, "values": valueCount,
            "orderEntries": orderCount, "bytes": sizeInBytes,
        ]
    }
}
