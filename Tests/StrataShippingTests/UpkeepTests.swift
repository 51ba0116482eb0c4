import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataShipping

/// Merging of segments, and what a target lets go.
@Suite struct UpkeepTests {
    /// A store of which each save was shipped by itself.
    private func shippedOneByOne(_ count: Int) throws -> (FilmLibrary, MemoryTarget, LogShipper) {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        let shipper = LogShipper(library.store, target)
        for number in 0..<count {
            try library.insertFilm("film \(number)")
            _ = try shipper.ship()
        }
        return (library, target, shipper)
    }

    @Test func manySmallSegmentsBecomeLargeOnes() throws {
        let (library, target, _) = try shippedOneByOne(100)
        #expect(target.names("log/").count < 60)
        let (copy, _) = try library.restored(target)
        defer { copy.close() }
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
        // Nothing is shipped again.
        #expect(try LogShipper(library.store, target).ship().segmentCount == 0)
    }

    @Test func aRestoreFindsSegmentsThatWereMergedMeanwhile() throws {
        let (library, target, shipper) = try shippedOneByOne(79)
        let listed = try TargetRestore(target)
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        let names = target.names("log/")
        let end = try library.store.logPosition().transaction
        try library.insertFilm("the one that makes a run")
        _ = try shipper.ship()
        #expect(target.names("log/").count < names.count)
        let report = try listed.run(to: library.url("restored.strata"), .transaction(end))
        #expect(report.position.transaction == end && report.damaged.isEmpty)
        #expect(try standby.catchUp(listsAll: false).position == library.store.logPosition())
    }

    @Test func aDamagedSegmentIsNotMerged() throws {
        let (library, target, shipper) = try shippedOneByOne(79)
        let name = try #require(target.names("log/").dropFirst(5).first)
        target.files[name]?[50] ^= 1
        let names = target.names("log/")
        try library.insertFilm("the one that makes a run")
        _ = try shipper.ship()
        #expect(target.names("log/").count == names.count + 1)
    }

    @Test func oneKeptSnapshotIsEnough() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        try library.insertFilms(3)
        let shipper = LogShipper(library.store, target, ShippingOptions(keptSnapshots: 1))
        let report = try shipper.ship(makesSnapshot: true)
        #expect(report.snapshot == report.transaction && report.removedCount == 1)
        #expect(target.names("log/").isEmpty)
        let (copy, _) = try library.restored(target)
        defer { copy.close() }
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
    }

    @Test func onlyWhatKeptSnapshotsNeedStays() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        let shipper = LogShipper(library.store, target, ShippingOptions(keptSnapshots: 2))
        var ends: [TransactionNumber] = []
        for number in 0..<4 {
            try library.insertFilm("film \(number)", poster: Data(repeating: UInt8(number), count: 300_000))
            ends.append(try shipper.ship(makesSnapshot: true).transaction)
        }
        let catalog = try TargetCatalog.list(target, library.store.lineage)
        #expect(catalog.snapshots.map(\.name.last) == Array(ends.suffix(2)))
        #expect(catalog.start == ends[2])
        #expect(catalog.segments.allSatisfy { $0.last > ends[2] })
        let (copy, _) = try library.restored(target, to: .transaction(ends[2]))
        defer { copy.close() }
        #expect(
            try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container, .transaction(ends[2])))
        let error = #expect(throws: StrataError.self) {
            try TargetRestore(target).run(to: library.url("none"), .transaction(ends[1]))
        }
        #expect(error?.code == .historyDropped)
    }

    @Test func largeValuesThatNothingNamesAreRemoved() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        let shipper = LogShipper(library.store, target, ShippingOptions(keptSnapshots: 1))
        try library.insertFilm("film", poster: Data(repeating: 1, count: 300_000))
        _ = try shipper.ship(makesSnapshot: true)
        let named = try #require(target.names("blobs/").first)
        target.files["blobs/ab/abandoned"] = Data("what a shipper wrote before it was killed".utf8)
        try library.insertFilm("another")
        _ = try shipper.ship(makesSnapshot: true)
        #expect(target.names("blobs/") == [named])
    }

    @Test func gapsAreWhatNoSegmentHas() throws {
        let lineage = UUID()
        func name(_ first: UInt64, _ last: UInt64) -> TargetEntry {
            let name = SegmentName(
                first: TransactionNumber(rawValue: first), last: TransactionNumber(rawValue: last),
                digest: [UInt8](repeating: UInt8(last), count: 32), lineage: lineage)
            return TargetEntry(name: name.text, sizeInBytes: 1)
        }
        var catalog = TargetCatalog(lineage: lineage)
        #expect(catalog.gaps(through: TransactionNumber(rawValue: 3)) == [1...3])
        catalog.add([name(1, 4), name(3, 5), name(9, 9), name(12, 20), name(13, 14)])
        #expect(catalog.gaps(through: TransactionNumber(rawValue: 25)) == [6...8, 10...11, 21...25])
        #expect(catalog.gaps(through: TransactionNumber(rawValue: 7)) == [6...7])
        #expect(catalog.gaps(through: TransactionNumber(rawValue: 5)) == [])
        #expect(catalog.end.rawValue == 20)
    }

    @Test func namesOfOtherFilesAreNoSegments() {
        let lineage = UUID()
        let name = SegmentName(
            first: TransactionNumber(rawValue: 1), last: TransactionNumber(rawValue: 2),
            digest: [UInt8](repeating: 7, count: 32), lineage: lineage)
        #expect(SegmentName(name.text) == name)
        for text in [
            "", "log/", "log/x/1-2-3.segment", name.text + "x", String(name.text.dropLast(8)),
            name.text.replacing("-0707", with: "-07"), name.text.replacing("00000000000000000002", with: "2"),
        ] {
            #expect(SegmentName(text) == nil, "\(text)")
        }
        #expect(Hexadecimal.bytes("0fA0") == nil && Hexadecimal.bytes("0f1") == nil)
        #expect(Hexadecimal.bytes("0fa0") == Data([0x0F, 0xA0]))
    }
}
