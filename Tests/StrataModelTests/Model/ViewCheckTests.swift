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
            name: "Many", entityName: "Studio", keys: [ViewKey("films")], aggregates: [ViewAggregate("n", .count)])
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
            "has no aggregate", "Many is declared twice", "Film has the view Late, which uses ",
        ] { #expect(messages.contains { $0.contains(part) }, "\(part) is not in \(messages)") }
        #expect(error?.code == .invalidModel)
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
