import ArgumentParser
import Foundation
import StrataModel
import StrataStore
import StrataXcode

/// A model named on the command line: a file of Xcode's, or a store.
struct ModelInput {
    /// The model's name for people: `Movies 2`, or `version 3`.
    let name: String
    let entities: [EntityDescription]
    /// Parts of the file that have no effect in Strata.
    let diagnostics: [XcodeDiagnostic]
    private let checked: Result<ManagedObjectModel, StrataError>
    /// The store's numbers for entities and properties; nil for a file.
    let schema: Schema?

    /// - Throws: `invalidModel`, which names the first problem.
    func model() throws -> ManagedObjectModel {
        guard case .failure(let error) = checked, let first = error.details.first else { return try checked.get() }
        let more = error.details.count > 1 ? " (strata model check names all of them)" : ""
        throw StrataError(error.code, "\(error.message) \(first.message)\(more)", details: error.details)
    }

    /// Every problem of the model.
    var problems: [StrataError] {
        guard case .failure(let error) = checked else { return [] }
        return error.details.isEmpty ? [error] : error.details
    }

    /// - Parameters:
    ///   - path: an `.xcdatamodeld`, an `.xcdatamodel`, or a store's directory.
    ///   - version: the name of a version, or its number in a store; nil for the current one.
    static func load(_ path: String, version: String? = nil) throws -> ModelInput {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StrataError(.invalidModelFile, "There is nothing at \(path).")
        }
        let url = URL(filePath: path)
        guard FileManager.default.fileExists(atPath: path + "/data.mdb") else { return try file(url, version) }
        return try StoreArguments(path: path).reading { store in try Self.stored(store, version) }
    }

    private static func file(_ url: URL, _ version: String?) throws -> ModelInput {
        let file = try XcodeModelBundle(contentsOf: url).model(version: version)
        let checked: Result<ManagedObjectModel, StrataError>
        do throws(StrataError) { checked = .success(try file.managedObjectModel()) } catch { checked = .failure(error) }
        return ModelInput(
            name: file.name, entities: file.entities, diagnostics: file.diagnostics, checked: checked, schema: nil)
    }

    private static func stored(_ store: Store, _ version: String?) throws -> ModelInput {
        var schema = store.schema
        if let version {
            guard let found = try store.schemas.first(where: { "\($0.version.rawValue)" == version }) else {
                let known = try store.schemas.map { "\($0.version.rawValue)" }.joined(separator: ", ")
                throw UsageError("The store has no model version '\(version)'. It has \(known).")
            }
            schema = found
        }
        return ModelInput(
            name: "version \(schema.version.rawValue)", entities: schema.model.entities, diagnostics: [],
            checked: .success(schema.model), schema: schema)
    }
}

/// The MODEL argument of commands that read one.
struct ModelArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("An .xcdatamodeld, an .xcdatamodel, or a store.", valueName: "model"))
    var path: String
    @Option(help: ArgumentHelp("The version to read: its name, or its number in a store.", valueName: "version"))
    var version: String?

    func load() throws -> ModelInput { try ModelInput.load(path, version: version) }
}
