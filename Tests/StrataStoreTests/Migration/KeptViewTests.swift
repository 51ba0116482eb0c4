import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Views that a store keeps beside those of the app's model, over changes of the model.
struct KeptViewTests {
    private let store = MigratedStore()

    private func model(
        film: String = "Film", gross: String? = "gross", studio: String = "studio", title: String = "title"
    ) throws -> ManagedObjectModel {
        func from(_ name: String, _ old: String) -> String? { name == old ? nil : old }
        var properties = [
            Describe.attribute(title, optional: true, from: from(title, "title")),
            .relationship(
                RelationshipDescription(
                    name: studio, destinationEntityName: "Studio", hasNoInverse: true,
                    renamingIdentifier: from(studio, "studio"))),
        ]
        if let gross {
            properties.append(Describe.attribute(gross, .decimal, optional: true, from: from(gross, "gross")))
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(name: film, properties: properties, renamingIdentifier: from(film, "Film")),
            EntityDescription(name: "Studio", properties: [Describe.attribute("name")]),
        ])
    }

    private var views: [ViewDescription] {
        get throws {
            var views = [
                ViewDescription(
                    name: "Sums", entityName: "Film",
                    where: try FetchPredicate(format: "gross > 1 AND studio.name != 'x'"),
                    keys: [ViewKey("studio.name")], aggregates: [ViewAggregate("sum", .sum, "gross")]),
                ViewDescription(
                    name: "Titles", entityName: "Film", keys: [ViewKey("title")],
                    aggregates: [ViewAggregate("films", .count)]),
            ]
            for index in views.indices { views[index].isOfStore = true }
            return views
        }
    }

    /// A store with both views and two films.
    private func make() throws {
        try store.open(model().adding(views: views)) { fixture in
            let studio = try fixture.insert("Studio", ["name": "Mosfilm"])
            for gross in [2, 3] as [Decimal] {
                _ = try fixture.insert(
                    "Film", ["title": "Stalker", "gross": .decimal(gross), "studio": .objectID(studio)])
            }
        }
    }

    private func rows(_ fixture: StoreFixture, _ view: String) throws -> [[AttributeValue]] {
        try fixture.store.read(at: fixture.store.head()) { snapshot in
            try snapshot.rows(ViewRequest(view)).map(Array.init)
        }
    }

    @Test(arguments: [200_000, 0]) func aRenameCarriesTheViewsAlong(oneCommit: Int) throws {
        defer { store.remove() }
        try make()
        let renamed = try model(film: "Movie", gross: "takings", studio: "maker", title: "name")
        try store.open { store in
            let plan = try store.migrationPlan(to: renamed)
            #expect(plan.steps.filter { $0.kind == .viewRenamed }.compactMap(\.key).sorted() == ["Sums", "Titles"])
            #expect(
                plan.steps.contains {
                    $0.sentence
                        == "The view Titles is written with the new names: Movie BY title = name: films = count."
                }, "\(plan)")
        }
        let options = MigratedStore.options(oneCommit: oneCommit, step: 1)
        try store.open(renamed, options) { fixture in
            let sums = try #require(fixture.schema.model.view(named: "Sums"))
            #expect(sums.entityName == "Movie" && sums.isOfStore && sums.keys[0].keyPath == "maker.name")
            #expect(sums.keys[0].name == "studio.name" && sums.aggregates[0].keyPath == "takings")
            #expect(sums.predicate?.keyPaths == ["takings", "maker.name"])
            try #expect(rows(fixture, "Sums") == [["Mosfilm", .decimal(5)]])
            try #expect(rows(fixture, "Titles") == [["Stalker", .integer(2)]])
            _ = try fixture.insert("Movie", ["name": "Mirror"])
            try #expect(rows(fixture, "Titles").count == 2)
            try #expect(fixture.store.rebuild().isUnchanged)
        }
        // Back, with the names of before.
        try store.open(model(), options) { fixture in
            #expect(try fixture.schema.model.view(named: "Sums") == views[0])
            try #expect(rows(fixture, "Sums") == [["Mosfilm", .decimal(5)]])
        }
    }

    @Test func aViewThatGoesIsNamedWithTheReason() throws {
        defer { store.remove() }
        try make()
        let without = try model(gross: nil)
        try store.open { store in
            let steps = try store.migrationPlan(to: without).steps.filter { $0.kind == .viewRemoved }
            #expect(
                steps.map(\.sentence) == ["The view Sums, which the store keeps, is dropped: Film.gross is removed."])
            #expect(steps.first?.key == "Sums" && steps.first?.entityName == "Film")
        }
        try store.open(without) { fixture in
            #expect(fixture.schema.model.views.map(\.name) == ["Titles"])
            try #expect(rows(fixture, "Titles") == [["Stalker", .integer(2)]])
        }
    }

    @Test func aViewOfARemovedEntityIsNamed() throws {
        defer { store.remove() }
        try make()
        let studios = try ManagedObjectModel(entities: [
            EntityDescription(name: "Studio", properties: [Describe.attribute("name")])
        ])
        try store.open { store in
            let steps = try store.migrationPlan(to: studios).steps.filter { $0.kind == .viewRemoved }
            #expect(steps.count == 2 && steps.allSatisfy { $0.sentence.hasSuffix("is dropped: Film is removed.") })
        }
        try store.open(studios) { #expect($0.schema.model.views.isEmpty) }
    }

    /// A to-one behind which a view looks becomes a to-many: the model's check says what the view cannot have.
    @Test func aViewThatTheModelCannotHaveIsNamed() throws {
        defer { store.remove() }
        try make()
        let changed = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    Describe.attribute("title", optional: true), Describe.toMany("studio", "Studio"),
                    Describe.attribute("gross", .decimal, optional: true),
                ]), EntityDescription(name: "Studio", properties: [Describe.attribute("name")]),
        ])
        try store.open { store in
            let steps = try store.migrationPlan(to: changed).steps.filter { $0.kind == .viewRemoved }
            #expect(steps.map(\.key) == ["Sums"])
            #expect(steps.first?.sentence.contains("is dropped: ") ?? false, "\(steps)")
        }
        try store.open(changed) { #expect($0.schema.model.views.map(\.name) == ["Titles"]) }
    }

    /// A view that looks behind a to-one, whose target's entity is removed and comes back.
    @Test(arguments: [200_000, 0]) func aViewOverAToOneFollowsTheRemovalOfItsTarget(oneCommit: Int) throws {
        defer { store.remove() }
        func model(_ hasSub: Bool) throws -> ManagedObjectModel {
            var view = ViewDescription(
                name: "ByItem", entityName: "Holder", where: try FetchPredicate(format: "item.n < 9 OR item == nil"),
                keys: [ViewKey("item.n")],
                aggregates: [ViewAggregate("count", .count), ViewAggregate("sum", .sum, "item.n")])
            view.isOfStore = true
            return try ManagedObjectModel(
                entities: [
                    EntityDescription(name: "Base", properties: [Describe.attribute("n", .integer64)]),
                    EntityDescription(name: "Holder", properties: [Describe.toOne("item", "Base")]),
                ] + (hasSub ? [EntityDescription(name: "Sub", superentityName: "Base")] : [])
            ).adding(views: [view])
        }
        try store.open(model(true)) { fixture in
            for (entity, number) in [("Sub", 1), ("Base", 2)] as [(String, Int64)] {
                _ = try fixture.insert(
                    "Holder", ["item": .objectID(fixture.insert(entity, ["n": .integer(number)]))])
            }
        }
        let options = MigratedStore.options(oneCommit: oneCommit, step: 1)
        for _ in 0..<2 {
            try store.open(model(false), options) { fixture in
                try #expect(
                    rows(fixture, "ByItem") == [
                        [.null, .integer(1), .integer(0)], [.integer(2), .integer(1), .integer(2)],
                    ])
                try #expect(fixture.store.rebuild().isUnchanged)
            }
            try store.open(model(true), options) { fixture in
                try #expect(
                    rows(fixture, "ByItem") == [
                        [.integer(1), .integer(1), .integer(1)], [.integer(2), .integer(1), .integer(2)],
                    ])
                try #expect(fixture.store.rebuild().isUnchanged)
            }
        }
    }
}
