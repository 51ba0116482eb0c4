import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import Testing

/// Stores whose saves are synced in a journal, while the file itself is synced from time to time.
@Suite struct JournalTests {
    private let folder: ErasureFolder
    private var data: URL { folder.store.appending(component: "data.mdb") }

    init() throws { folder = try ErasureFolder() }

    private func options(_ durability: StoreDurability = .journaled) -> StoreOptions {
        var options = StoreOptions()
        options.durability = durability
        // Nothing but what a test does makes a checkpoint.
        options.checkpointInterval = .seconds(3600)
        return options
    }

    private func fixture(_ durability: StoreDurability = .journaled) throws -> StoreFixture {
        try StoreFixture(.directory(folder.store), options: options(durability))
    }

    private func titles(_ store: Store) throws -> Int {
        try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
    }

    /// The store as it was at its checkpoint, with the journal that it has now: as a power cut leaves it once it has gone
    /// back.
    private func withOldFile(_ body: (StoreFixture) throws -> Void) throws {
        let fixture = try fixture()
        _ = try fixture.insert("Movie", ["title": .string("before")])
        try fixture.store.file.environment.checkpoint()
        let old = try Data(contentsOf: data)
        try body(fixture)
        let journal = try Data(contentsOf: folder.store.appending(component: "journal"))
        fixture.store.close()
        for (name, bytes) in [("data.mdb", old), ("journal", journal)] {
            let handle = try FileHandle(forWritingTo: folder.store.appending(component: name))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }
        for name in ["pages.sums", "checkpoint"] {
            try FileManager.default.removeItem(at: folder.store.appending(component: name))
        }
    }

    @Test(arguments: [StoreDurability.journaled, .full, .relaxed]) func savesThatTheFileHasLostComeFromTheJournal(
        durability: StoreDurability
    ) throws {
        var (ids, end): ([ObjectID], LogPosition?) = ([], nil)
        try withOldFile { fixture in
            let owner = try fixture.insert("Owner", ["name": .string("ann")])
            for number in 0..<20 {
                ids.append(
                    try fixture.insert("Movie", ["title": .string("movie \(number)"), "owner": .objectID(owner)]))
            }
            try fixture.update(ids[3], ["rating": .double(4)])
            try fixture.delete(ids[5])
            end = try fixture.store.logPosition()
        }
        let again = try fixture(durability)
        defer { again.store.close() }
        #expect(try again.store.logPosition() == end)
        #expect(try titles(again.store) == 20)
        #expect(try again.values(ids[3])?["rating"] == .double(4))
        #expect(try again.store.verify(.full).isSound && again.store.rebuild().isUnchanged)
        // New objects have ids that none had.
        let id = try again.insert("Movie", ["title": .string("after")])
        #expect(!ids.contains(id))
        // A relaxed store promises less, and keeps no journal.
        let hasJournal = FileManager.default.fileExists(atPath: folder.store.path + "/journal")
        #expect(hasJournal == (durability != .relaxed))
    }

    @Test func aJournalIsReadOnceHoweverOftenTheStoreIsOpened() throws {
        try withOldFile { for number in 0..<5 { _ = try $0.insert("Movie", ["title": .string("\(number)")]) } }
        for _ in 0..<3 {
            let again = try fixture()
            #expect(try titles(again.store) == 6 && again.store.verify().isSound)
            again.store.close()
        }
    }

    @Test func aJournalOfAnotherLogIsKeptAside() throws {
        try withOldFile { fixture in
            for number in 0..<5 { _ = try fixture.insert("Movie", ["title": .string("\(number)")]) }
        }
        let journal = try Data(contentsOf: folder.store.appending(component: "journal"))
        try FileManager.default.removeItem(at: folder.store)
        let other = try fixture()
        for number in 0..<2 { _ = try other.insert("Movie", ["title": .string("other \(number)")]) }
        other.store.close()
        try journal.write(to: folder.store.appending(component: "journal"))
        let again = try fixture()
        defer { again.store.close() }
        #expect(try titles(again.store) == 2 && again.store.verify().isSound)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.store.path)
            .filter { $0.hasPrefix("journal-unused-") }
        #expect(kept.count == 1)
        _ = try again.insert("Movie", ["title": .string("goes on")])
    }

    @Test func aSaveThatWasNotMadeIsReplacedByTheNextOne() throws {
        let first = try fixture()
        _ = try first.insert("Movie", ["title": .string("one")])
        let entries = first.store.file.environment.journalEntries
        first.store.close()
        // The same transaction number twice, with more behind the first one.
        let numbers = try JournaledSaves.frames(of: entries + entries, path: "").map(\.record.number)
        #expect(numbers == (try JournaledSaves.frames(of: entries, path: "").map(\.record.number)) && !numbers.isEmpty)
    }

    @Test func whatIsNoSaveIsInTheFileAtOnce() throws {
        try withOldFile { fixture in
            _ = try fixture.insert("Movie", ["title": .string("saved")])
        }
        let store = try fixture()
        try store.store.acknowledge(try store.store.logPosition().transaction, by: "mirror")
        // The journal's saves are behind that commit.
        let bytes = try Data(contentsOf: data)
        store.store.close()
        let copy = folder.url.appending(component: "Copy.strata", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try bytes.write(to: copy.appending(component: "data.mdb"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: copy.appending(component: "data.mdb").path)
        let other = try Store.open(.directory(copy), model: nil)
        defer { other.close() }
        #expect(try other.acknowledged(by: "mirror") != nil && titles(other) == 2)
    }

    @Test func anErasureTakesValuesOutOfTheJournal() throws {
        let fixture = try fixture()
        defer { fixture.store.close() }
        let id = try fixture.insert("Movie", ["title": .string("keepsake")])
        #expect(try folder.scan(for: ["keepsake"])["journal"] == 1)
        _ = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        #expect(try folder.scan(for: ["keepsake"]) == [:])
        _ = try fixture.insert("Movie", ["title": .string("another")])
        #expect(try fixture.store.verify().isSound)
    }

    @Test func olderVersionsAreToldByAFlag() throws {
        let fixture = try fixture()
        fixture.store.close()
        let again = try openedAsEver()
        defer { again.close() }
        #expect(again.file.header.isJournaled && again.durability == .journaled)
    }

    /// Opened as an app does that knows nothing of the journal.
    private func openedAsEver() throws -> Store { try Store.open(.directory(folder.store), model: nil) }
}
