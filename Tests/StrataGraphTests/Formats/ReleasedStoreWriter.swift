import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Synchronization

/// Makes a fixture store: two models, every kind of event, large values, tags, a subscription and a revert.
///
/// Entries of links and indexes gather in their buffers as they do in a large store.
struct ReleasedStoreWriter {
    let directory: URL

    /// Commit times a minute apart, so that the written answers can name them.
    private final class Clock: Sendable {
        private let minutes = Mutex(0.0)

        func next() -> Date {
            minutes.withLock {
                $0 += 1
                return Date(timeIntervalSince1970: 1_795_478_400 + 60 * $0)
            }
        }
    }

    private let clock = Clock()

    private func open(_ model: ManagedObjectModel) throws -> PersistentContainer {
        var options = StoreOptions()
        options.clock = { [clock] in clock.next() }
        options.bufferLimits = .eager
        return try PersistentContainer(
            over: Store.open(.directory(directory), model: model, options: options))
    }

    func write() throws {
        let first = try open(ReleasedStoreModel.first())
        try writeFirst(first)
        first.close()
        let second = try open(ReleasedStoreModel.second())
        try writeSecond(second)
        second.close()
    }

    // MARK: Under the first model

    private func writeFirst(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try insert(context)
        try container.setTag("inserted", author: "ann")
        try link(context)
        try container.setTag("linked", author: "ann")
        try change(context)
        let mailer = try container.subscription(named: "mailer", from: .event(.zero))
        try mailer.acknowledge(try container.currentHistoryToken())
    }

    private func save(_ context: ManagedObjectContext, _ author: String, _ reason: String?) throws {
        context.transactionAuthor = author
        context.transactionReason = reason
        try context.save()
    }

    private func insert(_ context: ManagedObjectContext) throws {
        let north = try make(context, "Studio", ["name": "North"])
        let south = try make(context, "Studio", ["name": "South"])
        for text in ["quiet", "loud"] { _ = try make(context, "Label", ["text": text]) }
        for name in ["Ann", "Bo", "Cy"] { _ = try make(context, "Person", ["name": name]) }
        for number in 0..<12 {
            _ = try make(
                context, "Film", try Self.film(number).merging(["studio": number % 3 == 0 ? south : north]) { $1 })
        }
        _ = try make(context, "Series", ["title": "Hours", "seasons": Int16(3), "studio": north])
        context.name = "importer"
        context.transactionMetadata = ["file": "films.json"]
        try save(context, "ann", "first import")
        context.transactionMetadata = [:]
    }

    private static func film(_ number: Int) throws -> [String: Any] {
        let exact = Double(number)
        var values: [String: Any] = [
            "title": number == 4 ? "Été" : "Film \(number)", "year": Int32(1960 + number), "rating": exact / 2,
            "minutes": Int16(80 + number), "views": Int64(1_000_000_000) * Int64(number),
            "grade": Float(number) / 4, "price": Decimal(number) / 8,
            "seen": Date(timeIntervalSinceReferenceDate: exact * 86_400), "isShort": number % 4 == 0,
            "note": Data(repeating: UInt8(number), count: number),
            "frame": ["width": Int32(640 + number), "ratio": 1.5] as [String: Any],
        ]
        values["code"] = UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", number))
        values["page"] = URL(string: "https://example.org/films/\(number)")
        return values
    }

    private func link(_ context: ManagedObjectContext) throws {
        let films = try all(context, "Film", by: "year")
        let people = try all(context, "Person", by: "name")
        let labels = try all(context, "Label", by: "text")
        for (film, colour) in zip(films, ["red", "green", "blue"]) {
            try film.setValue(try make(context, "Poster", ["colour": colour]), forKey: "poster")
            try film.setValue(people[1], forKey: "director")
        }
        try labels[0].setValue([films[5], films[3], films[11]], forKey: "works")
        try films[3].setValue([labels[0], labels[1]], forKey: "labels")
        try films[3].setValue([people[0], people[2]], forKey: "crew")
        try films[0].setValue(Data(repeating: 7, count: 70_000), forKey: "still")
        try save(context, "bob", "labels, posters and one still")
    }

    private func change(_ context: ManagedObjectContext) throws {
        let films = try all(context, "Film", by: "year")
        let labels = try all(context, "Label", by: "text")
        let studios = try all(context, "Studio", by: "name")
        try films[3].setValue("Film three", forKey: "title")
        try films[3].setValue(9.5, forKey: "rating")
        try films[7].setValue(nil, forKey: "studio")
        try labels[0].setValue([films[11], films[5]], forKey: "works")
        let works = try (studios[0].value(forKey: "works") as? [ManagedObject]) ?? []
        try studios[0].setValue(Array(works.reversed()), forKey: "works")
        try save(context, "bob", nil)
        context.delete(films[1])
        try save(context, "ann", "a film that nobody has seen")
    }

    // MARK: Under the second model

    private func writeSecond(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        let film = try all(context, "Film", by: "year")[2]
        try film.setValue("1 h 22", forKey: "minutes")
        try film.setValue(4.25, forKey: "score")
        try save(context, "cy", "minutes are text now")
        let studios = try all(context, "Studio", by: "name")
        context.delete(studios[1])
        try save(context, "cy", "South is closed")
        let last = try container.transactions().last
        if let last { try context.revert(last.number) }
        try save(context, "ann", "South is open again")
    }

    // MARK: Objects by name

    private func make(
        _ context: ManagedObjectContext, _ entity: String, _ values: [String: Any]
    ) throws -> ManagedObject {
        let object = try context.insertNewObject(forEntityName: entity)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { try object.setValue(value, forKey: key) }
        return object
    }

    private func all(_ context: ManagedObjectContext, _ entity: String, by key: String) throws -> [ManagedObject] {
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.sortDescriptors = [SortDescription(key)]
        return try context.fetch(request)
    }
}
