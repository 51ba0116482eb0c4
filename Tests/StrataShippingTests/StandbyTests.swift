import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataShipping

/// Copies that follow what is shipped.
@Suite struct StandbyTests {
    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        #expect(throws: StrataError.self) { try body() }?.code
    }

    @Test(arguments: RandomTesting.seeds) func aStandbyFollowsARandomHistory(seed: UInt64) throws {
        let library = try FilmLibrary(seed: seed)
        let target = library.directoryTarget()
        let shipper = LogShipper(library.store, target)
        _ = try shipper.ship()
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        let reader = try PersistentContainer(over: standby.store())
        for number in 0..<25 {
            for _ in 0..<Int.random(in: 1...5, using: &library.generator) { try library.step() }
            _ = try shipper.ship(makesSnapshot: number % 9 == 0)
            let report = try standby.catchUp()
            #expect(report.lag == 0)
            #expect(report.position == (try library.store.logPosition()), "seed \(seed)")
            #expect(try FilmLibrary.state(of: reader) == FilmLibrary.state(of: library.container), "seed \(seed)")
        }
        #expect(try reader.verify().isSound, "seed \(seed)")
        #expect(try reader.tags() == library.container.tags())
    }

    @Test func aStandbyIsReadAndNotSavedTo() throws {
        let library = try FilmLibrary()
        try library.insertFilms(2)
        let target = library.directoryTarget()
        _ = try LogShipper(library.store, target).ship()
        let url = library.url("standby.strata")
        let standby = try Standby(target, at: url)
        #expect(code { _ = try FilmLibrary.open(url) } == .readOnly)
        #expect(code { _ = try Standby(target, at: url) } == .persistentStoreTimeout)
        #expect(code { _ = try Standby.promote(url) } == .persistentStoreTimeout)
        standby.close()
        #expect(code { _ = try Standby(target, at: library.url("films.strata")) } == .persistentStoreOpen)
        let position = try Standby.promote(url)
        #expect(position == (try library.store.logPosition()))
        let promoted = try FilmLibrary.open(url)
        defer { promoted.close() }
        #expect(promoted.store.lineage != library.store.lineage)
        let context = promoted.newBackgroundContext()
        try context.insertNewObject(forEntityName: "Film").setValue("after", forKey: "title")
        try context.save()
        #expect(try promoted.verify().isSound)
        #expect(code { _ = try Standby.promote(url) } == .persistentStoreOpen)
    }

    @Test func aStandbyIsSoundAfterInsertionsAndCanBeCopiedAndPromoted() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        // Who closes a store gives back the row numbers that were not used.
        library.container.close()
        func insert(_ count: Int, into url: URL) throws -> ObjectID {
            let container = try FilmLibrary.open(url)
            defer { container.close() }
            let context = container.newBackgroundContext()
            var film: ManagedObject?
            for number in 0..<count {
                film = try context.insertNewObject(forEntityName: "Film")
                try film?.setValue("film \(number)", forKey: "title")
            }
            try context.save()
            #expect(try container.verify().problems == [])
            return try #require(film).objectID
        }
        func ship(makesSnapshot: Bool) throws {
            let container = try FilmLibrary.open(library.url("films.strata"), isReadOnly: true)
            defer { container.close() }
            _ = try LogShipper(container.store, target).ship(makesSnapshot: makesSnapshot)
        }
        _ = try insert(3, into: library.url("films.strata"))
        try ship(makesSnapshot: true)
        let url = library.url("standby.strata")
        try Standby(target, at: url).close()
        _ = try insert(3, into: library.url("films.strata"))
        try ship(makesSnapshot: false)
        let standby = try Standby(target, at: url)
        _ = try standby.catchUp()
        #expect(try standby.store().verify().problems == [])
        let copy = library.url("copy.strata")
        try standby.store().backup(to: copy)
        standby.close()
        #expect(code { _ = try FilmLibrary.open(copy) } == .readOnly)
        _ = try Standby.promote(url)
        let later = try insert(1, into: library.url("films.strata"))
        #expect(try insert(1, into: url) != later)
    }

    @Test func aStandbyThatTheTargetHasLeftBehindIsTold() throws {
        let library = try FilmLibrary()
        try library.insertFilms(2)
        let target = library.directoryTarget()
        let shipper = LogShipper(library.store, target, ShippingOptions(keptSnapshots: 1))
        _ = try shipper.ship(makesSnapshot: true)
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        try library.insertFilms(3)
        _ = try shipper.ship()
        try library.insertFilms(3)
        _ = try shipper.ship(makesSnapshot: true)
        #expect(code { _ = try standby.catchUp() } == .historyDropped)
    }

    @Test func aStandbyOfAnotherHistoryIsRefused() throws {
        let library = try FilmLibrary()
        try library.insertFilms(2)
        let target = MemoryTarget()
        _ = try LogShipper(library.store, target).ship()
        let url = library.url("standby.strata")
        try Standby(target, at: url).close()
        let other = try FilmLibrary()
        let second = MemoryTarget()
        _ = try LogShipper(other.store, second).ship()
        #expect(code { _ = try Standby(second, at: url) } == .divergedLog)
    }

    @Test func aStandbyFollowsWhileTheStoreIsShipped() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let work = try library.container.startShipping(to: target, options: .init(gathering: .milliseconds(5)))
        try library.insertFilms(1)
        while try target.entries(under: TargetName.log, after: nil).isEmpty { usleep(1000) }
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        try library.insertFilms(30)
        work.stop()
        let pace = Pace()
        var received = 0
        let end = try library.store.logPosition()
        if try standby.catchUp().position != end {
            try standby.follow(pace, interval: .milliseconds(5)) { result in
                received += try result.get().received
                if try result.get().position == end { pace.stop() }
            }
        }
        #expect(try standby.catchUp().position == end)
    }
}
