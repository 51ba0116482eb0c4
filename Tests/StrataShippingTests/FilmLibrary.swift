import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport

@testable import StrataShipping

/// Films, their directors and tags, in a store on disk, with a folder beside it for targets and restored stores.
final class FilmLibrary {
    let folder: URL
    let container: PersistentContainer
    let context: ManagedObjectContext
    var generator: SeededGenerator

    var store: Store { container.store }

    init(seed: UInt64 = 1) throws {
        folder = FileManager.default.temporaryDirectory.appending(
            component: "shipping-\(UUID().uuidString)", directoryHint: .isDirectory)
        container = try Self.open(folder.appending(component: "films.strata", directoryHint: .isDirectory))
        context = container.newBackgroundContext()
        generator = SeededGenerator(seed: seed)
    }

    deinit {
        container.close()
        try? FileManager.default.removeItem(at: folder)
    }

    static func open(_ url: URL, isReadOnly: Bool = false) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Films", model: try model(), at: .url(url),
            options: .init(durability: .relaxed, isReadOnly: isReadOnly))
        try container.loadPersistentStores()
        return container
    }

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "year", type: .integer64, isOptional: true)),
                    .attribute(
                        AttributeDescription(
                            name: "poster", type: .binaryData, isOptional: true,
                            allowsExternalBinaryDataStorage: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "director", destinationEntityName: "Director", inverseName: "films")),
                ],
                indexes: [FetchIndexDescription(name: "byTitle", elements: [FetchIndexElement("title")])]),
            EntityDescription(
                name: "Director",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "films", destinationEntityName: "Film", inverseName: "director", isToMany: true)),
                ]),
        ])
    }

    func url(_ name: String) -> URL { folder.appending(component: name, directoryHint: .isDirectory) }

    func directoryTarget() -> DirectoryTarget { DirectoryTarget(url("target")) }

    // MARK: Changes

    func films() throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Film"))
    }

    @discardableResult
    func insertFilm(_ title: String, poster: Data? = nil) throws -> ManagedObject {
        let film = try context.insertNewObject(forEntityName: "Film")
        try film.setValue(title, forKey: "title")
        try film.setValue(1900 + title.utf8.count, forKey: "year")
        if let poster { try film.setValue(poster, forKey: "poster") }
        try context.save()
        return film
    }

    func insertFilms(_ count: Int) throws {
        for number in 0..<count { try insertFilm("film \(number)") }
    }

    /// Some changes and a save.
    func step() throws {
        let films = try films()
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...4:
            let film = try context.insertNewObject(forEntityName: "Film")
            try film.setValue("film \(UInt32.random(in: 0 ... .max, using: &generator))", forKey: "title")
            if Bool.random(using: &generator) {
                let size = Int.random(in: 1...200_000, using: &generator)
                let byte = UInt8.random(in: 0...255, using: &generator)
                try film.setValue(Data(repeating: byte, count: size), forKey: "poster")
            }
        case 5...6:
            try films.randomElement(using: &generator)?.setValue(
                Int.random(in: 1900...2026, using: &generator), forKey: "year")
        case 7:
            let director = try context.insertNewObject(forEntityName: "Director")
            try director.setValue("director", forKey: "name")
            for film in films.shuffled(using: &generator).prefix(3) { try film.setValue(director, forKey: "director") }
        case 8:
            if let film = films.randomElement(using: &generator) { context.delete(film) }
        default:
            return try container.setTag("tag \(Int.random(in: 0..<3, using: &generator))", author: "tests")
        }
        try context.save()
    }

    // MARK: States

    /// Every object of a moment with its values, as text.
    static func state(of container: PersistentContainer, _ moment: HistoryMoment = .now) throws -> [String] {
        let context = try container.context(asOf: moment)
        return try context.performAndWait {
            try ["Film", "Director"].flatMap { name in
                try context.fetch(FetchRequest<ManagedObject>(entityName: name)).map { object in
                    let keys = name == "Film" ? ["title", "year"] : ["name"]
                    let values = try keys.map { "\(try object.value(forKey: $0).map { "\($0)" } ?? "nil")" }
                    let poster = name == "Film" ? try object.value(forKey: "poster") as? Data : nil
                    let director = name == "Film" ? try object.value(forKey: "director") as? ManagedObject : nil
                    return "\(object.objectID) \(values) \(poster?.hashValue ?? 0) \(director?.objectID as Any)"
                }
            }.sorted()
        }
    }

    func restored(
        _ target: some ShippingTarget, to moment: HistoryMoment = .now, as name: String = "restored.strata"
    ) throws -> (container: PersistentContainer, report: TargetRestore.Report) {
        let report = try TargetRestore(target).run(to: url(name), moment)
        return (try Self.open(url(name)), report)
    }
}
