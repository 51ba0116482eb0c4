import Foundation
import LMDB
import StrataModel

/// Decides whether a model is one that the store has left behind, and names the values that going back to it would
/// hide.
///
/// The models of a store are ranked by when each was first installed. Models that differ in metadata only are the same.
struct Downgrade {
    /// The version under which the store first had the model.
    let version: ModelVersion
    private let newest: Schema

    /// Nil if the model is new to the store, or not older than its newest one.
    init?(to model: ManagedObjectModel, _ histories: SchemaHistory) throws {
        guard let newest = histories.newest else { return nil }
        let schemas = try histories.schemas(histories.versions)
        guard let known = try schemas.first(where: { try $0.isSame(as: model) }),
            let current = try schemas.first(where: { try $0.isSame(as: newest.model) }),
            known.version < current.version
        else { return nil }
        version = known.version
        self.newest = newest
    }

    /// - Parameter installation: the transaction that installed the newest model, if it is known.
    func refusal(_ plan: MigrationPlan, installation: TransactionRecord?, path: String) -> StrataError {
        let hidden = plan.steps.filter { $0.hiddenValueCount > 0 }
        var made = ""
        if let installation {
            let program = installation.metadata[MigrationOptions.programKey]
            made = ", installed on \(installation.date.formatted(.iso8601))" + (program.map { " by \($0)" } ?? "")
        }
        let message =
            "The store has model \(newest.version.rawValue)\(made). The model given is its older model "
            + "\(version.rawValue). "
            + "Going back would hide \(Self.list(hidden)). Open the store with the newer version of the app, or allow "
            + "the older model with PersistentStoreOptions.allowsModelDowngrade; hidden values return with their "
            + "properties."
        return StrataError(
            .modelDowngrade, message, context: .init(eventNumber: installation?.lastEvent, path: path),
            details: hidden.map { step in
                StrataError(
                    .modelDowngrade, "\(Self.amount(of: step)) would be hidden.",
                    context: .init(entityName: step.entityName, key: step.key))
            })
    }

    private static let mostNamed = 10

    private static func list(_ steps: [MigrationPlan.Step]) -> String {
        if steps.isEmpty { return "no values" }
        var parts = steps.prefix(mostNamed).map { step in
            "\(amount(of: step)) of \(step.entityName)" + (step.key.map { ".\($0)" } ?? "")
        }
        if steps.count > mostNamed { parts.append("\(steps.count - mostNamed) more") }
        return parts.count == 1 ? parts[0] : "\(parts.dropLast().joined(separator: ", ")) and \(parts[parts.count - 1])"
    }

    private static func amount(of step: MigrationPlan.Step) -> String {
        let noun = step.key == nil ? "object" : "value"
        return "\(step.hiddenValueCount) \(noun)\(step.hiddenValueCount == 1 ? "" : "s")"
    }
}
