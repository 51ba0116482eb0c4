import Foundation
import PackagePlugin

/// A build plug-in that generates classes from the `.xcdatamodeld` bundles in a target, as Xcode does.
@main
struct StrataModels: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let tool = try context.tool(named: "strata-generate")
        return models(in: target.directoryURL).map { model in
            let name = model.deletingPathExtension().lastPathComponent
            let output = context.pluginWorkDirectoryURL.appending(path: "\(name)Model.swift")
            return .buildCommand(
                displayName: "Generating classes of \(name)", executable: tool.url,
                arguments: [model.path(percentEncoded: false), output.path(percentEncoded: false)],
                inputFiles: files(in: model), outputFiles: [output])
        }
    }

    private func models(in directory: URL) -> [URL] {
        entries(of: directory).filter { $0.pathExtension == "xcdatamodeld" }.sorted { $0.path < $1.path }
    }

    /// The files that the code depends on: the versions of the model, and the name of the current one.
    private func files(in model: URL) -> [URL] {
        entries(of: model).filter { ["contents", ".xccurrentversion"].contains($0.lastPathComponent) }
            .sorted { $0.path < $1.path }
    }

    private func entries(of directory: URL) -> [URL] {
        let all = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        return all?.compactMap { $0 as? URL } ?? []
    }
}
