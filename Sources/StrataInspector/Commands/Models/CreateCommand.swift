import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata create`: makes an empty store with the entities of a model.
struct CreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes an empty store with the entities of a model.",
        discussion: """
            The model is an .xcdatamodeld, an .xcdatamodel, or another store. Settings of the model that have no \
            effect in Strata are noted on standard error. An existing store is left alone: exit code 1.

            --json prints {"path", "store", "model", "entities", "notes": [{"kind", "line", "column", "owner", "message"}]}.

            Examples:
                strata create Movies.strata --model Movies.xcdatamodeld
                strata create Movies.strata --model Movies.xcdatamodeld \\
                    --version 'Movies 2'
            """)

    @Argument(help: ArgumentHelp("The directory to make; it must not exist.", valueName: "store")) var path: String
    @Option(help: ArgumentHelp("The model.", valueName: "model")) var model: String
    @Option(help: ArgumentHelp("The version of the model; by default the current one.", valueName: "version"))
    var version: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let input = try ModelInput.load(model, version: version)
        let known = try input.model()
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StrataError(.persistentStoreOpen, "\(path) exists already.")
        }
        Interrupt.endAtOnce(making: path)
        let target = URL(filePath: path, directoryHint: .isDirectory)
        let identifier = try Store.make(at: target, during: "making the store") { folder in
            let store = try Store.open(.directory(folder), model: known, options: StoreOptions())
            defer { store.close() }
            return store.identifier.uuidString
        }
        Interrupt.finish()
        if json {
            return try JSONText.print([
                "path": path, "store": identifier, "model": input.name, "entities": known.entities.count,
                "notes": input.diagnostics.map(\.json),
            ])
        }
        for note in input.diagnostics { Output.printError("note: \(note)") }
        Output.shared.line(
            "\(path): an empty store of \(input.name), \(ValueText.count(known.entities.count, "entity", "entities"))")
    }
}
