import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataShipping

@Suite struct ShippingTests {
    @Test func aShippedStoreIsRestored() throws {
        let library = try FilmLibrary()
        try library.insertFilms(20)
        try library.insertFilm("with a poster", poster: Data(repeating: 7, count: 300_000))
        let target = library.directoryTarget()
        let shipped = try LogShipper(library.store, target).ship()
        #expect(shipped.transaction == (try library.store.logPosition().transaction))
        #expect(shipped.segmentCount == 1 && shipped.blobCount == 1)
        let (copy, report) = try library.restored(target)
        defer { copy.close() }
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
        #expect(report.position.digest == (try library.store.logPosition().digest))
        #expect(report.snapshot == nil && report.blobCount == 1 && report.damaged.isEmpty)
        #expect(copy.store.identifier == library.store.identifier)
        #expect(copy.store.lineage != library.store.lineage)
    }

    @Test func onlyWhatIsNewIsShipped() throws {
        let library = try FilmLibrary()
        try library.insertFilms(3)
        let target = library.directoryTarget()
        let shipper = LogShipper(library.store, target)
        #expect(try shipper.ship().transactionCount == 4)
        #expect(try shipper.ship().segmentCount == 0)
        try library.insertFilm("another")
        #expect(try shipper.ship().transactionCount == 1)
        // Another shipper finds by the listing what is there.
        try library.insertFilm("one more")
        let second = try LogShipper(library.store, target).ship()
        #expect(second.transactionCount == 1 && second.segmentCount == 1)
        #expect(try LogShipper(library.store, target).ship().segmentCount == 0)
    }

    /// The log before it is gone from the store; its digest is not.
    @Test func aSegmentAfterATruncationNamesTheDigestBeforeIt() throws {
        let library = try FilmLibrary()
        try library.insertFilms(3)
        let target = library.directoryTarget()
        _ = try LogShipper(library.store, target).ship()
        let before = try library.store.logPosition()
        _ = try library.container.truncateHistory(before: .event(before.eventNumber), holders: .overridden)
        try library.insertFilm("another")
        _ = try LogShipper(library.store, target).ship()
        let name = try #require(try TargetCatalog.list(target, library.store.lineage).segments.last)
        let segment = try Segment(try #require(try target.read(name.text)))
        #expect(segment.first.rawValue == before.transaction.rawValue + 1)
        #expect(segment.previousDigest == before.digest)
    }

    @Test(arguments: RandomTesting.seeds) func everyTransactionOfARandomHistoryIsRestored(seed: UInt64) throws {
        let library = try FilmLibrary(seed: seed)
        let target = library.directoryTarget()
        let shipper = LogShipper(library.store, target)
        for number in 1...30 {
            for _ in 0..<Int.random(in: 1...4, using: &library.generator) { try library.step() }
            _ = try shipper.ship(makesSnapshot: number % 11 == 0)
        }
        let end = try library.store.logPosition().transaction
        for number in 0..<4 {
            let goal = TransactionNumber(rawValue: UInt64.random(in: 2...end.rawValue, using: &library.generator))
            let (copy, report) = try library.restored(target, to: .transaction(goal), as: "restored-\(number).strata")
            defer { copy.close() }
            #expect(report.position.transaction == goal, "seed \(seed)")
            #expect(report.position.digest == (try library.store.transaction(goal)?.digest), "seed \(seed)")
            let expected = try FilmLibrary.state(of: library.container, .transaction(goal))
            #expect(try FilmLibrary.state(of: copy) == expected, "seed \(seed)")
        }
        let (copy, _) = try library.restored(target)
        defer { copy.close() }
        #expect(try copy.tags() == library.container.tags(), "seed \(seed)")
    }

    @Test func aMomentIsATransactionAnEventADateOrATag() throws {
        let library = try FilmLibrary()
        try library.insertFilms(3)
        try library.container.setTag("three", author: "tests")
        let third = try library.store.logPosition()
        let date = try #require(try library.store.transaction(TransactionNumber(rawValue: 4))?.date)
        try library.insertFilms(2)
        let target = library.directoryTarget()
        _ = try LogShipper(library.store, target).ship()
        let moments: [HistoryMoment] = [
            .transaction(third.transaction), .event(third.eventNumber), .date(date), .tag("three"),
        ]
        for (number, moment) in moments.enumerated() {
            let (copy, _) = try library.restored(target, to: moment, as: "moment-\(number).strata")
            defer { copy.close() }
            #expect(try FilmLibrary.state(of: copy).count == 3, "\(moment)")
        }
        func code(_ moment: HistoryMoment) -> StrataError.Code? {
            let error = #expect(throws: StrataError.self) {
                try TargetRestore(target).run(to: library.url("none"), moment)
            }
            return error?.code
        }
        #expect(code(.transaction(TransactionNumber(rawValue: 99))) == .futureEvent)
        #expect(code(.event(EventNumber(rawValue: 999))) == .futureEvent)
        #expect(code(.date(Date(timeIntervalSince1970: 0))) == .futureEvent)
        #expect(code(.tag("four")) == .unknownKey)
        #expect(!FileManager.default.fileExists(atPath: library.url("none").path(percentEncoded: false)))
    }

    @Test func aRestoreOverSomethingIsRefused() throws {
        let library = try FilmLibrary()
        try library.insertFilms(1)
        let target = library.directoryTarget()
        _ = try LogShipper(library.store, target).ship()
        let error = #expect(throws: StrataError.self) {
            try TargetRestore(target).run(to: library.url("films.strata"), .now)
        }
        #expect(error?.code == .persistentStoreOpen)
    }

    @Test func aSnapshotIsRestoredWithWhatCameAfterIt() throws {
        let library = try FilmLibrary()
        try library.insertFilm("with a poster", poster: Data(repeating: 7, count: 300_000))
        let target = library.directoryTarget()
        let shipper = LogShipper(library.store, target)
        let first = try shipper.ship(makesSnapshot: true)
        #expect(first.snapshot == first.transaction)
        try library.insertFilms(5)
        #expect(try shipper.ship().snapshot == nil)
        // The log before the snapshot is not needed.
        try target.remove(try #require(try target.entries(under: TargetName.log, after: nil).first?.name))
        let (copy, report) = try library.restored(target)
        defer { copy.close() }
        #expect(report.snapshot == first.transaction)
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
        let error = #expect(throws: StrataError.self) {
            try TargetRestore(target).run(to: library.url("early"), .transaction(TransactionNumber(rawValue: 1)))
        }
        #expect(error?.code == .historyDropped)
    }

    @Test func aSnapshotIsMadeWhenEnoughWasShipped() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let shipper = LogShipper(library.store, target, ShippingOptions(snapshotInterval: 10_000))
        try library.insertFilms(200)
        #expect(try shipper.ship().snapshot != nil)
        try library.insertFilm("little")
        #expect(try shipper.ship().snapshot == nil)
    }
}
