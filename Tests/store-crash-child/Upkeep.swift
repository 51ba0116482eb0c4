import ArgumentParser
import FaultShim
import Foundation
import StrataInspector
import StrataModel
import StrataStore
import StrataTestSupport

extension Work {
    private func command(_ words: String...) throws {
        var command = try StrataCommand.parseAsRoot(words)
        try command.run()
    }

    /// `strata compact`, as a user runs it, after saves that only the journal has on the disk.
    func compact() throws {
        for count in 1...rounds {
            if options.durability == .journaled { try savePending(3) }
            try command("compact", directory.path(percentEncoded: false), "--json")
            say(0, count)
        }
    }

    /// Saves that leave the files as a process does that is killed: the checkpoint at its end is not made.
    private func savePending(_ count: Int) throws {
        let store = try openAsItIs()
        var saver = try Saver(store, thread: 1)
        for _ in 0..<count { say(1, try saver.save()) }
        fault_arm(Int32(FAULT_SYNC), 1, 1_000, EIO, Int32(FAULT_REFUSE))
        store.close()
        fault_disarm()
    }

    // MARK: An older format

    /// A second copy of the store that is upgraded.
    var original: URL { directory.deletingLastPathComponent().appending(path: "original", directoryHint: .isDirectory) }

    /// Copies a store that version 0.1.0 wrote.
    func prepareUpgrade() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/Stores/0.1.0.strata", directoryHint: .isDirectory).standardized
        let image = Image(files: try Image.files(of: fixture))
        for place in [directory, original] { try image.write(to: place) }
    }

    func upgrade() throws {
        var options = options
        options.packing.eventsInOneCommit = 20
        let store = try Store.open(.directory(directory), model: nil, options: options)
        let report = try store.upgrade(keeping: 0)
        if report.stepCount < 4 { fatalError("an upgrade of \(report.stepCount) steps") }
        say(0, 1)
        store.close()
    }

    // MARK: A backup that takes the store's place

    var kept: URL { directory.deletingLastPathComponent().appending(path: "backup", directoryHint: .isDirectory) }
    var replaced: URL {
        directory.deletingLastPathComponent()
            .appending(path: directory.lastPathComponent + ".before-restore", directoryHint: .isDirectory)
    }

    func restore() throws {
        try command(
            "restore", kept.path(percentEncoded: false), directory.path(percentEncoded: false), "--replace", "--json")
        say(0, 1)
    }
}

extension ImageCheck {
    /// Every save is there, or the history that had it was let go.
    func checkTrimmed() throws {
        let store = try recorded.open(nil)
        defer { store.close() }
        let saved = try saves(store)[1] ?? []
        let acknowledged = max(said[1] ?? 0, said[Recording.before + 1] ?? 0)
        let first = saved.first ?? acknowledged + 1
        try expect(saved == Array(first..<first + saved.count), "saves \(saved)")
        let last = saved.last ?? acknowledged
        try expect(
            (acknowledged...acknowledged + 1).contains(last),
            "save \(last) is the last, \(acknowledged) were acknowledged")
        let baseline = try store.baseline()
        try expect(first == 1 || baseline != nil, "saves before \(first) are gone")
        if let baseline, let first = try store.transactions(limit: 1).first {
            try expect(first.number.rawValue == baseline.transaction.rawValue + 1, "a gap after the baseline")
        }
        let movies = try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
        try expect(movies == last - max(0, last / 7 - 1), "\(movies) movies after \(last) saves")
        try verify(store, "found")
        try expect(try store.rebuild().isUnchanged, "a rebuild changes views")
    }

    /// The log and the objects are those of the store before, and the upgrade can be finished.
    func checkUpgraded() throws {
        var reading = options
        reading.isReadOnly = true
        let before = try Store.open(.directory(recorded.original), model: nil, options: reading)
        defer { before.close() }
        let store = try recorded.open(nil)
        defer { store.close() }
        try expectEqual(store, before)
        try expect(
            try said[0] == nil || store.plannedUpgrade(keeping: 0).packedEventCount == 0,
            "events are not packed any more")
        _ = try store.upgrade(keeping: 0)
        try expectEqual(store, before)
        try expect(try store.rebuild().isUnchanged, "a rebuild changes views")
    }

    private func expectEqual(_ store: Store, _ before: Store) throws {
        try expect(try store.logPosition() == before.logPosition(), "another log")
        let (found, then) = try (Self.objects(of: store), Self.objects(of: before))
        try expect(found == then, "other objects")
        try verify(store, "of an older format")
    }

    private static func objects(of store: Store) throws -> [ObjectID: RowImage] {
        try store.read(at: try store.head()) { try Work.objects(of: $0, store.schema) }
    }

    /// The store from before or the restored one is at the place. In the second case the other name has the one from before;
    /// in the first it has nothing, once what an interrupted restore has left is removed.
    func checkRestored() throws {
        try LeftCopies.remove(besides: recorded.directory.path(percentEncoded: false))
        var found: [String: Int] = [:]
        for place in [recorded.directory, recorded.replaced] where FileManager.default.fileExists(atPath: place.path) {
            let store = try Store.open(.directory(place), model: nil, options: options)
            defer { store.close() }
            try verify(store, place.lastPathComponent)
            found[place.lastPathComponent] = try saves(store)[1]?.count ?? 0
        }
        let (own, kept) = (found[recorded.directory.lastPathComponent], found[recorded.replaced.lastPathComponent])
        let before = said[Recording.before + 1] ?? 0
        let isBefore = own == before && kept == nil
        let isAfter = own == Recording.savesInBackup && kept == before
        try expect(isAfter || isBefore && said[0] == nil, "stores with so many saves: \(found)")
    }
}
