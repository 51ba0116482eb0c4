import Foundation
import StrataModel
import StrataStore
import Testing

/// A store of format 1 that an earlier build wrote: what it holds must stay readable.
///
/// With `STRATA_FIXTURE_OUTPUT` set to a directory that does not exist yet, the fixture is written there anew; that is
/// for another format, which gets a fixture of its own beside this one.
struct StoredFormatTests {
    private static let output = ProcessInfo.processInfo.environment["STRATA_FIXTURE_OUTPUT"]
    private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Fixtures/Stores/format-1.strata", directoryHint: .isDirectory).standardized

    /// Not shared with other tests: the model that the store was written with.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "year", type: .integer32, isOptional: true)),
                    .attribute(AttributeDescription(name: "rating", type: .double, defaultValue: .double(0))),
                    .attribute(AttributeDescription(name: "seen", type: .date, isOptional: true)),
                    .attribute(AttributeDescription(name: "price", type: .decimal, isOptional: true)),
                    .attribute(AttributeDescription(name: "poster", type: .binaryData, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Owner", inverseName: "movies")),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "movies", isToMany: true)),
                ],
                indexes: [
                    FetchIndexDescription(name: "byRating", elements: [FetchIndexElement("rating")]),
                    FetchIndexDescription(
                        name: "byTitle",
                        elements: [
                            FetchIndexElement("title", folding: [.caseInsensitive, .diacriticInsensitive]),
                            FetchIndexElement("year", isAscending: false),
                        ]),
                ]),
            EntityDescription(
                name: "Owner",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "owner", isToMany: true)),
                ],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "tags", isToMany: true,
                            isOrdered: true)),
                ]),
        ])
    }

    @Test(.enabled(if: output != nil, "asked for by name")) func theFixtureIsWritten() throws {
        let fixture = try StoreFixture(model: try Self.model())
        let ann = try fixture.insert("Owner", ["name": .string("Ann")])
        let bob = try fixture.insert("Owner", ["name": .string("Bob")])
        let loud = try fixture.insert("Tag", ["label": .string("loud")])
        var changes = try fixture.changes()
        var movies: [ObjectID] = []
        for number in 0..<40 {
            movies.append(
                try fixture.insert(
                    "Movie",
                    [
                        "title": .string("Movie \(number)"),
                        "year": number == 7 ? .null : .integer(1960 + Int64(number)),
                        "rating": .double(Double(number) / 8), "owner": .objectID(number % 2 == 0 ? ann : bob),
                        "seen": .date(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)),
                        "price": .decimal(Decimal(number) / 4),
                        "poster": .data(Data(repeating: UInt8(number), count: number)),
                    ], into: &changes))
        }
        try fixture.save(changes)
        for (place, number) in [5, 3, 11].enumerated() {
            try fixture.link(movies[number], "tags", loud, place: Int64(place))
        }
        let note = MaintenanceNote(author: nil)
        try fixture.store.setTag("before", at: try fixture.store.head(), note)
        try fixture.update(movies[3], ["title": .string("Été"), "rating": .double(5), "owner": .null])
        try fixture.delete(movies[39])
        try fixture.store.backup(to: URL(filePath: try #require(Self.output), directoryHint: .isDirectory))
    }

    /// In a copy, since the table of readers stands beside the file; the file itself must stay as it is.
    private func withCopy(_ body: (StoreFixture) throws -> Void) throws {
        let manager = FileManager.default
        let copy = manager.temporaryDirectory.appending(path: "format-\(UUID().uuidString).strata")
        try manager.createDirectory(
            at: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? manager.removeItem(at: copy) }
        let bytes = try Data(contentsOf: Self.fixture.appending(component: "data.mdb"))
        let data = copy.appending(component: "data.mdb")
        try bytes.write(to: data)
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: data.path(percentEncoded: false))
        var options = StoreOptions()
        options.isReadOnly = true
        let fixture = try StoreFixture(.directory(copy), model: try Self.model(), options: options)
        try body(fixture)
        let report = try fixture.store.verify(.full)
        #expect(report.isSound, "\(report.problems.map(\.description))")
        fixture.store.close()
        #expect(try Data(contentsOf: data) == bytes)
    }

    private func found(
        _ predicate: FetchPredicate, _ fixture: StoreFixture, at eventNumber: EventNumber? = nil, usesIndex: Bool = true
    ) throws -> [ObjectID] {
        let request = StoreRequest(
            entityID: try fixture.entity("Movie").id, predicate: predicate, sort: [SortDescription("rating")])
        let query = try CompiledQuery(request, fixture.schema, access: .avoidingScans)
        let scan = try CompiledQuery(request, fixture.schema, access: .scanOnly)
        return try fixture.store.read(at: try eventNumber ?? fixture.store.head()) { snapshot in
            #expect(try snapshot.explain(query).steps.contains { $0.operation == .index })
            let found = try snapshot.fetch(query)
            #expect(try snapshot.fetch(scan) == found)
            return found
        }
    }

    @Test func aStoreOfFormat1IsReadAsItWasWritten() throws {
        try withCopy { fixture in
            let high = try found(.greaterThan("rating", .double(4.5)), fixture)
            let values = try high.map { try #require(try fixture.values($0)) }
            #expect(values.map { $0["title"] } == [.string("Movie 37"), .string("Movie 38"), .string("Été")])
            #expect(values[0]["year"] == .integer(1997) && values[0]["price"] == .decimal(9.25))
            #expect(values[0]["seen"] == .date(Date(timeIntervalSinceReferenceDate: 37 * 86_400)))
            #expect(values[0]["poster"] == .data(Data(repeating: 37, count: 37)))
            #expect(values[2]["owner"] == .null)
            let seventh = try found(.equal("rating", .double(0.875)), fixture)
            #expect(try seventh.map { try fixture.values($0)?["year"] } == [.null])
            guard case .objectID(let bob)? = values[0]["owner"] else {
                Issue.record("nobody owns a movie")
                return
            }
            #expect(try fixture.values(bob)?["name"] == .string("Bob"))
            // Of the twenty one was deleted, and one has no owner any more.
            #expect(try fixture.members("Owner", "movies", of: bob).count == 18)
        }
    }

    @Test func aPastStateOfFormat1IsReadAsItWas() throws {
        try withCopy { fixture in
            let before = try #require(try fixture.store.tag("before"))
            let third = try #require(try found(.equal("rating", .double(5)), fixture).first)
            let then = try #require(try fixture.values(third, at: before))
            #expect(then["title"] == .string("Movie 3") && then["rating"] == .double(0.375))
            #expect(try found(.greaterThan("rating", .double(4.5)), fixture, at: before).count == 3)
            #expect(try found(.equal("rating", .double(0.375)), fixture, at: before) == [third])
            let tag = try #require(try fixture.members("Movie", "tags", of: third, at: before).first)
            let tagged = try fixture.members("Tag", "movies", of: tag, at: before)
            let titles = try tagged.map { try fixture.values($0, at: before)?["title"] }
            #expect(titles == [.string("Movie 5"), .string("Movie 3"), .string("Movie 11")])
        }
    }
}
