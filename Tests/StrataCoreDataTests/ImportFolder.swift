import Foundation
import StrataCoreData
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// A directory that is removed at the end of the test.
final class ImportFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "strata-coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var file: String { url.appending(path: "Library.sqlite").path }
    var store: URL { url.appending(path: "Library.strata", directoryHint: .isDirectory) }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// Begins an import, or goes on with one, and ends it when the importer asks for the last time that it may.
    func interruptImport(after mostQuestions: Int) throws {
        var asked = 0
        let importer = try CoreDataImporter(
            file, options: .init(),
            isInterrupted: {
                asked += 1
                return asked > mostQuestions
            })
        #expect(throws: CoreDataImporter.Interrupted.self) { try importer.run(into: store) }
    }

    /// Calls `body` with the store, which must be sound.
    func reading<R>(_ body: (Store) throws -> R) throws -> R {
        let store = try Store.open(.directory(store), model: nil)
        defer { store.close() }
        let report = try store.verify(.full)
        #expect(report.isSound, "\(report.problems)")
        return try body(store)
    }

    /// An import that refuses faults makes no store of a file that has some.
    func expectRefusedFault(sourceLocation: SourceLocation = #_sourceLocation) {
        var options = CoreDataImportOptions()
        options.onFault = .refuse
        #expect(throws: StrataError.self, sourceLocation: sourceLocation) {
            try PersistentContainer.importCoreDataStore(at: URL(filePath: file), to: store, options: options)
        }
        #expect(!FileManager.default.fileExists(atPath: store.path), sourceLocation: sourceLocation)
    }
}
