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

    private func ids(_ fixture: StoreFixture) throws -> Set<ObjectID> {
        let movie = try fixture.entity("Movie").id
        return try fixture.store.read(at: try fixture.store.head()) { view in
            var ids: Set<ObjectID> = []
            try view.scan(movie) { id, _ in
                ids.insert(id)
                return true
            }
            return ids
        }
    }
}
