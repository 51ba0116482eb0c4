import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// A store of films on disk, made through the object graph, with a fixed clock and fixed authors.
///
/// | object | |
/// |---|---|
/// | Studio/p1, Studio/p2 | Mosfilm, Ghibli |
/// | Genre/p3, Genre/p4 | drama, fantasy |
/// | Film/p5 to Film/p8 | Stalker, Mirror, Ponyo, Totoro |
final class FilmStore {
    let directory: URL
    /// The file as it was when the store was made.
    private let bytes: Data

    var path: String { directory.path(percentEncoded: false).trimmingSuffix("/") }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            component: "films-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        let clock = TestClock()
        var options = StoreOptions()
        options.clock = { clock.next() }
        let store = try Store.open(.directory(directory), model: try Self.model(), options: options)
        try Self.fill(try PersistentContainer(over: store))
        store.close()
        bytes = try Data(contentsOf: directory.appending(component: "data.mdb"))
    }

    deinit {
        for suffix in ["", ".new", ".before-restore"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// A reading command has left every byte alone.
    func expectUntouched(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let now = try Data(contentsOf: directory.appending(component: "data.mdb"))
        #expect(now == bytes, sourceLocation: sourceLocation)
    }

    /// Flips a bit of the file wherever these bytes stand.
    ///
    /// - Returns: how often they do.
    func flip(everywhere mark: Data) throws -> Int {
        let file = directory.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        var search = bytes.startIndex..<bytes.endIndex
        var count = 0
        while let found = bytes.range(of: mark, in: search) {
            bytes[found.lowerBound] ^= 1
            search = found.upperBound..<bytes.endIndex
            count += 1
        }
        try bytes.write(to: file)
        return count
    }

    private static func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
            let object = try context.insertNewObject(forEntityName: entity)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { try object.setValue(value, forKey: name) }
            return object
        }
        context.transactionAuthor = "ann"
        let mosfilm = try make("Studio", ["name": "Mosfilm", "country": "SU"])
        let ghibli = try make("Studio", ["name": "Ghibli", "country": "JP"])
        let drama = try make("Genre", ["label": "drama"])
        let fantasy = try make("Genre", ["label": "fantasy"])
        try context.save()
        let stalker = try make(
            "Film", ["title": "Stalker", "year": 1979, "rating": 8.1, "studio": mosfilm, "genres": [drama, fantasy]])
        _ = try make("Film", ["title": "Mirror", "year": 1975, "rating": 8.0, "studio": mosfilm, "genres": [drama]])
        _ = try make("Film", ["title": "Ponyo", "year": 2008, "rating": 7.6, "studio": ghibli, "genres": [fantasy]])
        _ = try make("Film", ["title": "Totoro, \"Tonari no\"", "year": 1988, "studio": ghibli])
        context.transactionReason = "the first films"
        try context.save()
        context.transactionAuthor = "bob"
        context.transactionReason = nil
        try stalker.setValue(9.0, forKey: "rating")
        try stalker.setValue(Date(timeIntervalSince1970: 296_092_800), forKey: "released")
        try context.save()
        try container.setTag("first cut", at: .transaction(TransactionNumber(rawValue: 3)), author: "ann")
    }

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(
                        AttributeDescription(
                            name: "year", type: .integer16,
                            validationRules: [.range(minimum: .integer(1888), maximum: .integer(2100))])),
                    .attribute(AttributeDescription(name: "rating", type: .double, isOptional: true)),
                    .attribute(AttributeDescription(name: "released", type: .date, isOptional: true)),
                    .relationship(
                        RelationshipDescription(name: "studio", destinationEntityName: "Studio", inverseName: "films")),
                    .relationship(
                        RelationshipDescription(
                            name: "genres", destinationEntityName: "Genre", inverseName: "films", isToMany: true)),
                ],
                indexes: [FetchIndexDescription(name: "byYear", elements: [FetchIndexElement("year")])]),
            EntityDescription(
                name: "Studio",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "country", type: .string, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "films", destinationEntityName: "Film", inverseName: "studio", isToMany: true,
                            deleteRule: .cascade)),
                ], uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Genre",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "films", destinationEntityName: "Film", inverseName: "genres", isToMany: true)),
                ], uniquenessConstraints: [["label"]]),
            EntityDescription(
                name: "Still",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(
                        AttributeDescription(
                            name: "image", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
                ]),
        ])
    }
}

extension String {
    func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
