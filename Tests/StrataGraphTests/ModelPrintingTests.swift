import Foundation
import StrataGraph
import StrataModel
import Testing

/// What `print` shows of a model's parts, of reports and of positions: words, and no cases or fields of Swift.
@Suite(.verifiesStores) struct ModelPrintingTests {
    private func model() throws -> ManagedObjectModel {
        let year = AttributeDescription(
            name: "year", type: .integer16, isOptional: true, defaultValue: .integer(1900),
            validationRules: [.range(minimum: .integer(1888), maximum: nil)])
        let place = AttributeDescription(
            name: "place", type: .composite, isOptional: true,
            elements: [AttributeDescription(name: "city", type: .string, isOptional: true)])
        let film = EntityDescription(
            name: "Film", superentityName: "Work",
            properties: [.attribute(year), .attribute(place), Porting.one("studio", "Studio", "films", .deny)],
            indexes: [
                FetchIndexDescription(
                    name: "byYear", elements: [FetchIndexElement("year", isAscending: false)],
                    partialIndexPredicate: try FetchPredicate(format: "year > 1950"))
            ], uniquenessConstraints: [["title", "year"]])
        return try ManagedObjectModel(entities: [
            EntityDescription(name: "Work", isAbstract: true, properties: [Porting.attribute("title", .string)]),
            film,
            EntityDescription(
                name: "Studio", properties: [Porting.many("films", "Film", "studio", isOrdered: true, .cascade)]),
        ])
    }

    @Test func aModelAndItsPartsAreWords() throws {
        let model = try model()
        #expect("\(model)" == "model of 3 entities: Work, Film, Studio")
        #expect("\(model.entities[0])" == "Work (abstract): title: string")
        #expect(
            "\(model.entities[1])"
                == "Film (is a Work): year: 16-bit integer, default 1900, 1888…; place: composite (city: string); "
                + "studio: to-one Studio, inverse films, deny; index byYear: year descending where year > 1950; "
                + "unique title, year")
        #expect(
            "\(model.entities[2].properties)" == "[films: ordered to-many Film, inverse studio, cascade]")
        let required = AttributeDescription(name: "key", type: .binaryData, encryption: .subjectKey("owner"))
        #expect("\(required)" == "key: binary data, required, encrypted under the key of owner")
        let value = AttributeDescription(
            name: "place", type: .composite, isOptional: true, attributeValueClassName: "Swift.Optional<App.Place>")
        #expect("\(value)" == "place: composite, a App.Place")
        let rules: [ValidationRule] = [.length(minimum: 1, maximum: 8), .pattern("[a-z]+")]
        #expect("\(rules)" == "[length 1…8, like /[a-z]+/]")
        let template = FetchRequestTemplate(
            name: "Since", entityName: "Film", where: try FetchPredicate(format: "year >= $YEAR"),
            sortedBy: [SortDescription("title")], limit: 10)
        #expect("\(template)" == "Since: Film where year >= $YEAR, sorted by title, limit 10")
        #expect(
            "\(FetchedPropertyDescription("rivals", of: "Film", template))"
                == "rivals: Film where year >= $YEAR, sorted by title, limit 10")
        #expect(
            "\(ModelConfiguration(name: "Local", entityNames: ["Film", "Work"]))" == "configuration Local: Film, Work")
        #expect("\(FetchFunction.sum)" == "sum:" && "\(RequestBudget.unlimited)" == "unlimited")
    }

    @Test func positionsChangesAndReportsAreWords() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        var heard: [ContextChanges] = []
        let observation = context.observe(.didSave) { heard.append($0) }
        let controller = FetchedResultsController(
            fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context)
        var differences: [FetchedResultsDifference] = []
        controller.onChange = { differences.append($0) }
        try controller.performFetch()
        let movie = Movie(context: context)
        movie.title = "Alien"
        try context.save()
        let number = context.eventNumber
        #expect(heard.map(\.description) == ["didSave at event \(number); 1 inserted"])
        #expect(differences.map(\.description) == ["1 inserted"])
        let moments: [HistoryMoment] = [.now, .event(number), .tag("a")]
        #expect("\(moments)" == "[now, event \(number), tag \"a\"]")
        #expect("\(try movie.frozen())" == "Movie/p\(movie.objectID.row) at event \(number)")
        let report = try container.verify()
        #expect("\(report)" == "sound (2 transactions, \(report.eventCount) events, 1 object)")
        context.delete(movie)
        try context.save()
        let deleted = try #require(try container.deletedObjects(ofEntity: "Movie").first)
        #expect("\(deleted)".hasPrefix("Movie/p\(movie.objectID.row) deleted at event \(context.eventNumber)"))
        let texts = try [
            "\(container.token())", "\(container.usage())", "\(context.whatIf { _ in })", "\(deleted)",
            "\(container.rebuildViews())", "\(container.scrub())", "\(container.subscription(named: "s"))",
        ]
        for text in texts {
            #expect(!text.contains("rawValue") && !text.contains("Strata") && !text.contains("Optional("), "\(text)")
        }
        withExtendedLifetime(observation) {}
    }
}
