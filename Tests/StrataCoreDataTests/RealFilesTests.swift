import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataCoreData

/// Stores of real apps, if `STRATA_COREDATA` names the folder with them: files `.sqlite` and `.store` at any depth.
enum RealFiles {
    static let folder = ProcessInfo.processInfo.environment["STRATA_COREDATA"]

    static let paths: [String] = {
        guard let folder else { return [] }
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter { ($0.hasSuffix(".sqlite") || $0.hasSuffix(".store")) && !$0.hasPrefix("out/") }.sorted()
    }()
}

@Suite(.enabled(if: RealFiles.folder != nil, "STRATA_COREDATA names no folder with stores of Core Data."))
struct RealFilesTests {
    @Test(arguments: RealFiles.paths) func comesOverEqual(path: String) throws {
        let folder = try ImportFolder()
        let file = URL(filePath: RealFiles.folder ?? "").appending(path: path)
        let before = try Data(contentsOf: file)
        let report = try PersistentContainer.importCoreDataStore(at: file, to: folder.store)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let comparison = try CoreDataVerification.run(file.path, store, options: .init())
        #expect(comparison.isEqual && comparison.additional == 0, "\(comparison.differences)")
        #expect(comparison.rows.total == report.rows)
        #expect(try store.verify(.full).isSound)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(arguments: RealFiles.paths) func comesBackEqual(path: String) throws {
        let folder = try ImportFolder()
        let file = URL(filePath: RealFiles.folder ?? "").appending(path: path)
        _ = try PersistentContainer.importCoreDataStore(at: file, to: folder.store)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let out = folder.url.appending(path: "Out.sqlite")
        let report = try CoreDataExporter.run(store, to: out)
        let comparison = try CoreDataVerification.run(out.path, store, options: .init())
        #expect(comparison.isEqual && comparison.additional == 0, "\(comparison.differences)")
        let again = folder.url.appending(path: "Again.strata", directoryHint: .isDirectory)
        let second = try PersistentContainer.importCoreDataStore(at: out, to: again)
        #expect(second.rows == report.rows && second.pairs == report.pairs && second.faultCount == 0)
    }
}
