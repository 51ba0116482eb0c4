import Foundation
import Strata

/// Compares a store with an archive of the same photos: opening a hundred, and changing one.
struct Comparison {
    let count: Int
    private let directory: URL
    private let archive: URL
    private let store: URL

    init(count: Int, in directory: URL) {
        self.count = count
        self.directory = directory.appending(component: "Photorama-\(UUID().uuidString)", directoryHint: .isDirectory)
        archive = self.directory.appending(component: "photos.plist")
        store = self.directory.appending(component: "photos.strata", directoryHint: .isDirectory)
    }

    /// How long a step took, and the titles that it read.
    struct Reading {
        var duration: Duration
        var titles: [String]
    }

    /// Makes the store and the archive.
    func prepare() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let items = try (0..<count).map(item)
        try write(items)
        let container = try openStore(durability: .disposable)
        defer { container.close() }
        var rest = items[...]
        let request = BatchInsertRequest<Photo> { row in
            guard let item = rest.popFirst() else { return true }
            row[\.photoID] = item.photoID
            row[\.title] = item.title
            row[\.dateTaken] = item.dateTaken
            row[\.remoteURL] = item.remoteURL
            return false
        }
        try container.newBackgroundContext().execute(request)
    }

    func remove() throws { try FileManager.default.removeItem(at: directory) }

    /// Opens the store and reads the hundred photos taken last.
    func readFromStore() throws -> Reading {
        try measure {
            let container = try openStore()
            defer { container.close() }
            let request = try FetchRequest<Photo>().sorted(by: \.dateTaken, isAscending: false).limited(to: 100)
            return try container.newBackgroundContext().fetch(request).map(\.title)
        }
    }

    /// Reads the whole archive for the same hundred photos.
    func readFromArchive() throws -> Reading {
        try measure {
            let items = try readArchive().sorted { $0.dateTaken > $1.dateTaken }
            return items.prefix(100).map(\.title)
        }
    }

    /// Opens the store and changes one title.
    func changeInStore() throws -> Duration {
        try measure {
            let container = try openStore()
            defer { container.close() }
            let context = container.newBackgroundContext()
            let photo = try context.fetch(FetchRequest<Photo>(format: "photoID = %@", "many-1")).first
            photo?.title = "Renamed"
            try context.save()
            return []
        }.duration
    }

    /// Changes one title in the archive, which means reading and writing all of it.
    func changeInArchive() throws -> Duration {
        try measure {
            var items = try readArchive()
            items[1].title = "Renamed"
            try write(items)
            return []
        }.duration
    }

    var archiveSize: Int {
        get throws { try archive.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
    }

    private func openStore(durability: PersistentStoreDurability = .full) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Photos", entities: [Photo.self], at: .url(store), options: .init(durability: durability))
        try container.loadPersistentStores()
        return container
    }

    private func readArchive() throws -> [PhotoItem] {
        try PropertyListDecoder().decode([PhotoItem].self, from: Data(contentsOf: archive))
    }

    private func write(_ items: [PhotoItem]) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        try encoder.encode(items).write(to: archive, options: .atomic)
    }

    /// Photo `number`; the dates are out of order, so that sorting by date is not the order of insertion.
    private func item(_ number: Int) throws -> PhotoItem {
        let place = number &* 7_919 % count
        guard let url = URL(string: "https://photos.example.org/\(number)_z.jpg") else {
            throw StrataError(.validationInvalidURI, "No address can be made for photo \(number).")
        }
        return PhotoItem(
            photoID: "many-\(number)", title: "Photo \(number)",
            dateTaken: Date(timeIntervalSince1970: 1_600_000_000 + 60 * Double(place)), remoteURL: url)
    }

    private func measure(_ work: () throws -> [String]) rethrows -> Reading {
        var titles: [String] = []
        let duration = try ContinuousClock().measure { titles = try work() }
        return Reading(duration: duration, titles: titles)
    }
}
