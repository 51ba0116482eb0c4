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
            every commit, or catches up behind the commits.

            Each takes --json; what it prints stands in its own help, such as {"views": [...]} of \
            `strata help views list`.
            """,
        subcommands: [
            ViewsListCommand.self, ViewsShowCommand.self, ViewsQueryCommand.self, ViewsCreateCommand.self,
            ViewsDropCommand.self, ViewsRebuildCommand.self, ViewsRetryCommand.self, ViewsSkipCommand.self,
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
            "orderEntries": orderCount, "bytes": sizeInBytes, "upkeep": description.upkeep.rawValue,
            "state": stateName, "progress": progress, "position": upkeep.eventNumber.rawValue,
            "lagEvents": upkeep.lagInEvents, "lagSeconds": upkeep.lag / .seconds(1),
            "leftOut": upkeep.leftOut.map { "\($0)" }, "failure": JSONObject.orNull(failure?.json),
        ]
    }

    /// `live`, `building` or `failed`.
    var stateName: String {
        switch upkeep.phase {
        case .live: "live"
        case .building: "building"
        case .failed: "failed"
        }
    }

    private var progress: Double {
        if case .building(let part) = upkeep.phase { part } else { 1 }
    }

    var failure: ViewFailure? {
        if case .failed(let failure) = upkeep.phase { failure } else { nil }
    }

    /// The view's state, in a few words.
    var stateText: String {
        switch upkeep.phase {
        case .live where upkeep.lagInEvents == 0: "live"
        case .live: "live, \(ValueText.count(Int(clamping: upkeep.lagInEvents), "event")) behind"
        case .building(let part): "building \(Int(part * 100)) %"
        case .failed(let failure): "failed at event \(failure.eventNumber)"
        }
    }
}

extension ViewFailure {
    var json: JSONObject {
        [
            "event": eventNumber.rawValue, "object": "\(object)", "reason": reason, "attempts": Int(attempts),
        ]
    }
}
