import Foundation
import Strata
import Testing

private let directory = FileManager.default.temporaryDirectory.appending(path: "tutorial-\(UUID().uuidString).strata")

/// Makes the container in a directory of the test that the page makes in the home directory.
private func PersistentContainer(name: String, entities: [ManagedObject.Type]) throws -> Strata.PersistentContainer {
    try Strata.PersistentContainer(name: name, entities: entities, at: .url(directory))
}

/// The examples of the tutorial, run one after the other on one store.
@Suite struct TutorialTests {
    enum First {
        @Entity final class Bookmark: ManagedObject {
            @Attribute(.unique) var address: String
            @Attribute(.indexed) var title: String
            @Attribute(.range(0...5)) var stars: Int = 0
            @Relationship(inverse: \Label.bookmarks) var labels: ToMany<Label>
        }

        @Entity final class Label: ManagedObject {
            @Attribute(.unique) var name: String
            var bookmarks: ToMany<Bookmark>
        }

        static func run() throws {
            let container = try PersistentContainer(name: "Bookmarks", entities: [Bookmark.self, Label.self])
            try container.loadPersistentStores()
            let context = container.newBackgroundContext()
            context.transactionAuthor = "ann"
            defer { container.close() }

            let swift = Label(context: context)
            swift.name = "swift"
            let page = Bookmark(context: context)
            page.address = "https://swift.org"
            page.title = "Swift"
            page.stars = 4
            page.labels.insert(swift)  // swift.bookmarks contains the page from now on
            try context.save()
            #expect(swift.bookmarks.contains(page))

            let again = Bookmark(context: context)
            again.address = "https://swift.org"
            again.title = "Swift again"
            again.stars = 9
            do {
                try context.save()
            } catch let error as StrataError {
                for problem in error.details.isEmpty ? [error] : error.details { print(problem.message) }
                context.rollback()
            }
            #expect(try context.count(for: FetchRequest<Bookmark>()) == 1)

            let good = try FetchRequest<Bookmark>().where { $0.stars >= 4 }.sorted(by: \.title)
            for bookmark in try context.fetch(good) {
                print(bookmark.title, bookmark.labels.map(\.name))
            }
            let labelled = try FetchRequest<Bookmark>().where { $0.labels.any { $0.name == "swift" } }
            print(try context.count(for: labelled))
            #expect(try context.fetch(good) == [page])
            #expect(try context.count(for: labelled) == 1)
        }
    }

    enum Second {
        @Entity final class Bookmark: ManagedObject {
            @Attribute(.unique) var address: String
            @Attribute(.indexed) var title: String
            @Attribute(.range(0...5), .renamed(from: "stars")) var rating: Double = 0
            var visited: Date?
            @Relationship(inverse: \Tag.bookmarks, .renamed(from: "labels")) var tags: ToMany<Tag>
        }

        @Entity(.renamed(from: "Label")) final class Tag: ManagedObject {
            @Attribute(.unique) var name: String
            var bookmarks: ToMany<Bookmark>
        }

        static func run() throws {
            let container = try PersistentContainer(name: "Bookmarks", entities: [Bookmark.self, Tag.self])
            for step in try container.migrationPlan().steps { print(step) }
            try container.loadPersistentStores()
            let context = container.newBackgroundContext()
            for bookmark in try context.fetch(FetchRequest<Bookmark>()) {
                print(bookmark.title, bookmark.rating, bookmark.tags.map(\.name))
                bookmark.rating += 0.5
            }
            try context.save()
            defer { container.close() }
            let page = try #require(try context.fetch(FetchRequest<Bookmark>()).first)
            #expect(page.rating == 4.5 && page.tags.map(\.name) == ["swift"])

            for bookmark in try context.fetch(FetchRequest<Bookmark>()) {
                for event in try container.history(of: bookmark.objectID) { print(event) }
            }
            let past = try container.context(asOf: .transaction(TransactionNumber(rawValue: 1)))
            print(try past.count(for: FetchRequest<Bookmark>()))  // 0: before the first save
            #expect(try past.count(for: FetchRequest<Bookmark>()) == 0)
        }
    }

    @Test func theWholePageRuns() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try First.run()
        try Second.run()
    }
}
