import Foundation
import StrataModel
@testable import StrataStore
import Testing

@Suite struct BackupTests {
    @Test func aBackupHoldsTheStoreAndItsLargeValues() throws {
        let damaged = try DamagedStore()
        let target = damaged.directory.appendingPathExtension("backup")
        defer { try? FileManager.default.removeItem(at: target) }
        let report = try damaged.store.backup(to: target)
        #expect(report.verification.isSound)
        #expect(report.blobCount == 1)
        #expect(report.blobSizeInBytes == 100_000)
        // What is saved afterwards is not in it.
        try damaged.fixture.update(damaged.alien, ["rating": .double(1)])
        let copy = try Store.open(.directory(target), model: nil)
        #expect(copy.identifier == damaged.store.identifier)
        #expect(try copy.head() == report.verification.head)
        #expect(try copy.blob(damaged.blob).count == 100_000)
        copy.close()
    }

    @Test func aBackupOverSomethingIsRefused() throws {
        let damaged = try DamagedStore()
        #expect(throws: StrataError.self) { try damaged.store.backup(to: damaged.directory) }
        #expect(try damaged.store.verify().isSound)
    }

    @Test func aBackupWithoutOneOfItsValuesSaysSo() throws {
        let damaged = try DamagedStore()
        let target = damaged.directory.appendingPathExtension("backup")
        defer { try? FileManager.default.removeItem(at: target) }
        try FileManager.default.removeItem(atPath: damaged.store.blobs.path(of: damaged.blob))
        #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
    }

    @Test func statisticsCountWhatIsThere() throws {
        let damaged = try DamagedStore()
        let statistics = try damaged.store.statistics()
        #expect(statistics.entities.first { $0.name == "Movie" }?.objectCount == 2)
        #expect(statistics.indexes.first { $0.name == "byTitle" }?.entryCount == 2)
        #expect(statistics.tables.map(\.name) == StoreTables.names + StoreTables.bufferNames + StoreTables.removalNames)
        #expect(statistics.tables.first { $0.name == "events" }?.entryCount == Int(statistics.head.event.rawValue))
        #expect(statistics.blobs == .init(fileCount: 1, sizeInBytes: 100_000, namedCount: 1))
        #expect(statistics.files.first?.path == damaged.directory.path(percentEncoded: false) + "/data.mdb")
        #expect(statistics.files.first?.sizeInBytes ?? 0 > 0)
        #expect(statistics.lastTransaction?.lastEvent == statistics.head.event)
        #expect(statistics.firstTransaction?.sequence.rawValue == 1)
        #expect(statistics.modelVersions.map(\.rawValue) == [1])
    }
}
