import Foundation
import LMDB
import Locking
import StrataModel
import StrataStore
import Testing

/// A restored store that takes the place of another one, and what kills in the middle of that leave.
@Suite struct StoreReplacementTests {
    private let root = FileManager.default.temporaryDirectory.appending(
        component: "replacement-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func path(_ root: URL) -> String { root.path(percentEncoded: false) + "a.strata" }
    private var place: String { path(root) }
    private var made: String { LeftCopies.restoring(place) }
    private var kept: String { LeftCopies.beforeRestore(place) }

    private static let old = 1
    private static let new = 2

    private func url(_ path: String) -> URL { URL(filePath: path, directoryHint: .isDirectory) }
    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func make(_ path: String, objects: Int) throws {
        let fixture = try StoreFixture(.directory(url(path)))
        defer { fixture.store.close() }
        try add(objects, to: fixture)
    }

    private func add(_ count: Int, to fixture: StoreFixture) throws {
        for _ in 0..<count { _ = try fixture.insert("Owner", ["name": .string(UUID().uuidString)]) }
    }

    private func objects(_ path: String) throws -> Int {
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(url(path)), model: nil, options: options)
        defer { store.close() }
        #expect(try store.verify().isSound)
        return try store.statistics().entities.first { $0.name == "Owner" }?.objectCount ?? 0
    }

    /// Runs the body with an old store at the place and a new one beside it.
    private func withStores(_ body: () throws -> Void) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try make(place, objects: Self.old)
        try make(made, objects: Self.new)
        try body()
    }

    /// Replaces the store, and copies all files as they are before and after the exchange.
    private func replaceCopying() throws -> (before: URL, after: URL) {
        let (before, after) = (root.appending(path: "before/"), root.appending(path: "after/"))
        let copies = Locked<[any Error]>([])
        func copy(to folder: URL) {
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                for path in [place, kept] where exists(path) {
                    try FileManager.default.copyItem(
                        at: url(path), to: folder.appending(path: url(path).lastPathComponent))
                }
            } catch {
                copies.withLock { $0.append(error) }
            }
        }
        try StoreReplacement(at: place, by: made, keeping: kept) { one, other in
            copy(to: before)
            defer { copy(to: after) }
            return PathExchange.exchange(one, other)
        }.run()
        let failures = copies.withLock { $0 }
        try #require(failures.isEmpty, "\(failures)")
        return (before, after)
    }

    private func expectReplaced() throws {
        #expect(try objects(place) == Self.new)
        #expect(try objects(kept) == Self.old)
        #expect(!exists(made) && !LeftCopies.hasRestored(place))
    }

    @Test func thePlaceHasAStoreAtEveryMoment() throws {
        try withStores { () throws in
            let file = place + "/data.mdb"
            let misses = Locked<Int?>(0)
            let isWatched = DispatchSemaphore(value: 0)
            try BackgroundThread.start("watch") {
                isWatched.signal()
                var isOver = false
                while !isOver {
                    let isMissing = access(file, F_OK) != 0
                    misses.withLock { count in
                        if isMissing, let found = count { count = found + 1 }
                        isOver = count == nil
                    }
                }
                isWatched.signal()
            }
            isWatched.wait()
            for _ in 0..<40 {
                try StoreReplacement(at: place, by: made, keeping: kept).run()
                try FileManager.default.moveItem(atPath: kept, toPath: made)
            }
            let count = misses.withLock { count in
                defer { count = nil }
                return count
            }
            isWatched.wait()
            #expect(count == 0)
        }
    }

    @Test func aKillBeforeTheExchangeLeavesTheOldStoreAndACopyThatIsRemoved() throws {
        try withStores { () throws in
            let left = path(try replaceCopying().before)
            try expectReplaced()
            #expect(LeftCopies.hasRestored(left))
            #expect(try objects(left) == Self.old)
            #expect(try LeftCopies.remove(besides: left).isEmpty)
            #expect(!exists(LeftCopies.beforeRestore(left)))
            #expect(try objects(left) == Self.old)
        }
    }

    @Test func aKillAfterTheExchangeLeavesBothStores() throws {
        try withStores { () throws in
            let left = path(try replaceCopying().after)
            let other = LeftCopies.beforeRestore(left)
            #expect(!LeftCopies.hasRestored(left))
            try LeftCopies.remove(besides: left)
            #expect(try objects(left) == Self.new)
            #expect(try objects(other) == Self.old)
            // The next restore keeps what this one has brought.
            try FileManager.default.removeItem(atPath: other)
            try make(LeftCopies.restoring(left), objects: 3)
            try StoreReplacement(at: left, by: LeftCopies.restoring(left), keeping: other).run()
            #expect(!LeftCopies.hasRestored(left))
            #expect(try objects(left) == 3)
            #expect(try objects(other) == Self.new)
        }
    }

    @Test func aCopyThatSomebodyHasSavedToStays() throws {
        try withStores { () throws in
            let left = path(try replaceCopying().before)
            let other = LeftCopies.beforeRestore(left)
            try make(other, objects: 1)
            try LeftCopies.remove(besides: left)
            #expect(try objects(other) == Self.new + 1)
        }
    }

    @Test(arguments: [ENOSYS, EINVAL, EOPNOTSUPP, EXDEV]) func aFileSystemWithoutExchangesRenamesBoth(
        number: Int32
    ) throws {
        try withStores { () throws in
            try StoreReplacement(at: place, by: made, keeping: kept) { _, _ in number }.run()
            try expectReplaced()
        }
    }

    @Test func anExchangeThatFailsLeavesTheOldStore() throws {
        try withStores { () throws in
            #expect(throws: BlobFile.Failure.self) {
                try StoreReplacement(at: place, by: made, keeping: kept) { _, _ in EIO }.run()
            }
            #expect(try objects(place) == Self.old)
            #expect(try objects(made) == Self.new)
            #expect(!exists(kept))
        }
    }

    @Test func anExchangeThatIsDoneAndReportedAsFailedIsOne() throws {
        try withStores { () throws in
            try StoreReplacement(at: place, by: made, keeping: kept) { one, other in
                _ = PathExchange.exchange(one, other)
                return EIO
            }.run()
            try expectReplaced()
        }
    }
}
