import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataShipping

/// Large values whose files a store, or a target, has lost.
@Suite struct LostValueTests {
    private func blobFile(_ library: FilmLibrary) throws -> URL {
        let files = FileManager.default.enumerator(
            at: library.url("films.strata").appending(component: "blobs"),
            includingPropertiesForKeys: [.isRegularFileKey])
        while let file = files?.nextObject() as? URL {
            if try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true { return file }
        }
        throw CocoaError(.fileNoSuchFile)
    }

    @Test(arguments: [true, false]) func oneLostValueKeepsNothingElseFromBeingRestored(isSnapshot: Bool) throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let poster = Data(repeating: 5, count: 200_000)
        let film = try library.insertFilm("with a poster", poster: poster)
        let file = try blobFile(library)
        try library.insertFilm("another", poster: Data(repeating: 6, count: 200_000))
        let kept = library.folder.appending(component: "kept")
        try FileManager.default.moveItem(at: file, to: kept)
        for _ in 0..<2 {
            // Also a shipment that has nothing else to say tells of it.
            let report = try LogShipper(library.store, target).ship(makesSnapshot: isSnapshot)
            #expect(report.missingBlobCount == 1)
        }
        let restored = try TargetRestore(target).run(to: library.url("restored.strata"), .now)
        #expect(restored.lostBlobCount == 1 && restored.blobCount == 1)
        let copy = try FilmLibrary.open(library.url("restored.strata"))
        let verified = try copy.store.verify()
        #expect(verified.problemCount == 1 && verified.problems.first?.kind == .blob)
        let context = copy.newBackgroundContext()
        #expect(throws: StrataError.self) { try context.existingObject(with: film.objectID).value(forKey: "poster") }
        #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Film")).count == 2)
        copy.close()
        let standby = try Standby(target, at: library.url("standby.strata"))
        #expect(try standby.store().verify().problemCount == 1)
        standby.close()
        // The value is there again.
        try FileManager.default.moveItem(at: kept, to: file)
        let shipped = try LogShipper(library.store, target).ship()
        #expect(shipped.missingBlobCount == 0 && shipped.blobCount == 1)
        #expect(try target.entries(under: TargetName.lost, after: nil) == [])
        let (whole, again) = try library.restored(target, as: "again.strata")
        #expect(again.lostBlobCount == 0)
        #expect(try FilmLibrary.state(of: whole) == FilmLibrary.state(of: library.container))
        whole.close()
    }

    @Test func aLostValueThatNothingNamesIsToldNoMore() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        let film = try library.insertFilm("with a poster", poster: Data(repeating: 5, count: 200_000))
        try FileManager.default.removeItem(at: blobFile(library))
        #expect(try LogShipper(library.store, target).ship().missingBlobCount == 1)
        try library.container.erase([film.objectID], reason: nil)
        #expect(try LogShipper(library.store, target).ship().missingBlobCount == 0)
        #expect(try TargetRestore(target).run(to: library.url("restored.strata"), .now).lostBlobCount == 0)
    }

    @Test func aValueThatTheTargetHasLostIsNamedToo() throws {
        let library = try FilmLibrary()
        let target = library.directoryTarget()
        try library.insertFilm("with a poster", poster: Data(repeating: 5, count: 200_000))
        try library.insertFilm("another")
        _ = try LogShipper(library.store, target).ship()
        let blob = try #require(try target.entries(under: TargetName.blobs, after: nil).first)
        try target.remove(blob.name)
        #expect(try TargetRestore(target).run(to: library.url("restored.strata"), .now).lostBlobCount == 1)
    }
}
