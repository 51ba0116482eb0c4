import Foundation
import StrataModel
import StrataXcode

/// `strata-generate MODEL FILE`: the program that the build plug-in `StrataModels` runs.
///
/// It writes one Swift file with the classes that Xcode would generate for the model: the whole class for entities
/// whose code generation is "class", the properties for "category", and nothing for the others.
@main
struct GenerateProgram {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { fail("usage: strata-generate MODEL FILE", code: 2) }
        do {
            try generate(URL(filePath: arguments[1]), to: URL(filePath: arguments[2]))
        } catch let error as StrataError {
            // The format of compiler messages, so that editors show it at its location.
            let location = (error.cause as? ModelFileError).map { ":\($0.location.line):\($0.location.column)" } ?? ""
            let lines = error.details.isEmpty ? [error.message] : error.details.map(\.message)
            fail(
                lines.map { "\(error.context.path ?? arguments[1])\(location): error: \($0)" }.joined(separator: "\n"),
                code: 1)
        } catch {
            fail("\(arguments[1]): error: \(error)", code: 1)
        }
    }

    private static func generate(_ source: URL, to target: URL) throws {
        let file = try XcodeModelBundle(contentsOf: source).model()
        let model = try file.managedObjectModel()
        func names(_ kinds: Set<String>) -> Set<String> {
            let entities = model.entities.filter { kinds.contains($0.editorInfo["codeGenerationType"] ?? "") }
            return Set(entities.map(\.name))
        }
        let code = ModelCode(model, modelName: source.deletingPathExtension().lastPathComponent, form: .plain)
        let text = code.singleFile(entityNames: names(["class", "category"]), ownEntityNames: names(["class"]))
        try Data(text.utf8).write(to: target, options: .atomic)
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(code)
    }
}
