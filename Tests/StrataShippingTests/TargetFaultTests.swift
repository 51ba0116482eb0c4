import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataShipping

/// Targets that fail, fill up, lose files or have those of others.
@Suite struct TargetFaultTests {
    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        #expect(throws: StrataError.self) { try body() }?.code
    }

    private func expectRestored(_ library: FilmLibrary, _ target: some ShippingTarget, _ note: String = "") throws {
        let (copy, report) = try library.restored(target, as: "restored-\(UUID().uuidString).strata")
        defer { copy.close() }
        #expect(report.position.digest == (try library.store.logPosition().digest), "\(note)")
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container), "\(note)")
    }

    @Test(arguments: RandomTesting.seeds) func shippingGoesOnAfterFailures(seed: UInt64) throws {
        let library = try FilmLibrary(seed: seed)
        let target = MemoryTarget()
        target.state.withLock {
            $0.generator = SeededGenerator(seed: seed)
            ($0.failuresInHundred, $0.hiddenInHundred) = (15, 10)
        }
        let options = ShippingOptions(keptSnapshots: 2, snapshotInterval: 100_000)
        var shipper = LogShipper(library.store, target, options)
        var failures = 0
        for _ in 0..<60 {
            try library.step()
            do {
                _ = try shipper.ship()
            } catch let error as StrataError {
                #expect(error.code == .targetUnavailable, "seed \(seed): \(error)")
                failures += 1
                // Another process goes on.
                if failures % 3 == 0 { shipper = LogShipper(library.store, target, options) }
            }
        }
        #expect(failures > 5)
        target.state.withLock { ($0.failuresInHundred, $0.hiddenInHundred) = (0, 0) }
        _ = try LogShipper(library.store, target, options).ship()
        try expectRestored(library, target, "seed \(seed)")
    }

    @Test func aFullTargetIsToldAndHarmless() throws {
        let library = try FilmLibrary()
        try library.insertFilms(5)
        let target = MemoryTarget()
        let shipper = LogShipper(library.store, target)
        _ = try shipper.ship()
        let before = target.files
        target.state.withLock { state in state.capacity = state.files.values.reduce(100) { $0 + $1.count } }
        try library.insertFilms(50)
        #expect(code { _ = try shipper.ship() } == .noSpace)
        #expect(target.files == before)
        target.state.withLock { $0.capacity = nil }
        #expect(try shipper.ship().transactionCount == 50)
        try expectRestored(library, target)
    }

    @Test func aMissingSegmentIsToldAndShippedAgain() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        let shipper = LogShipper(library.store, target)
        for _ in 0..<4 {
            try library.insertFilms(3)
            _ = try shipper.ship()
        }
        let names = target.names("log/")
        target.files[names[1]] = nil
        let error = #expect(throws: StrataError.self) { try TargetRestore(target).run(to: library.url("none"), .now) }
        #expect(error?.code == .targetIncomplete)
        #expect(error?.message.hasPrefix("Transactions 5 to 7 are missing at the target.") ?? false, "\(error as Any)")
        // What comes before it can be restored.
        let (copy, _) = try library.restored(target, to: .transaction(TransactionNumber(rawValue: 4)))
        copy.close()
        #expect(try LogShipper(library.store, target).ship().transactionCount == 3)
        #expect(target.names("log/") == names)
        try expectRestored(library, target)
    }

    @Test func aDamagedSegmentIsPassedOverIfAnotherHasItsContent() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        try library.insertFilms(3)
        _ = try LogShipper(library.store, target).ship()
        let alone = target.files
        try library.insertFilms(3)
        _ = try LogShipper(library.store, target).ship()
        let second = MemoryTarget()
        _ = try LogShipper(library.store, second).ship()
        for (name, data) in alone where name.hasPrefix("log/") {
            for damage in 0..<20 {
                var bytes = data
                let offset = damage * data.count / 20
                bytes[offset] ^= 0x10
                target.files[name] = damage == 0 ? data.prefix(data.count / 2) : bytes
                let error = #expect(throws: StrataError.self) {
                    try TargetRestore(target).run(to: library.url("none"), .now)
                }
                #expect(error?.code == .targetIncomplete && error?.details.count == 1, "\(error as Any)")
            }
            // The other target has one segment for all.
            second.files[name] = data.prefix(100)
        }
        let (copy, _) = try library.restored(second)
        defer { copy.close() }
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
        #expect(!FileManager.default.fileExists(atPath: library.url("none").path(percentEncoded: false)))
    }

    @Test func aDamagedSnapshotIsPassedOver() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        try library.insertFilms(3)
        _ = try LogShipper(library.store, target).ship(makesSnapshot: true)
        let manifest = try #require(target.names("snapshots/").first { $0.hasSuffix(".manifest") })
        target.files[manifest]?[10] ^= 1
        try expectRestored(library, target)
        target.files[manifest]?[10] ^= 1
        let part = try #require(target.names("snapshots/").first { $0.hasSuffix(".part") })
        target.files[part]?.removeLast()
        try expectRestored(library, target)
    }

    @Test func aTargetOfAnotherStoreIsRefused() throws {
        let library = try FilmLibrary()
        let other = try FilmLibrary()
        let target = MemoryTarget()
        _ = try LogShipper(library.store, target).ship()
        let before = target.files
        #expect(code { _ = try LogShipper(other.store, target).ship() } == .divergedLog)
        #expect(target.files == before)
    }

    @Test func twoCopiesOfOneStoreThatBothGoOnAreToldApart() throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        try library.insertFilms(3)
        _ = try LogShipper(library.store, target).ship()
        let copy = library.url("copy.strata")
        try library.store.backup(to: copy)
        let twin = try FilmLibrary.open(copy)
        defer { twin.close() }
        let context = twin.newBackgroundContext()
        for number in 0..<2 {
            try library.insertFilm("mine \(number)")
            try context.insertNewObject(forEntityName: "Film").setValue("theirs \(number)", forKey: "title")
            try context.save()
        }
        _ = try LogShipper(library.store, target).ship()
        let before = target.files
        #expect(code { _ = try LogShipper(twin.store, target).ship() } == .divergedLog)
        #expect(target.files == before)
        try expectRestored(library, target)
        // An old copy, which lacks what is at the target.
        let old = library.url("old.strata")
        try twin.store.backup(to: old)
        try library.insertFilm("newest")
        _ = try LogShipper(library.store, target).ship()
        let behind = try FilmLibrary.open(old)
        defer { behind.close() }
        #expect(code { _ = try LogShipper(behind.store, target).ship() } == .divergedLog)
    }

    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2, 3]))
    func twoShippersOfOneStoreDoNoHarm(seed: UInt64) throws {
        let library = try FilmLibrary(seed: seed)
        let target = library.directoryTarget()
        let options = ShippingOptions(keptSnapshots: 2, snapshotInterval: 200_000, gathering: .milliseconds(1))
        let works = try (0..<2).map { _ in
            try library.container.startShipping(to: target, options: options) { result in
                // A file that the other has merged or removed may be gone.
                if case .failure(let error) = result { Issue.record("seed \(seed): \(error)") }
            }
        }
        for _ in 0..<80 { try library.step() }
        for work in works { work.stop() }
        try expectRestored(library, target, "seed \(seed)")
    }

    @Test func unfinishedFilesOfADirectoryAreNotSeen() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        try library.insertFilms(2)
        _ = try LogShipper(library.store, target).ship()
        let folder = library.url("target").appending(path: TargetName.log(of: library.store.lineage))
        let partial = folder.appending(component: ".partial-x")
        try Data("half".utf8).write(to: partial)
        let names = try target.entries(under: "", after: nil).map(\.name)
        #expect(names.count == 2 && !names.contains { $0.contains("partial") })
        try target.removeLeftovers()
        #expect(FileManager.default.fileExists(atPath: partial.path(percentEncoded: false)))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: partial.path(percentEncoded: false))
        try target.removeLeftovers()
        #expect(!FileManager.default.fileExists(atPath: partial.path(percentEncoded: false)))
        // A file is not replaced.
        #expect(try target.write(Data("other".utf8), to: names[0]) == .existed)
        #expect(try target.read(names[0]) != Data("other".utf8))
    }

    /// A disk that is away leaves no directory, or an empty one.
    @Test(arguments: [true, false]) func aDirectoryThatIsAwayIsNotMadeAnew(leavesDirectory: Bool) throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let away = library.url("away")
        try library.insertFilms(2)
        let shipper = LogShipper(library.store, target)
        shipper.listSeldom()
        _ = try shipper.ship()
        let standby = try Standby(target, at: library.url("standby.strata"))
        defer { standby.close() }
        try FileManager.default.moveItem(at: target.url, to: away)
        if leavesDirectory {
            try FileManager.default.createDirectory(at: target.url, withIntermediateDirectories: false)
        }
        for _ in 0..<3 {
            try library.insertFilms(1)
            #expect(code { _ = try shipper.ship() } == .targetUnavailable)
            #expect(code { _ = try standby.catchUp() } == .targetUnavailable)
            #expect(code { _ = try target.write(Data(), to: "log/x/y") } == .targetUnavailable)
        }
        #expect(FileManager.default.fileExists(atPath: target.label) == leavesDirectory)
        if leavesDirectory {
            #expect(try FileManager.default.contentsOfDirectory(atPath: target.label) == [])
            try FileManager.default.removeItem(at: target.url)
        }
        try FileManager.default.moveItem(at: away, to: target.url)
        #expect(try shipper.ship().transactionCount == 3)
        try expectRestored(library, target)
        #expect(try standby.catchUp().received == 3)
    }

    @Test func aFollowedStoreIsAllAtADirectoryThatWasAway() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let away = library.url("away")
        let failures = Locked(0)
        let work = try library.container.startShipping(to: target, options: .init(gathering: .milliseconds(1))) {
            if case .failure(let error) = $0 {
                #expect(error.code == .targetUnavailable)
                failures.withLock { $0 += 1 }
            }
        }
        let end = Date(timeIntervalSinceNow: 20)
        try library.insertFilms(2)
        while try TargetCatalog.list(target, library.store.lineage).end.rawValue < 3, Date() < end { usleep(1000) }
        try FileManager.default.moveItem(at: target.url, to: away)
        try library.insertFilms(2)
        while failures.withLock({ $0 == 0 }), Date() < end { usleep(1000) }
        #expect(!FileManager.default.fileExists(atPath: target.label))
        try FileManager.default.moveItem(at: away, to: target.url)
        try library.insertFilms(1)
        work.stop()
        #expect(failures.withLock { $0 } > 0)
        try expectRestored(library, target)
    }

    @Test func followingBeginsWhenTheTargetIsThere() throws {
        let library = try FilmLibrary()
        try library.insertFilms(3)
        let target = MemoryTarget()
        target.state.withLock { $0.capacity = 0 }
        let pace = Pace()
        var outcomes: [StrataError.Code?] = []
        try LogShipper(library.store, target).follow(pace, makesSnapshot: true, reportsFirst: true) { result in
            switch result {
            case .failure(let error):
                outcomes.append(error.code)
                target.state.withLock { $0.capacity = nil }
            case .success(let report):
                outcomes.append(nil)
                #expect(report.snapshot != nil)
                pace.stop()
            }
        }
        #expect(outcomes == [.noSpace, nil])
        try expectRestored(library, target)
    }

    /// While the views are rebuilt in several commits, the log cannot be read either.
    @Test func aStoreIsFollowedThroughARebuild() throws {
        let library = try FilmLibrary()
        try library.insertFilms(20)
        let (container, target) = (library.container, MemoryTarget())
        let codes = Locked<[StrataError.Code]>([])
        let work = Locked<Result<ContinuousShipping, any Error>?>(nil)
        let end = Date(timeIntervalSinceNow: 20)
        let early = MemoryTarget()
        let earlier = try container.startShipping(to: early) { _ in }
        let limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 1)
        _ = try library.store.rebuild(limits) { progress in
            guard progress.phase.hasPrefix("replaying"), work.withLock({ $0 }) == nil else { return }
            let begun = Result {
                try container.startShipping(to: target) { result in
                    if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
                }
            }
            work.withLock { $0 = begun }
            while codes.withLock({ $0.isEmpty }), Date() < end { usleep(1000) }
        }
        try library.insertFilms(1)
        try #require(work.withLock { $0 }).get().stop()
        earlier.stop()
        let shipped = try TargetCatalog.list(early, library.store.lineage).end
        #expect(try library.store.logPosition().transaction == shipped)
        #expect(Set(codes.withLock { $0 }) == [.persistentStoreTimeout])
        try expectRestored(library, target)
    }

    @Test func aStoreThatWasMovedAwayIsFollowedNoMore() throws {
        let library = try FilmLibrary()
        try library.insertFilms(1)
        let (own, moved) = (library.url("films.strata"), library.url("moved.strata"))
        let error = #expect(throws: StrataError.self) {
            try LogShipper(library.store, MemoryTarget()).follow(Pace(), reportsFirst: true) { _ in
                try FileManager.default.moveItem(at: own, to: moved)
            }
        }
        #expect(error?.code == .persistentStoreOperation)
        try FileManager.default.moveItem(at: moved, to: own)
    }

    @Test func aTargetInTheStoreIsRefused() throws {
        let library = try FilmLibrary()
        try library.insertFilms(1)
        let own = library.url("films.strata")
        let link = library.url("link")
        try FileManager.default.createSymbolicLink(
            atPath: library.folder.path(percentEncoded: false) + "link",
            withDestinationPath: own.path(percentEncoded: false))
        let before = try FileManager.default.contentsOfDirectory(atPath: own.path(percentEncoded: false)).sorted()
        for place in [own, own.appending(path: "a/b"), link, link.appending(path: "a")] {
            #expect(code { _ = try LogShipper(library.store, DirectoryTarget(place)).ship() } == .invalidRequest)
            #expect(code { _ = try library.store.backup(to: place) } == .invalidRequest)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: own.path(percentEncoded: false)).sorted() == before)
        // A place beside the store whose name begins with the store's is another one.
        _ = try LogShipper(library.store, DirectoryTarget(library.url("films.strata2"))).ship()
    }

    @Test func aTargetThatCannotBeUsedIsTold() throws {
        let library = try FilmLibrary()
        let file = library.url("file")
        try Data().write(to: URL(filePath: library.folder.path(percentEncoded: false) + "file"))
        #expect(code { _ = try LogShipper(library.store, DirectoryTarget(file)).ship() } == .targetUnavailable)
        #expect(code { _ = try TargetRestore(DirectoryTarget(library.url("nothing"))) } == .targetIncomplete)
    }
}
