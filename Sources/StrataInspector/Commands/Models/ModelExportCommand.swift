import ArgumentParser
import Foundation
import StrataModel
import StrataXcode

/// `strata model export`: writes a model, also from a store, as a file that Xcode opens.
struct ModelExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a model, also from a store, as a file that Xcode opens.",
        discussion: """
            TARGET is an .xcdatamodeld, in which the model becomes a version and the current one, or an .xcdatamodel. \
            An existing version is not overwritten. What Xcode cannot express is kept in user info under keys that \
            begin with strata.

            --json prints {"path", "version", "entities"}.

            Examples:
                strata model export Movies.strata Movies.xcdatamodeld
                strata model export Movies.strata Old.xcdatamodeld --version 1
            """)

    @OptionGroup var model: ModelArguments
    @Argument(help: ArgumentHelp("The file to write.", valueName: "target")) var target: String
    @Option(name: .customLong("as"), help: ArgumentHelp("The name of the new version.", valueName: "name"))
    var versionName: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard target.hasSuffix(".xcdatamodeld") || target.hasSuffix(".xcdatamodel") else {
            throw ValidationError("The target must end in .xcdatamodeld or .xcdatamodel.")
        }
    }

    func run() throws {
        let input = try model.load()
        let known = try input.model()
        let url = URL(filePath: target, directoryHint: .isDirectory)
        let name = versionName ?? url.deletingPathExtension().lastPathComponent
        do {
            try XcodeModelBundle.write(known, to: url, versionName: name)
        } catch let error as POSIXError {
            throw error.ofWriting(target)
        }
        if json {
            try JSONText.print(["path": target, "version": name, "entities": known.entities.count])
        } else {
            Output.shared.line("\(target): \(name), \(ValueText.count(known.entities.count, "entity", "entities"))")
        }
    }
}
