import Foundation
import Strata
import Testing

/// A page that was kept. Earlier models had whole numbers for ratings, tags instead of labels, and other names.
@Entity(.renamed(from: "Mark")) final class Bookmark: ManagedObject {
    @Attribute(.renamed(from: "name")) var title: String = ""
    @Attribute(.indexed) var rating: Double = 0
    var pages: Int?
    @Relationship(inverse: \Label.bookmarks) var labels: ToMany<Label>
}

@Entity(.renamed(from: "Tag")) final class Label: ManagedObject {
    var name: String = ""
    var bookmarks: ToMany<Bookmark>
}

/// The app's own classes show the time before migrations that rewrote values.
@Suite struct PastOfMigrationsTests {
    private let url = FileManager.default.temporaryDirectory.appending(path: "strata-past-\(UUID().uuidString)")

    private func attribute(_ name: String, _ type: AttributeType) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true))
    }

    /// The model before everything: a mark has one tag, a whole number, and its number of pages in words.
    private func first() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Mark",
                properties: [
                    attribute("name", .string), attribute("rating", .integer32), attribute("pages", .string),
                    .relationship(
                        RelationshipDescription(name: "labels", destinationEntityName: "Tag", inverseName: "bookmarks")),
                ]),
            EntityDescription(
                name: "Tag",
                properties: [
                    attribute("name", .string),
                    .relationship(
                        RelationshipDescription(
                            name: "bookmarks", destinationEntityName: "Mark", inverseName: "labels", isToMany: true)),
                ]),
        ])
    }

    /// Makes the store under the first model.
    ///
    /// - Returns: a moment at which the second mark has words for its pages that are no number.
    private func fill() throws -> EventNumber {
        let container = PersistentContainer(name: "Past", model: try first(), at: .url(url))
        try container.loadPersistentStores()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let tag = try context.insertNewObject(forEntityName: "Tag")
        try tag.setValue("sea", forKey: "name")
        var marks: [ManagedObject] = []
        for (name, rating, pages) in [("Ada", Int32(3), "12"), ("Bea", 5, "many"), ("Cid", 1, "7")] {
            let mark = try context.insertNewObject(forEntityName: "Mark")
            try mark.setValue(name, forKey: "name")
            try mark.setValue(rating, forKey: "rating")
            try mark.setValue(pages, forKey: "pages")
            try mark.setValue(tag, forKey: "labels")
            marks.append(mark)
        }
        try context.save()
        let then = try container.head()
        try marks[0].setValue(Int32(4), forKey: "rating")
        try marks[1].setValue("40", forKey: "pages")
        context.delete(marks[2])
        try context.save()
        return then
    }

    private func load(_ rules: [MigrationRule] = []) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Past", entities: [Bookmark.self, Label.self], at: .url(url), options: .init(migrationRules: rules))
        try container.loadPersistentStores()
        return container
    }

    @Test func typedFetchesReadThePastUnderTheModelOfNow() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let then = try fill()
        let container = try load()
        defer { container.close() }
        let past = try container.context(asOf: .event(then))
        let all = try past.fetch(FetchRequest<Bookmark>(sortedBy: [SortDescription("title")]))
        #expect(all.map(\.title) == ["Ada", "Bea", "Cid"] && all.map(\.rating) == [3, 5, 1])
        #expect(all.map { $0.labels.map(\.name) } == [["sea"], ["sea"], ["sea"]])
        let label = try #require(try past.fetch(FetchRequest<Label>()).first)
        #expect(Set(label.bookmarks.map(\.title)) == ["Ada", "Bea", "Cid"] && label.bookmarks.count == 3)
        for (format, names) in [
            ("rating > 2.5", ["Ada", "Bea"]), ("rating == 3", ["Ada"]), ("rating == 4", []),
            ("ANY labels.name == 'sea' AND rating < 4", ["Ada", "Cid"]), ("labels.@count == 1", ["Ada", "Bea", "Cid"]),
        ] {
            let request = try FetchRequest<Bookmark>(
                where: try FetchPredicate(format: format), sortedBy: [SortDescription("rating", isAscending: false)])
            let found = try past.fetch(request)
            #expect(found.map(\.title).sorted() == names, "\(format)")
            #expect(found.map(\.rating) == found.map(\.rating).sorted(by: >) && found.count == names.count)
            #expect(try past.count(for: request) == names.count)
        }
        // Now is as it was made.
        let now = try container.newBackgroundContext().fetch(
            FetchRequest<Bookmark>(sortedBy: [SortDescription("title")]))
        #expect(now.map(\.rating) == [4, 5])
    }

    @Test func aValueWithoutAFormInTheNewModelIsToldForItsProperty() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let then = try fill()
        let container = try load()
        defer { container.close() }
        let past = try container.context(asOf: .event(then))
        #expect(
            past.unreadableValues.map(\.sentence) == ["pages had a value that cannot be made a 64-bit integer."]
                && past.unreadableValues.map(\.key) == ["pages"] && past.unreadableValues.map(\.objectCount) == [1],
            "\(past.unreadableValues)")
        var told: [StrataError] = []
        past.faultingErrorHandler = { told.append($0) }
        let all = try past.fetch(FetchRequest<Bookmark>(sortedBy: [SortDescription("title")]))
        #expect(all.map(\.pages) == [12, nil, 7])
        #expect(told.map(\.code) == [.migration] && told.map(\.context.key) == ["pages"])
        #expect(throws: StrataError.self) { try all[1].value(forKey: "pages") }
        #expect(try all[1].value(forKey: "rating") as? Double == 5 && all[0].value(forKey: "pages") as? Int64 == 12)

        let old = try container.context(asOf: .event(then), model: .ofThen)
        let mark = try #require(
            try old.fetch(
                FetchRequest<ManagedObject>(entityName: "Mark", where: try FetchPredicate(format: "name == 'Bea'"))
            ).first)
        #expect(try mark.value(forKey: "pages") as? String == "many" && mark.value(forKey: "rating") as? Int32 == 5)
        #expect(try (mark.value(forKey: "labels") as? ManagedObject)?.value(forKey: "name") as? String == "sea")
        #expect(old.unreadableValues.isEmpty)
    }

    @Test func aRuleOfTheMigrationIsAppliedToThePast() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let then = try fill()
        let rule = MigrationRule(entity: "Bookmark", property: "pages") { old in
            guard case .string(let text) = old["pages"] else { return .null }
            return .integer(Int64(text).map { $0 * 2 } ?? -1)
        }
        func pages(_ context: ManagedObjectContext) throws -> [Int?] {
            try context.fetch(FetchRequest<Bookmark>(sortedBy: [SortDescription("title")])).map(\.pages)
        }
        let first = try load([rule])
        #expect(try pages(first.newBackgroundContext()) == [24, 80])
        #expect(try pages(first.context(asOf: .event(then))) == [24, -1, 14])
        first.close()
        // Without the rule, the log tells what it made of the values that were there when it ran, and shows that the
        // types alone would be wrong.
        let second = try load()
        defer { second.close() }
        let past = try second.context(asOf: .event(then))
        #expect(try pages(past) == [24, nil, nil])
        #expect(
            Set(past.unreadableValues.map(\.sentence)) == [
                "pages had a value that cannot be made a 64-bit integer.",
                "pages was converted by a rule that the store was not opened with.",
            ])
    }

    @Test func aConstantIsShownInThePastOnlyForWhatTheTypesCannotConvert() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let then = try fill()
        let container = try load([MigrationRule(entity: "Bookmark", property: "pages", value: -1)])
        defer { container.close() }
        let past = try container.context(asOf: .event(then))
        let pages = try past.fetch(FetchRequest<Bookmark>(sortedBy: [SortDescription("title")])).map(\.pages)
        #expect(pages == [12, -1, 7])
        #expect(past.unreadableValues.isEmpty)
    }
}
