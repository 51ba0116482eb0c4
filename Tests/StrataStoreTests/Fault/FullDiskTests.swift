import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A disk that is really full: a small file system in memory, where mounting one is permitted.
@Suite(.enabled(if: MountedDisk.isPermitted, "mounting a file system is not permitted here"))
struct FullDiskTests {
    @Test func aFullDiskLosesNothingAndRoomLetsSavesGoOn() throws {
        let disk = try MountedDisk(sizeInBytes: 4 << 20)
        let fixture = try StoreFixture(.directory(disk.root.appending(component: "full.strata")))
        let filler = disk.root.appending(component: "filler")
        try Data(count: 1 << 20).write(to: filler)
        var saved: Set<ObjectID> = []
        var refusal: StrataError?
        while refusal == nil, saved.count < 20_000 {
            do {
                saved.insert(try fixture.insert("Movie", ["title": .string(String(repeating: "long ", count: 400))]))
            } catch let error as StrataError {
                refusal = error
            }
        }
        #expect(refusal?.code == .noSpace)
        #expect(saved.count > 10)
        #expect(try ids(fixture) == saved)
        #expect(try fixture.store.verify().isSound)
        try FileManager.default.removeItem(at: filler)
        saved.insert(try fixture.insert("Movie", ["title": .string("room again")]))
        #expect(try ids(fixture) == saved)
        #expect(try fixture.store.verify().isSound)
        fixture.store.close()
    }

    @Test func aLargeValueThatDoesNotFitIsATypedError() throws {
        let disk = try MountedDisk(sizeInBytes: 2 << 20)
        let fixture = try StoreFixture(.directory(disk.root.appending(component: "full.strata")))
        let error = #expect(throws: StrataError.self) { try fixture.store.stageBlob(Data(count: 4 << 20)) }
        #expect(error?.code == .noSpace)
        // The half that was written is gone, so that there is room for another.
        _ = try fixture.store.stageBlob(Data(count: 1 << 20))
        #expect(try fixture.store.sweepBlobs() == 1)
        fixture.store.close()
    }

    @Test func aStoreIsNotMadeOnAFullDisk() throws {
        let disk = try MountedDisk(sizeInBytes: 64 << 10)
        try Data(count: 60 << 10).write(to: disk.root.appending(component: "filler"))
        let place = disk.root.appending(component: "none.strata")
        let error = #expect(throws: StrataError.self) {
            try Store.open(.directory(place), model: try MovieModel.make())
        }
        #expect(error?.code == .noSpace)
    }

    /// A rebuild in several steps that does not fit is refused while the old views stand, or succeeds.
    @Test(arguments: [0, 300, 600, 900, 1200, 1500, 2000, 3000]) func aRebuildIsNotBegunWithoutRoom(left: Int) throws {
        let disk = try MountedDisk(sizeInBytes: 16 << 20)
        let fixture = try filled(disk)
        defer { fixture.store.close() }
        let saved = try ids(fixture)
        try Self.fill(disk.root, leaving: left << 10)
        do {
            #expect(try fixture.store.rebuild(Self.steps).isUnchanged)
        } catch let error as StrataError {
            #expect(error.code == .noSpace && error.message.hasSuffix("nothing was changed."), "\(error)")
            #expect(left < 3000, "there was room")
        }
        #expect(try ids(fixture) == saved)
        #expect(try fixture.store.verify().isSound)
    }

    @Test func aRebuildThatADiskCutsShortSaysSoAndIsFinishedWithRoom() throws {
        let disk = try MountedDisk(sizeInBytes: 16 << 20)
        let fixture = try filled(disk)
        let saved = try ids(fixture)
        let root = disk.root
        let error = #expect(throws: StrataError.self) {
            _ = try fixture.store.rebuild(Self.steps) { progress in
                if progress.phase.hasPrefix("replaying") { try? Self.fill(root, leaving: 0) }
            }
        }
        #expect(error?.code == .noSpace && error?.message.contains("with more room") ?? false, "\(error as Any)")
        #expect(#expect(throws: StrataError.self) { try ids(fixture) }?.code == .persistentStoreTimeout)
        fixture.store.close()
        try FileManager.default.removeItem(at: disk.root.appending(component: "filler"))
        let again = try Store.open(.directory(disk.root.appending(component: "full.strata")), model: nil)
        defer { again.close() }
        let movie = try #require(again.schema.entity(named: "Movie"))
        let count = try again.read(at: try again.head()) { try $0.fetch(StoreRequest(entityID: movie.id)).count }
        #expect(count == saved.count)
        #expect(try again.verify().isSound)
    }

    private static let steps = RebuildLimits(eventsInOneCommit: 100, bytesInOneCommit: 1, stepInBytes: 256 << 10)

    private func filled(_ disk: MountedDisk) throws -> StoreFixture {
        let fixture = try StoreFixture(.directory(disk.root.appending(component: "full.strata")))
        for number in 0..<1500 {
            _ = try fixture.insert("Movie", ["title": .string("\(number) " + String(repeating: "long ", count: 100))])
        }
        return fixture
    }

    private static func fill(_ root: URL, leaving: Int) throws {
        let filler = root.appending(component: "filler")
        guard !FileManager.default.fileExists(atPath: filler.path) else { return }
        let free = try FileManager.default.attributesOfFileSystem(forPath: root.path)[.systemFreeSize] as? Int ?? 0
        try Data(count: max(0, free - leaving)).write(to: filler)
    }

    private func ids(_ fixture: StoreFixture) throws -> Set<ObjectID> {
        let movie = try fixture.entity("Movie").id
        return try fixture.store.read(at: try fixture.store.head()) { snapshot in
            var ids: Set<ObjectID> = []
            try snapshot.scan(movie) { id, _ in
                ids.insert(id)
                return true
            }
            return ids
        }
    }
}
