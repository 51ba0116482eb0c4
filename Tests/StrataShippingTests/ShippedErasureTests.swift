import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataShipping

/// Erasures in stores that are shipped, truncated and restored.
@Suite struct ShippedErasureTests {
    /// Whether the files in a directory have a text.
    private func holds(_ text: String, _ directory: URL) throws -> Bool {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: [.isRegularFileKey])
        while let file = files?.nextObject() as? URL {
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
            if try Data(contentsOf: file).range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    @Test(arguments: [true, false], ["never", "before", "after"])
    func anErasureCountsForEveryStateThatIsRestored(isShippedBefore: Bool, truncation: String) throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        // The erasure also takes this text out of the record of the transaction.
        library.context.transactionAuthor = "SecretTitle and others"
        let film = try library.insertFilm("SecretTitle", poster: Data("SecretPoster".utf8) + Data(count: 200_000))
        library.context.transactionAuthor = nil
        try library.insertFilm("another")
        let early = try library.store.logPosition().transaction
        if isShippedBefore { _ = try LogShipper(library.store, target).ship() }
        try library.insertFilm("one more")
        try film.setValue("SecretTitle again", forKey: "title")
        try library.context.save()
        library.context.reset()
        if truncation == "before" { try library.container.truncateHistory(before: .now, holders: .overridden) }
        try library.container.erase([film.objectID], reason: "asked for")
        if truncation == "after" { try library.container.truncateHistory(before: .now, holders: .overridden) }
        try library.insertFilm("the last")
        _ = try LogShipper(library.store, target).ship()
        #expect(try library.store.verify().isSound)
        #expect(!target.files.values.contains { $0.range(of: Data("Secret".utf8)) != nil })
        let (newest, _) = try library.restored(target)
        #expect(try FilmLibrary.state(of: newest) == FilmLibrary.state(of: library.container))
        newest.close()
        #expect(try !holds("Secret", library.url("restored.strata")))
        // Without what was shipped before, a truncated history has no early states.
        guard isShippedBefore || truncation == "never" else { return }
        let (old, report) = try library.restored(target, to: .transaction(early), as: "early.strata")
        #expect(report.damaged == [])
        #expect(try FilmLibrary.state(of: old).count == 1)
        #expect(try old.store.verify().isSound)
        old.close()
        #expect(try !holds("Secret", library.url("early.strata")))
    }

