import Foundation
import Testing

@testable import StrataModel

@Suite struct ViewCheckTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "gross", type: .decimal)),
                    .attribute(AttributeDescription(name: "released", type: .boolean)),
                    .attribute(AttributeDescription(name: "date", type: .date)),
                    .relationship(
                        RelationshipDescription(
                            name: "studio", destinationEntityName: "Studio", inverseName: "films")),
                ]),
            EntityDescription(
                name: "Studio",
                properties: [
                    .attribute(AttributeDescription(name: "country", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "films", destinationEntityName: "Film", inverseName: "studio", isToMany: true)),
                ]),
        ])
    }

    private var sales: ViewDescription {
        get throws {
            ViewDescription(
                name: "Sales", entityName: "Film", where: try FetchPredicate(format: "released == YES"),
                keys: [ViewKey("studio")],
                aggregates: [
                    ViewAggregate("films", .count), ViewAggregate("gross", .sum, "gross"),
                    ViewAggregate("first", .min, "date"), ViewAggregate("titles", .countDistinct, "title"),
                ])
        }
    }

    @Test func aTextQueryIsRefusedInTheWordsOfTheRequest() throws {
        var view = try sales
        view.predicate = .matchesText("zone", in: "title")
        let error = #expect(throws: StrataError.self) { _ = try model().adding(views: [view]) }
        let told = [error?.message ?? ""] + (error?.details.map(\.message) ?? [])
        #expect(told.contains { $0.contains("uses matchesText:. Text queries are for requests") }, "\(told)")
    }

    @Test func aSoundViewIsAccepted() throws {
        let model = try model().adding(views: [try sales])
        #expect(model.views == [try sales])
        #expect(model.view(named: "Sales")?.columnNames == ["studio", "films", "gross", "first", "titles"])
        let text = "\(try sales)"
        #expect(text.hasPrefix("Film WHERE released == "))
        #expect(
            text.hasSuffix(
                " BY studio: films = count, gross = sum(gross), first = min(date), titles = countDistinct(title)"))
    }

    @Test func everyFaultIsNamed() throws {
        let view = ViewDescription(
            name: "1st", version: 0, entityName: "Film", where: try FetchPredicate(format: "studio.land == 'SU'"),
            keys: [ViewKey("studio.land"), ViewKey("grosss"), ViewKey("title", keyPath: "title")],
            aggregates: [
                ViewAggregate("title", .count), ViewAggregate("sum", .sum, "title"), ViewAggregate("max", .max),
                ViewAggregate("best", .max, "title"), ViewAggregate("mean", .average, "studio"),
                ViewAggregate("no name", .count),
            ])
        let many = ViewDescription(
            name: "Many", entityName: "Studio", keys: [ViewKey("films"), ViewKey("again", keyPath: "films")],
            aggregates: [ViewAggregate("n", .count, "films")])
        let late = ViewDescription(
            name: "Late", entityName: "Film", where: try FetchPredicate(format: "date > now()"),
            aggregates: [ViewAggregate("n", .count)])
        let lost = ViewDescription(name: "Lost", entityName: "Flim", aggregates: [])
        let error = #expect(throws: StrataError.self) {
            try model().adding(views: [view, many, lost, many, late])
        }
        let messages = (error?.details ?? []).map(\.message)
        for part in [
            "1st is not a name for a view", "has the version 0", "studio.land is unknown", "grosss is unknown",
            "two columns named title", "Film.title is a string and has no sum",
            "has an aggregate max without a key path",
            "Film.title is a string, neither a number nor a date", "Film.studio is a relationship and has no sum",
            "has a column 'no name'", "Studio.films is a to-many relationship", "unknown entity, Flim",
            "several to-many relationships as keys",
            "has no aggregate", "Many is declared twice", "Film has the view Late, which uses ",
        ] { #expect(messages.contains { $0.contains(part) }, "\(part) is not in \(messages)") }
        #expect(error?.code == .invalidModel)
    }

    @Test func everyFaultOfKeysOrdersAndFirstObjectsIsNamed() throws {
        let view = ViewDescription(
            name: "Faulty", entityName: "Film",
            keys: [
                ViewKey("y", keyPath: "title", function: .calendar(.year, timeZone: "UTC")),
                ViewKey("m", keyPath: "date", function: .calendar(.month, timeZone: "Mars/Olympus")),
                ViewKey("b", keyPath: "title", function: .bucket(width: 2)),
                ViewKey("w", keyPath: "gross", function: .bucket(width: 0)), ViewKey("title"), ViewKey("studio"),
            ],
            aggregates: [
                ViewAggregate("a", .first), ViewAggregate("b2", .last, "title", by: "title"),
                ViewAggregate("c", .first, by: "dote"), ViewAggregate("d", .last, by: "date", limit: 0),
                ViewAggregate("e", .sum, "gross", by: "date"), ViewAggregate("f", .first, "nothing", by: "date"),
            ],
            orders: [
                ViewOrder("grosz"), ViewOrder("title"), ViewOrder("f"), ViewOrder([]),
                ViewOrder([SortDescription("e"), SortDescription("e")]),
                ViewOrder([SortDescription("e", nullPlacement: .last)]), ViewOrder("studio"), ViewOrder("studio"),
            ])
        let single = ViewDescription(
            name: "Single", entityName: "Film", aggregates: [ViewAggregate("n", .count)], orders: [ViewOrder("n")])
        let error = #expect(throws: StrataError.self) { try model().adding(views: [view, single]) }
        let messages = (error?.details ?? []).map(\.message)
        for part in [
            "Film.title is a string and has no year", "unknown time zone, Mars/Olympus",
            "Film.title is a string and has no buckets", "has buckets 0.0 wide", "an aggregate a without an order",
            "Film.title is a string, neither a number nor a date, as the order of the last", "Film.dote is unknown",
            "has 0 objects in the last", "an aggregate e with an order", "Film.nothing is unknown",
            "grosz is no column", "title is of any length", "f is of an object that may change",
            "an order by nothing", "names a column twice", "folds nothing", "has the same order twice",
            "Single has no keys, so its single row needs no order",
        ] { #expect(messages.contains { $0.contains(part) }, "\(part) is not in \(messages)") }
    }

    @Test func keysOrdersAndFirstObjectsAreKeptInTheRecord() throws {
        let view = ViewDescription(
            name: "Months", entityName: "Film",
            keys: [
                ViewKey("year", keyPath: "date", function: .calendar(.year, timeZone: "Europe/Berlin")),
                ViewKey("price", keyPath: "gross", function: .bucket(width: 0.5)),
            ],
            aggregates: [ViewAggregate("n", .count), ViewAggregate("best", .last, "title", by: "gross", limit: 3)],
            orders: [ViewOrder("n", isAscending: false)])
        #expect(
            "\(view)" == "Film BY year = year(date, Europe/Berlin), price = bucket(gross, 0.5): "
                + "n = count, best = last(title by gross, 3) ORDERED BY n descending")
        let model = try model().adding(views: [view])
        let schema = try Schema(
            version: ModelVersion(rawValue: 1), model: model,
            assignment: try ModelAssignment().extended(for: model, from: nil))
        let read = try SchemaRecord.schema(from: try SchemaRecord(schema).encoded())
        #expect(read.model.views == [view])
        #expect(read.assignment.zones == ["Months": ["Europe/Berlin": try #require(ZoneRules(named: "Europe/Berlin"))]])
        #expect(read.assignment == schema.assignment)
        // The rules stay with the view until it gets another number.
        var kept = schema.assignment
        kept.zones["Months"]?["Europe/Berlin"] = ZoneRules(named: "UTC")
        let older = try Schema(version: ModelVersion(rawValue: 1), model: model, assignment: kept)
        #expect(try kept.extended(for: model, from: older).zones == kept.zones)
        var next = view
        next.version = 2
        let renewed = try self.model().adding(views: [next])
        #expect(try kept.extended(for: renewed, from: older).zones == schema.assignment.zones)
    }

    @Test func aRecordOfAModelWithoutViewsIsAsItWas() throws {
        let plain = try model()
        let assignment = try ModelAssignment().extended(for: plain, from: nil)
        let version = ModelVersion(rawValue: 1)
        let schema = try Schema(version: version, model: plain, assignment: assignment)
        let text = String(decoding: try SchemaRecord(schema).encoded(), as: UTF8.self)
        #expect(!text.contains("view") && !text.contains("View"))
        let viewed = try plain.adding(views: [try sales])
        let next = try Schema(
            version: ModelVersion(rawValue: 2), model: viewed,
            assignment: try assignment.extended(for: viewed, from: schema))
        let read = try SchemaRecord.schema(from: try SchemaRecord(next).encoded())
        #expect(read.model == viewed)
        #expect(read.assignment.views == ["Sales": ViewID(rawValue: 1)])
    }

    @Test func aViewKeepsItsNumberWhileItMeansTheSame() throws {
        let first = try model().adding(views: [try sales])
        let schema = try Schema(
            version: ModelVersion(rawValue: 1), model: first,
            assignment: try ModelAssignment().extended(for: first, from: nil))
        func number(_ change: (inout ViewDescription) -> Void) throws -> UInt32? {
            var view = try sales
            change(&view)
            let model = try model().adding(views: [view])
            return try schema.assignment.extended(for: model, from: schema).views["Sales"]?.rawValue
        }
        #expect(try number { _ in } == 1)
        #expect(try number { $0.version = 2 } == 2)
        #expect(try number { $0.keys = [] } == 2)
        #expect(try number { $0.predicate = nil } == 2)
        #expect(try number { $0.includesSubentities = false } == 2)
        let dropped = try model()
        let without = try schema.assignment.extended(for: dropped, from: schema)
        #expect(without.views.isEmpty && without.nextView == 2)
    }
}
