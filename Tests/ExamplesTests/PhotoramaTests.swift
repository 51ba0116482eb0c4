import Foundation
import Strata
import StrataTestSupport
import Testing

@testable import PhotoramaParts

/// Photorama: an import that skips what is there, what is here before and after, reading a part, and where the file is.
@Suite struct PhotoramaTests {
    private static let firstPage = [
        "2025-08-23  Paper boats  https://photos.example.org/65535/5410000296_z.jpg",
        "2025-08-30  Two swimmers  https://photos.example.org/65535/5410000333_z.jpg",
        "2025-09-14  Somebody's red bicycle  https://photos.example.org/65535/5410000185_z.jpg",
        "2025-09-27  Market, before the market  https://photos.example.org/65535/5410000370_z.jpg",
        "2025-09-28  Three umbrellas  https://photos.example.org/65535/5410000074_z.jpg",
        "2025-09-29  Chairs, stacked  https://photos.example.org/65535/5410000222_z.jpg",
        "2025-09-30  Window cleaner, ninth floor  https://photos.example.org/65535/5410000259_z.jpg",
        "2025-09-30  The last tram  https://photos.example.org/65535/5410000111_z.jpg",
        "2025-10-01  Heron at the weir  https://photos.example.org/65535/5410000037_z.jpg",
        "2025-10-01  Fog over the allotments  https://photos.example.org/65535/5410000148_z.jpg",
    ]

    @Test func theStoryIsToldOnANewStoreAndAgain() throws {
        let run = ExampleRun("Photorama")
        let first = try run.tell("--count", "20000")
        #expect(first[1] == ["0 photos are here"])
        #expect(
            first[2] == [
                "interesting-1.json: 10 photos, 10 of them new, 0 skipped because their photoID is here"
            ])
        #expect(first[3] == ["10 photos are here:"] + Self.firstPage)
        #expect(
            first[4]?.prefix(3) == [
                "interesting-1.json: 10 photos, 0 of them new, 10 skipped because their photoID is here",
                "interesting-2.json: 7 photos, 4 of them new, 3 skipped because their photoID is here",
                "14 photos are here:",
            ])
        let dates = first[4]?.dropFirst(3).map { $0.prefix(10) } ?? []
        #expect(dates.count == 14 && dates == dates.sorted())

        let second = try run.tell("--count", "100")
        #expect(second[1] == first[4].map { Array($0.dropFirst(2)) })
        #expect(
            second[2] == [
                "interesting-1.json: 10 photos, 0 of them new, 10 skipped because their photoID is here"
            ])
        #expect(try run.strata("verify").exitCode == 0)
    }

    @Test func aHundredOfManyAreReadFasterThanAnArchive() throws {
        let run = ExampleRun("Photorama")
        let step = try #require(try run.tell("--count", "20000")[5])
        try #require(step.count == 6, "\(step)")
        #expect(step[0].hasPrefix("20000 photos in a store, and the same in an archive of "))
        #expect(step[3] == "The same 100: yes")
        func milliseconds(_ line: Int) throws -> Double {
            let match = try #require(step[line].firstMatch(of: /: +([\d,]+\.\d) ?ms/))
            let digits = match.output.1.replacing(",", with: "")
            return try #require(Double(digits))
        }
        #expect(try milliseconds(1) < milliseconds(2))
        #expect(try milliseconds(4) < milliseconds(5))
    }

    @Test func theToolNamesTheFileToo() throws {
        let run = ExampleRun("Photorama")
        let step = try #require(try run.tell("--count", "100")[6])
        try #require(step.count > 1, "\(step)")
        #expect(step[0] == "container.storeURL: \(run.directory.path)")
        #expect(step.contains("data.mdb"))
        #expect(
            step.last == "To see what is in it, without this program's code: bin/strata inspect \(run.directory.path)")
        let inspection = try run.strata("inspect")
        #expect(inspection.exitCode == 0 && inspection.output.contains("data.mdb"))
        #expect(inspection.output.contains("Photo"))
    }

    @Test func photosWithoutAnAddressAndPhotosThatAreHereAreSkipped() async throws {
        RemoteURLTransformer.register()
        let container = try PersistentContainer(name: "Photorama", entities: [Photo.self], at: .inMemory)
        try container.loadPersistentStores()
        defer { container.close() }
        let feed = try PhotoFeed(
            contentsOf: ExampleRun.fixtures("Photorama").appending(component: "interesting-1.json"))
        #expect(feed.photos.count == 10 && !feed.photos.contains { $0.title == "Withheld by its owner" })
        let album = PhotoAlbum(container: container)
        #expect(try await album.importPhotos(of: feed) == 10)
        #expect(try await album.importPhotos(of: feed) == 0)
        let context = container.newBackgroundContext()
        let photos = try context.fetch(PhotoAlbum.byDateTaken)
        #expect(photos.map(\.remoteURL) == feed.photos.sorted { $0.dateTaken < $1.dateTaken }.map(\.remoteURL))
    }
}
