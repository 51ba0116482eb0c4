import Foundation
import StrataModel
import StrataStore
import Testing

/// A disk that is really full: a small file system in memory, where mounting one is permitted.
@Suite(.enabled(if: SmallDisk.isPermitted, "mounting a file system is not permitted here"))
struct FullDiskTests {
    @Test func aFullDiskLosesNothingAndRoomLetsSavesGoOn() throws {
        let disk = try SmallDisk(sizeInBytes: 4 << 20)
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
        let disk = try SmallDisk(sizeInBytes: 2 << 20)
        let fixture = try StoreFixture(.directory(disk.root.appending(component: "full.strata")))
        let error = #expect(throws: StrataError.self) { try fixture.store.stageBlob(Data(count: 4 << 20)) }
        #expect(error?.code == .noSpace)
        // The half that was written is gone, so that there is room for another.
        _ = try fixture.store.stageBlob(Data(count: 1 << 20))
        #expect(try fixture.store.sweepBlobs() == 1)
        fixture.store.close()
    }

    @Test func aStoreIsNotMadeOnAFullDisk() throws {
        let disk = try SmallDisk(sizeInBytes: 64 << 10)
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

/// A file system of a given size, unmounted at the end.
private final class SmallDisk {
    let root: URL

    /// Found out once, by mounting one.
    static let isPermitted: Bool = (try? SmallDisk(sizeInBytes: 64 << 10)) != nil

    init(sizeInBytes: Int) throws {
        root = FileManager.default.temporaryDirectory.appending(path: "strata-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        do {
            try Self.run(
                "mount", "-t", "tmpfs", "-o", "size=\(sizeInBytes),mode=0700", "tmpfs",
                root.path(percentEncoded: false))
        } catch {
            rmdir(root.path(percentEncoded: false))
            throw error
        }
    }

    deinit {
        try? Self.run("umount", "-l", root.path(percentEncoded: false))
        rmdir(root.path(percentEncoded: false))
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
    }
}
