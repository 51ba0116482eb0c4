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
        let file = damaged.store.blobs.path(of: damaged.blob)
        try Data(repeating: 8, count: 100_000).write(to: URL(filePath: file))
        let damage = #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
        #expect(damage?.code == .corrupt)
        #expect(damage?.details.map(\.message).first?.hasSuffix("not those that were saved: \(file)") ?? false)
        try FileManager.default.removeItem(atPath: file)
        let loss = #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
        #expect(loss?.details.map(\.message).first?.hasSuffix("the file is missing: \(file)") ?? false)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
        #expect(!FileManager.default.fileExists(atPath: target.path(percentEncoded: false)))
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
        #expect(statistics.firstTransaction?.number.rawValue == 1)
        #expect(statistics.modelVersions.map(\.rawValue) == [1])
    }
}