    /// Values that were written after an erasure of the same attribute, and are shipped with it.
    @Test(arguments: [true, false]) func whatIsWrittenAfterAnErasureStays(isDeletedLater: Bool) throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let film = try library.insertFilm("OldTitle")
        try film.setValue(Data("OldPoster".utf8), forKey: "poster")
        try library.context.save()
        _ = try LogShipper(library.store, target).ship()
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        library.context.reset()
        try library.container.erase([film.objectID], attributes: ["poster"], reason: "asked for")
        let again = try #require(try library.films().first)
        for value in ["NewPoster", "NewerPoster"] {
            try again.setValue(Data(value.utf8), forKey: "poster")
            try library.context.save()
        }
        let written = try library.store.logPosition()
        if isDeletedLater {
            library.context.delete(again)
            try library.context.save()
        }
        _ = try LogShipper(library.store, target).ship()
        _ = try standby.catchUp()
        let reader = try PersistentContainer(over: standby.store())
        #expect(try reader.verify().isSound)
        for moment in [HistoryMoment.now, .transaction(written.transaction), .event(EventNumber(rawValue: 4))] {
            #expect(try FilmLibrary.state(of: reader, moment) == FilmLibrary.state(of: library.container, moment))
        }
        for number in 2...Int(try library.store.logPosition().transaction.rawValue) {
            let moment = HistoryMoment.transaction(TransactionNumber(rawValue: UInt64(number)))
            let (copy, _) = try library.restored(target, to: moment, as: "t\(number).strata")
            defer { copy.close() }
            // The erasure counts for earlier states, too.
            #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container, moment))
        }
        #expect(try !holds("OldPoster", target.url) && !holds("OldPoster", library.url("standby.strata")))
    }

    /// The erased text is in the record of a transaction that the store has dropped and the standby still has.
    @Test(arguments: [1, 2] as [UInt64]) func aStandbyIsSoundAfterAnErasureOfTextsBeforeABaseline(cut: UInt64) throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        library.context.transactionAuthor = "by SecretTitle"
        let film = try library.insertFilm("SecretTitle")
        library.context.transactionAuthor = nil
        try library.insertFilm("another")
        _ = try LogShipper(library.store, target).ship()
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        let start = try library.store.logPosition().transaction.rawValue
        try library.container.truncateHistory(
            before: .transaction(TransactionNumber(rawValue: start - 2 + cut)), holders: .overridden)
        try library.container.erase([film.objectID], reason: "asked for")
        _ = try LogShipper(library.store, target).ship()
        _ = try standby.catchUp()
        let verified = try standby.store().verify()
        #expect(verified.isSound, "\(verified.problems)")
        #expect(try !holds("SecretTitle", library.url("standby.strata")) && !holds("SecretTitle", target.url))
        for number in 2...start + 1 {
            let moment = HistoryMoment.transaction(TransactionNumber(rawValue: number))
            let (copy, _) = try library.restored(target, to: moment, as: "t\(number).strata")
            #expect(try copy.store.verify().isSound)
            copy.close()
        }
        _ = try LogShipper(library.store, target).ship()
        _ = try standby.catchUp()
        #expect(try standby.store().verify().isSound)
    }

    /// After a restore the target has two logs, and an erasure takes the values out of both.
    @Test(arguments: [1, 2, 3]) func anErasureReachesTheLogFromBeforeARestore(kept: Int) throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        library.context.transactionAuthor = "by SecretTitle"
        let film = try library.insertFilm("SecretTitle", poster: Data("SecretPoster".utf8) + Data(count: 200_000))
        library.context.transactionAuthor = nil
        try library.insertFilm("another")
        let early = try library.store.logPosition().transaction
        // Without its beginning, the log needs a snapshot.
        let options = ShippingOptions(keptSnapshots: kept == 1 ? 1 : nil)
        _ = try LogShipper(library.store, target, options).ship(makesSnapshot: kept < 3)
        try library.insertFilm("one more")
        _ = try LogShipper(library.store, target, options).ship()
        let lineage = library.store.lineage
        let (restored, _) = try library.restored(target)
        defer { restored.close() }
        let context = restored.newBackgroundContext()
        try context.insertNewObject(forEntityName: "Film").setValue("the last", forKey: "title")
        try context.save()
        _ = try LogShipper(restored.store, target).ship()
        try restored.erase([film.objectID], reason: "asked for")
        _ = try LogShipper(restored.store, target).ship()
        #expect(try !holds("Secret", target.url))
        // A second run has nothing to do, also if it does not know of the first one.
        #expect(try LogShipper(restored.store, target).ship().rewrittenCount == 0)
        // A log without its beginning begins with a snapshot after the erasure, in which the object is deleted.
        let states: [(String, HistoryMoment, count: Int)] =
            kept == 1 ? [("old", .now, 2)] : [("old", .now, 3), ("early", .transaction(early), 2)]
        for (name, moment, count) in states {
            let report = try TargetRestore(target, lineage: lineage).run(to: library.url(name), moment)
            #expect(report.verification.isSound && report.lostBlobCount == 0)
            let copy = try FilmLibrary.open(library.url(name), isReadOnly: true)
            #expect(try FilmLibrary.state(of: copy).count == count)
            copy.close()
            #expect(try !holds("Secret", library.url(name)))
        }
    }

    /// A deleted object whose history was dropped is still in backups and at targets.
    @Test func whatWasDroppedWithTheHistoryCanBeErasedElsewhere() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let film = try library.insertFilm("SecretTitle")
        try library.insertFilm("another")
        let early = try library.store.logPosition().transaction
        let backup = library.url("backup.strata")
        _ = try library.store.backup(to: backup)
        _ = try LogShipper(library.store, target).ship()
        library.context.delete(film)
        try library.context.save()
        try library.container.truncateHistory(before: .now, holders: .overridden)
        library.context.reset()
        let other = ObjectID(entity: film.objectID.entityID, row: 4_000_000)
        #expect(try library.container.erase([other], reason: nil).objectIDs == [])
        let result = try library.container.erase([film.objectID], reason: "asked for")
        #expect(result.objectIDs == [film.objectID] && result.eventCount == 0)
        #expect(try library.store.verify().isSound)
        let copy = library.url("copy.strata")
        let old = try FilmLibrary.open(backup)
        _ = try old.store.restore(to: copy, erasing: try library.store.erasures())
        old.close()
        #expect(try holds("SecretTitle", backup) && !holds("SecretTitle", copy))
        _ = try LogShipper(library.store, target).ship()
        #expect(try !holds("SecretTitle", target.url))
        let (restored, _) = try library.restored(target, to: .transaction(early), as: "early.strata")
        #expect(try restored.store.verify().isSound && FilmLibrary.state(of: restored).count == 1)
        restored.close()
    }

    @Test func erasuresOfAnotherStoreAreRefused() throws {
        let (one, other) = (try FilmLibrary(), try FilmLibrary())
        let film = try one.insertFilm("SecretTitle")
        try other.insertFilm("innocent")
        try one.container.erase([film], reason: nil)
        let erasures = try one.container.erasures()
        let error = #expect(throws: StrataError.self) { try other.container.apply(erasures) }
        #expect(error?.code == .persistentStoreOperation)
        #expect(try FilmLibrary.state(of: other.container).count == 1)
    }

    @Test func whatIsInterruptedIsDoneAgain() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        let film = try library.insertFilm("SecretTitle", poster: Data("SecretPoster".utf8) + Data(count: 200_000))
        _ = try LogShipper(library.store, target).ship(makesSnapshot: true)
        for number in 0..<3 {
            try library.insertFilm("film \(number)")
            _ = try LogShipper(library.store, target).ship()
        }
        try library.container.erase([film.objectID], reason: "asked for")
        target.state.withLock { $0.failuresInHundred = 15 }
        var outcomes: Set<Bool> = []
        for _ in 0..<1000 where !outcomes.contains(true) {
            do {
                _ = try LogShipper(library.store, target).ship()
                outcomes.insert(true)
            } catch let error as StrataError where error.code == .targetUnavailable {
                outcomes.insert(false)
            }
        }
        #expect(outcomes == [true, false])
        target.state.withLock { $0.failuresInHundred = 0 }
        #expect(!target.files.values.contains { $0.range(of: Data("Secret".utf8)) != nil })
        // Nothing is left to do.
        let again = try LogShipper(library.store, target).ship()
        #expect(again.rewrittenCount == 0 && again.snapshot == nil && again.byteCount == 0)
        let (copy, report) = try library.restored(target)
        defer { copy.close() }
        #expect(try report.damaged == [] && FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
    }

    @Test func aFollowedStoreIsErasedAtTheTargetToo() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let film = try library.insertFilm("SecretTitle")
        let shipper = LogShipper(library.store, target)
        _ = try shipper.ship()
        #expect(try holds("SecretTitle", target.url))
        // What a shipper that was killed has left, of this log and of another one.
        let folder = target.url.appending(path: TargetName.log(of: library.store.lineage))
        let other = target.url.appending(path: TargetName.log(of: UUID()), directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try Data("SecretTitle".utf8).write(to: folder.appending(component: ".partial-1"))
        try Data("another title".utf8).write(to: other.appending(component: ".partial-2"))
        try library.container.erase([film.objectID], reason: "asked for")
        let report = try shipper.ship()
        #expect(report.rewrittenCount == 1 && report.snapshot != nil)
        #expect(try holds("another title", target.url))
        #expect(try !holds("SecretTitle", target.url))
        #expect(try shipper.ship().byteCount == 0)
    }

    /// A promoted standby has a log of its own at the target. The log of the first machine can still be restored, also if
    /// its beginning is in a snapshot alone.
    @Test func aPromotedStandbyLeavesTheSnapshotOfTheFirstMachine() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let film = try library.insertFilm("SecretTitle")
        try library.insertFilm("kept")
        library.context.reset()
        try library.container.truncateHistory(before: .now, holders: .overridden)
        try library.container.erase([film.objectID], reason: "asked for")
        _ = try LogShipper(library.store, target).ship()
        try library.insertFilm("later")
        _ = try LogShipper(library.store, target).ship()
        let url = library.url("standby.strata")
        let standby = try Standby(target, at: url)
        _ = try standby.catchUp()
        standby.close()
        _ = try Standby.promote(url)
        try library.insertFilm("saved by the first machine alone")
        _ = try LogShipper(library.store, target).ship()
        let promoted = try FilmLibrary.open(url)
        _ = try LogShipper(promoted.store, target).ship()
        promoted.close()
        let first = library.url("first.strata")
        _ = try TargetRestore(target, lineage: library.store.lineage).run(to: first, .now)
        let restored = try FilmLibrary.open(first)
        defer { restored.close() }
        #expect(try FilmLibrary.state(of: restored) == FilmLibrary.state(of: library.container))
        #expect(try !holds("SecretTitle", target.url))
    }
}
