import Foundation
import Strata

/// The story in five steps on the main actor, as in an app with a window; each prints what it does.
@MainActor struct Story {
    private let container: PersistentContainer
    private let album: PhotoAlbum
    private let feed: URL
    private let comparison: Comparison

    init(_ container: PersistentContainer, feed: URL, _ comparison: Comparison) {
        self.container = container
        self.feed = feed
        self.comparison = comparison
        album = PhotoAlbum(container: container)
    }

    func tell() async throws {
        container.viewContext.automaticallyMergesChangesFromParent = true
        title(1, "Photos that are here already")
        try show()
        try await importPage("interesting-1.json", title: 2, "A page of the feed")
        title(3, "The photos that are here now, sorted by dateTaken")
        try show()
        try await importPage("interesting-1.json", title: 4, "The same page once more, and the page of the next day")
        try await importPage("interesting-2.json")
        try show()
        try compare()
        try tellWhere()
    }

    private func title(_ number: Int, _ text: String) { print("\n\(number). \(text)") }

    private func show() throws {
        let photos = try container.viewContext.fetch(PhotoAlbum.byDateTaken)
        print("   \(photos.count) photos are here\(photos.isEmpty ? "" : ":")")
        for photo in photos {
            let date = photo.dateTaken.map { $0.formatted(.iso8601.year().month().day()) } ?? "some day"
            print("   \(date)  \(photo.title)  \(photo.remoteURL?.absoluteString ?? "-")")
        }
    }

    private func importPage(_ name: String, title number: Int? = nil, _ text: String = "") async throws {
        if let number { title(number, text) }
        let page = try PhotoFeed(contentsOf: feed.appending(component: name))
        let count = try await album.importPhotos(of: page)
        print(
            "   \(name): \(page.photos.count) photos, \(count) of them new, "
                + "\(page.photos.count - count) skipped because their photoID is here")
    }

    private func compare() throws {
        title(5, "Why a store and not an archive")
        try comparison.prepare()
        defer { removeComparison() }
        let size = try comparison.archiveSize.formatted(.byteCount(style: .file))
        print("   \(comparison.count) photos in a store, and the same in an archive of \(size)")
        let (store, archive) = (try comparison.readFromStore(), try comparison.readFromArchive())
        print("   The newest 100, the store opened and these read: \(Self.milliseconds(store.duration))")
        print("   The newest 100, the archive read whole:          \(Self.milliseconds(archive.duration))")
        print("   The same 100: \(store.titles == archive.titles ? "yes" : "NO")")
        print(
            "   One title changed in the store:                  \(Self.milliseconds(try comparison.changeInStore()))")
        print(
            "   One title changed, the archive written whole:    "
                + Self.milliseconds(try comparison.changeInArchive()))
    }

    private func removeComparison() {
        do { try comparison.remove() } catch { print("   The compared files could not be removed: \(error)") }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        duration.formatted(.units(allowed: [.milliseconds], fractionalPart: .show(length: 1)))
    }

    private func tellWhere() throws {
        title(6, "Where exactly is the file?")
        guard let store = container.storeURL else { return }
        print("   container.storeURL: \(store.path)")
        for file in try FileManager.default.contentsOfDirectory(atPath: store.path).sorted() { print("      \(file)") }
        print("   To see what is in it, without this program's code: bin/strata inspect \(store.path)")
    }
}
