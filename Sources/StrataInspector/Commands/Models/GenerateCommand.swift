import ArgumentParser
import Foundation
import Locking
import StrataModel
import StrataXcode

/// `strata generate`: writes Swift classes for the entities of a model.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes Swift classes for the entities of a model.",
        discussion: """
            Each entity gets Movie.swift, which is yours and never overwritten, and Movie+Properties.swift, which is \
            written again each time. MoviesModel.swift names all classes for a container; MoviesModelTypes.swift \
            declares stand-ins for your types that the model names.

            --form macro writes @Entity classes, for targets that import Strata. --form plain writes accessors and \
            descriptions as code, for targets that import StrataGraph, in a class _Movie from which your class Movie \
            inherits. --style extension leaves out the files that are yours. --scalars non-optional makes an optional \
            number that the model marks as a scalar an Int64 instead of an Int64?, as Xcode does; nil then reads as 0.

            --json prints {"directory", "files": [{"name", "written", "yours"}]}.

            Examples:
                strata generate Movies.xcdatamodeld --out Sources/App
                strata generate Movies.xcdatamodeld --out Sources/App --form plain \\
                    --style extension
            """)

    enum Style: String, ExpressibleByArgument, CaseIterable {
        case `class`
        case `extension`
    }

    enum Form: String, ExpressibleByArgument, CaseIterable {
        case macro
        case plain
    }

    enum Scalars: String, ExpressibleByArgument, CaseIterable {
        case optional
        case nonOptional = "non-optional"
    }

    @OptionGroup var model: ModelArguments
    @Option(help: ArgumentHelp("The directory to write to; it is made if missing.", valueName: "directory"))
    var out: String
    @Option(help: "Whether missing files of yours are written too.") var style = Style.class
    @Option(help: "With macros or without.") var form = Form.macro
    @Option(help: "The types of optional scalars.") var scalars = Scalars.optional
    @Option(
        name: .customLong("model-name"), help: ArgumentHelp("The name of the model in the code.", valueName: "name"))
    var modelName: String?
    @Flag(help: "Make everything public.") var `public` = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let input = try model.load()
        let name = modelName ?? URL(filePath: model.path).deletingPathExtension().lastPathComponent
        let code = ModelCode(
            try input.model(), modelName: name, form: form == .macro ? .macro : .plain,
            scalars: scalars == .optional ? .optional : .nonOptional, isPublic: `public`)
        let written = try write(code.files.filter { style == .class || !$0.belongsToApp })
        if json {
            let files = written.map { ["name": $0.name, "written": $0.written, "yours": $0.yours] as JSONObject }
            return try JSONText.print(["directory": out, "files": files])
        }
        for file in written where file.written { Output.shared.line("\(out)/\(file.name)") }
        let kept = written.filter { !$0.written }.count
        let count = written.count - kept
        let left = kept == 0 ? "" : ", \(ValueText.count(kept)) of them left as they are"
        Output.shared.line("\(ValueText.count(count + kept, "file")) for \(input.name)\(left)")
    }

    private typealias Written = (name: String, written: Bool, yours: Bool)

    /// Writes the files, or none of them if one cannot be written.
    private func write(_ files: [ModelCode.File]) throws -> [Written] {
        let new = Locked(NewFiles())
        Interrupt.endAtOnce { [out] in
            new.withLock { $0.abandon() }
            return "nothing was written to \(out)."
        }
        do {
            try new.withLock { try $0.makeDirectory(out) }
            let written = try files.map { file in
                let isKept = try isKept(file)
                if !isKept { try new.withLock { try $0.write(Data(file.text.utf8), to: path(of: file)) } }
                return (file.name, !isKept, file.belongsToApp)
            }
            try new.withLock { try $0.finish() }
            Interrupt.finish()
            return written
        } catch {
            new.withLock { $0.abandon() }
            throw error.ofWriting(out)
        }
    }

    private func path(of file: ModelCode.File) -> String {
        URL(filePath: out).appending(component: file.name).path(percentEncoded: false)
    }

    /// Whether a file stays as it is: it is the app's, or its text is unchanged, whose unchanged date spares a build.
    private func isKept(_ file: ModelCode.File) throws -> Bool {
        let url = URL(filePath: path(of: file))
        let isThere = FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
        return try isThere && (file.belongsToApp || Data(contentsOf: url) == Data(file.text.utf8))
    }
}
