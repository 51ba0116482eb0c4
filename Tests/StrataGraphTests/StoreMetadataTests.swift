import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// What an app notes about the store as a whole.
@Suite struct StoreMetadataTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "strata-metadata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func removeFiles() { try? FileManager.default.removeItem(at: directory) }

    @Test func entriesAreSetReplacedAndRemoved() throws {
        let container = try makeContainer()
        #expect(try container.metadata.isEmpty)
        try container.setMetadata(.string("2026-11"), forKey: "catalogue", author: "ann")
        try container.setMetadata(3, forKey: "step")
        try container.setMetadata(4, forKey: "step")
        #expect(try container.metadata == ["catalogue": "2026-11", "step": 4])
        try container.setMetadata(nil, forKey: "step")
        try container.setMetadata(.null, forKey: "never there")
        #expect(try container.metadata == ["catalogue": "2026-11"])
        let all: [String: AttributeValue] = [
            "a": .composite(["x": 1.5, "y": .null]), "d": .data(Data([1, 2])), "n": .null,
        ]
        try container.setMetadata(all)
        #expect(try container.metadata == ["a": .composite(["x": 1.5, "y": .null]), "d": .data(Data([1, 2]))])
        #expect(try container.verify().isSound)
    }

    @Test func theLogSaysWhoChangedWhat() throws {
        let container = try makeContainer()
        try container.setMetadata(1, forKey: "step", author: "ann")
        try container.setMetadata(["step": 2, "mode": "fast"], author: "bob")
        let head = try container.head()
        try container.setMetadata(2, forKey: "step", author: "eve")
        #expect(try container.head() == head, "What changes nothing is no transaction.")
        let events = try container.events(through: head).filter { $0.kind == .maintenance }
        #expect(events.map(\.author) == ["ann", "bob"])
        #expect(events.last?.changes.map(\.key) == ["mode", "step"])
        #expect(events.last?.changes.map(\.before) == [.null, 1] && events.last?.changes.map(\.after) == ["fast", 2])
    }

    @Test func theyOutliveRebuildsReopeningsAndCopies() throws {
        defer { removeFiles() }
        let url = directory.appending(path: "a", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let container = try makeContainer(at: .url(url))
        let context = container.newBackgroundContext()
        Movie(context: context).title = "A"
        try context.save()
        try container.setMetadata(["kept": true, "gone": 1])
        try container.setMetadata(nil, forKey: "gone")
        #expect(try container.rebuildViews().isUnchanged)
        let copy = directory.appending(path: "b", directoryHint: .isDirectory)
        _ = try container.store.replay(through: try container.head(), to: copy)
        let backup = directory.appending(path: "c", directoryHint: .isDirectory)
        _ = try container.backup(to: backup)
        container.close()
        for url in [url, copy, backup] {
            #expect(try PersistentContainer.metadata(ofStoreAt: url) == ["kept": true])
        }
        let again = try makeContainer(at: .url(url))
        #expect(try again.metadata == ["kept": true])
        again.close()
        #expect(thrownError { _ = try again.metadata }?.code == .storeClosed)
    }

    @Test func whatCannotBeKeptIsRefused() throws {
        defer { removeFiles() }
        let writer = try makeContainer(at: .url(directory))
        #expect(
            thrownError { try writer.setMetadata(.data(Data(count: 1 << 20)), forKey: "all") }?.code == .saveTooLarge)
        let blob = BlobReference(digest: Data(count: 32), sizeInBytes: 5)
        #expect(thrownError { try writer.setMetadata(.blob(blob), forKey: "photo") }?.code == .wrongType)
        #expect(try writer.metadata.isEmpty)
        writer.close()
        let reader = try PersistentContainer(
            name: "Test", entities: [Movie.self, FamilyMember.self], at: .url(directory),
            options: .init(isReadOnly: true))
        try reader.loadPersistentStores()
        #expect(thrownError { try reader.setMetadata(1, forKey: "a") }?.code == .readOnly)
        reader.close()
    }
}
