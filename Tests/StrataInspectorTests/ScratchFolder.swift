import Foundation
import StrataGraph
import StrataStore
import StrataTestSupport
import Testing

/// A directory for stores of one entity, `E`, made by the program.
final class ScratchFolder {
    let url: URL

    init(entity: String) throws {
        url = FileManager.default.temporaryDirectory.appending(
            component: "faithful-\(UUID().uuidString)", directoryHint: .isDirectory)
        let model = url.appending(component: "E.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="E">\(entity)</entity>\
            </model>
            """
        try Data(text.utf8).write(to: model.appending(component: "contents"))
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Saves an object as an app does, by an author that the tool would refuse.
    func insert(_ name: String, into store: String, by author: String) throws {
        let directory = url.appending(path: store, directoryHint: .isDirectory)
        let store = try Store.open(.directory(directory), model: nil, options: StoreOptions())
        defer { store.close() }
        let context = try PersistentContainer(over: store).newBackgroundContext()
        try context.insertNewObject(forEntityName: "E").setValue(name, forKey: "name")
        context.transactionAuthor = author
        try context.save()
    }

    func make(_ store: String) throws { try run("create", store, "--model", "E.xcdatamodel") }

    func result(_ arguments: [String]) throws -> Tool.Result {
        let process = Process()
        process.executableURL = Tool.program.url
        process.arguments = arguments
        process.currentDirectoryURL = url
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorBytes = try error.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Tool.Result(
            output: String(decoding: bytes, as: UTF8.self), error: String(decoding: errorBytes, as: UTF8.self),
            exitCode: process.terminationStatus)
    }

    /// What a command prints that has to succeed.
    @discardableResult
    func run(_ arguments: String...) throws -> String { try run(arguments) }

    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        let result = try result(arguments)
        try #require(result.exitCode == 0, "\(arguments): \(result)")
        return result.output
    }

    @discardableResult
    func shell(_ line: String) throws -> String {
        try Tool.shell("cd '\(url.path(percentEncoded: false))' && { \(line); }").output
    }

    func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: url.appending(component: name)) }
    func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
    func data(_ name: String) throws -> Data { try Data(contentsOf: url.appending(component: name)) }
}
