import Foundation
import StrataModel
import StrataTestSupport
import Synchronization
import Testing

@testable import LMDB
@testable import StrataStore

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

    private func fixture(
        _ durability: StoreDurability = .journaled, model: ManagedObjectModel? = nil
    ) throws -> StoreFixture {
        try StoreFixture(.directory(folder.store), model: model, options: options(durability))
    }

    private func titles(_ store: Store) throws -> Int {
        try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
    }

    /// The store as it was at its checkpoint, with the journal that it has now: as a power cut leaves it once it has gone
    /// back.
    private func withOldFile(
        _ model: ManagedObjectModel? = nil, _ body: (StoreFixture) throws -> Void
    ) throws {
        let fixture = try fixture(model: model)
        if model == nil { _ = try fixture.insert("Movie", ["title": .string("before")]) }
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

    /// The table of large values is empty when the first one is given to the journal.
    @Test func theFirstLargeValueIsThereAfterAPowerCut() throws {
        let model = try ErasureFixture.model()
        let value = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let reference = BlobReference(of: value)
        var id: ObjectID?
        try withOldFile(model) { fixture in
            let lease = try fixture.store.beginBlobLease()
            id = try fixture.insert(
                "Person", ["code": .string("1"), "picture": .blob(try fixture.store.stageBlob(value))])
            withExtendedLifetime(lease) {}
            let frames = try JournaledSaves.frames(of: fixture.store.file.environment.journalEntries, path: "")
            #expect(frames.last?.blobDigests == [reference.digest])
        }
        let again = try fixture(model: model)
        defer { again.store.close() }
        #expect(try again.values(try #require(id))?["picture"] == .blob(reference))
        #expect(try again.store.blob(reference) == value)
        #expect(try again.store.sweepBlobs() == 0 && again.store.statistics().blobs.namedCount == 1)
        #expect(try again.store.verify(.full).isSound && again.store.rebuild().isUnchanged)
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

    /// A save that is alone goes to the journal before the views are kept, unless one of these may refuse it: a power cut
    /// at the moment of the refusal would make it.
    @Test func aSaveThatADeclaredViewRefusesWasNeverInTheJournal() throws {
        let file = folder.store.appending(component: "journal")
        let atRefusal = Mutex<Data?>(nil)
        let code = ProjectionCode("JournalTests.refusing") { _, changes in
            guard let refused = changes.first(where: { $0.values[0] == "refused" }) else { return .integer(1) }
            atRefusal.withLock { $0 = FileManager.default.contents(atPath: file.path) }
            throw ProjectionFault(object: refused.object, reason: "it is refused")
        }
        code.register()
        defer { ProjectionCode.forget(code.typeName) }
        var view = FilmViews.bags
        view.keys = [ViewKey("released")]
        view.aggregates[1].projection = ProjectionReference(code.typeName, inputs: ["title"])
        view.upkeep = .inline
        let fixture = try fixture(model: try FilmViews.model([view]))
        defer { fixture.store.close() }
        func film(_ title: String) throws {
            _ = try fixture.insert("Film", ["title": .string(title), "released": .boolean(true)])
        }
        for number in 1...3 { try film("\(number)") }
        let before = try Data(contentsOf: file)
        let error = #expect(throws: StrataError.self) { try film("refused") }
        #expect(error?.message.contains("it is refused") == true)
        #expect(atRefusal.withLock { $0 } == before)
        try film("after")
        #expect(try Data(contentsOf: file) != before)
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

    /// The files as a power cut leaves them, when the system has started again.
    private func cutPower(_ body: (StoreFixture) throws -> Void) throws {
        let checkpoint = folder.store.appending(component: "checkpoint")
        let fixture = try fixture()
        _ = try fixture.insert("Movie", ["title": .string("before")])
        try fixture.store.file.environment.checkpoint()
        let old = try [data, checkpoint].map { try Data(contentsOf: $0) }
        try body(fixture)
        let journal = folder.store.appending(component: "journal")
        let entries = try Data(contentsOf: journal)
        fixture.store.close()
        for (url, bytes) in zip([data, checkpoint, journal], old + [entries]) {
            let handle = try FileHandle(forWritingTo: url)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }
        try FileManager.default.removeItem(at: folder.store.appending(component: "pages.sums"))
        try pretendThatTheSystemStarted()
    }

    private func pretendThatTheSystemStarted() throws {
        let path = folder.store.appending(component: "checkpoint").path(percentEncoded: false)
        let file = CheckpointFile(open(path, O_RDWR))
        var last = try #require(file.newest)
        last.session = FileSession(start: last.session.start &+ 1, mount: last.session.mount)
        for _ in 0..<2 {
            last.number += 1
            #expect(file.write(last) == 0)
        }
    }

    /// The file has its checkpoint and nothing else, so it alone does not tell that there was more.
    @Test(arguments: [false, true]) func aReaderDoesNotTakeTheCheckpointForTheNewestState(isInterrupted: Bool) throws {
        try cutPower { for number in 0..<5 { _ = try $0.insert("Movie", ["title": .string("\(number)")]) } }
        if isInterrupted {
            // The process ends before it has made the saves again.
            try Environment.restoreCheckpoint(at: folder.store.path(percentEncoded: false), ownership: .privateOnly)
        }
        var reading = options()
        reading.isReadOnly = true
        let error = #expect(throws: StrataError.self) {
            try Store.open(.directory(folder.store), model: nil, options: reading)
        }
        #expect(error?.code == .persistentStoreOpen && error?.message.contains("Open it for writing") == true)
        let writer = try fixture()
        #expect(try titles(writer.store) == 6)
        writer.store.close()
        let reader = try Store.open(.directory(folder.store), model: nil, options: reading)
        defer { reader.close() }
        #expect(try titles(reader) == 6)
    }

    /// After a compaction the numbers of LMDB's commits begin again, and the journal has those of the old file.
    @Test func aReaderIsNotRefusedBecauseOfTheJournalOfAnExchangedFile() throws {
        let copy = folder.url.appending(component: "copy", directoryHint: .isDirectory)
        var fixture = try fixture()
        for number in 0..<5 { _ = try fixture.insert("Movie", ["title": .string("\(number)")]) }
        _ = try fixture.store.backup(to: copy)
        fixture.store.close()
        try exchangeFile(for: copy)
        fixture = try self.fixture()
        #expect(try titles(fixture.store) == 5)
        fixture.store.close()
        try pretendThatTheSystemStarted()
        var reading = options()
        reading.isReadOnly = true
        let reader = try Store.open(.directory(folder.store), model: nil, options: reading)
        defer { reader.close() }
        #expect(try titles(reader) == 5)
    }

    /// As a compaction exchanges them: the journal and the checkpoint of the old file stay.
    private func exchangeFile(for copy: URL) throws {
        try FileManager.default.removeItem(at: folder.store.appending(component: "pages.sums"))
        try FileManager.default.removeItem(at: data)
        try FileManager.default.moveItem(at: copy.appending(component: "data.mdb"), to: data)
    }

    /// A file from before, as a compaction keeps one, whose end the journal does not continue.
    @Test func aJournalBehindAGapIsKeptAside() throws {
        let fixture = try fixture()
        _ = try fixture.insert("Movie", ["title": .string("one")])
        try fixture.store.file.environment.checkpoint()
        let old = try Data(contentsOf: data)
        for number in 0..<400 {
            _ = try fixture.insert("Movie", ["title": .string(String(repeating: "\(number)", count: 500))])
            if number % 50 == 0 { try fixture.store.file.environment.checkpoint() }
        }
        let journal = try Data(contentsOf: folder.store.appending(component: "journal"))
        fixture.store.close()
        try FileManager.default.removeItem(at: folder.store)
        try FileManager.default.createDirectory(
            at: folder.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, bytes) in [("data.mdb", old), ("journal", journal)] {
            let url = folder.store.appending(component: name)
            try bytes.write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        }
        let again = try self.fixture()
        defer { again.store.close() }
        #expect(try titles(again.store) == 1 && again.store.verify().isSound)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.store.path)
            .filter { $0.hasPrefix("journal-unused-") }
        #expect(kept.count == 1)
    }

    @Test func anErasureRemovesAJournalThatWasKeptAside() throws {
        try aJournalOfAnotherLogIsKeptAside()
        let fixture = try fixture()
        defer { fixture.store.close() }
        let id = try fixture.insert("Movie", ["title": .string("keepsake")])
        // The values of the object may be in it.
        let kept = folder.store.appending(component: "journal-unused-7")
        try Data("keepsake".utf8).write(to: kept)
        let report = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        #expect(report.removedCopies.count == 2 && report.isComplete)
        #expect(try folder.scan(for: ["keepsake"]) == [:])
    }

    /// Cuts of power, compactions, backups, trims and moves, in turns: no save is lost, and none is made twice.
    @Test(arguments: 0..<6 as Range<UInt64>) func whateverIsDoneWithAPendingJournalNothingIsLost(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var count = 0
        for round in 0..<6 {
            let work = Int.random(in: 0..<5, using: &random)
            try cutPower { fixture in
                #expect(try titles(fixture.store) == count + 1, "seed \(seed), round \(round)")
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    _ = try fixture.insert("Movie", ["title": .string("\(seed)")])
                    count += 1
                }
                if Bool.random(using: &random) { try fixture.store.file.environment.checkpoint() }
                count += 1
            }
            let writer = try fixture()
            #expect(try titles(writer.store) == count, "seed \(seed), round \(round), work \(work)")
            switch work {
            case 0:
                let copy = folder.url.appending(component: "copy-\(round)", directoryHint: .isDirectory)
                #expect(try writer.store.backup(to: copy).verification.isSound)
                writer.store.close()
                try exchangeFile(for: copy)
            case 1:
                _ = try writer.store.truncateHistory(through: writer.store.head(), ErasureFixture.note())
                writer.store.close()
            case 2:
                writer.store.close()
                let moved = folder.url.appending(component: "moved", directoryHint: .isDirectory)
                try FileManager.default.copyItem(at: folder.store, to: moved)
                try FileManager.default.removeItem(at: folder.store)
                try FileManager.default.moveItem(at: moved, to: folder.store)
            case 3:
                #expect(try writer.store.rebuild().isUnchanged)
                writer.store.close()
            default: writer.store.close()
            }
        }
        let last = try fixture()
        defer { last.store.close() }
        #expect(try titles(last.store) == count && last.store.verify(.full).isSound)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.store.path)
        #expect(!names.contains { $0.hasPrefix("journal-unused-") })
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
