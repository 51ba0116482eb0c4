import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Back to a model that the store had before, and forward again: everything is there as it was the first time.
struct ReturnTests {
    private let store = MigratedStore()

    private func entity(
        _ name: String, from old: String? = nil, under parent: String? = nil, _ properties: [PropertyDescription] = [],
        unique: [[String]] = [], indexes: [String] = []
    ) -> EntityDescription {
        EntityDescription(
            name: name, superentityName: parent, properties: properties,
            indexes: indexes.map { FetchIndexDescription(name: "by-\($0)", elements: [FetchIndexElement($0)]) },
            uniquenessConstraints: unique, renamingIdentifier: old)
    }

    private func film(_ name: String, _ attributes: PropertyDescription..., from old: String? = nil) throws
        -> ManagedObjectModel
    {
        try Describe.model(entity(name, from: old, [Describe.attribute("title")] + attributes))
    }

    private func gross(_ name: String, _ type: AttributeType = .decimal, from old: String? = nil) -> PropertyDescription
    {
        Describe.attribute(name, type, optional: true, from: old)
    }

    /// Opens the store with one model after another, and compares what each shows with what it showed the first time.
    private func travel(
        _ models: [String: ManagedObjectModel], _ path: String, sees: [String: [String: StateDump.Held]] = [:],
        oneCommit: Int = 200_000, fill: (StoreFixture) throws -> Void
    ) throws {
        defer { store.remove() }
        var dumps: [String: StateDump] = [:]
        for (index, name) in path.map(String.init).enumerated() {
            let model = try #require(models[name])
            try store.open(model, MigratedStore.options(oneCommit: oneCommit, step: 1)) { fixture in
                if index == 0 { try fill(fixture) }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(dump == dumps[name] ?? dump, "\(name), step \(index) of \(path)")
                dumps[name] = dump
                try #expect(fixture.store.rebuild().isUnchanged)
            }
        }
        // Nothing is lost on the way.
        let counts = Set(dumps.values.map(\.objects.count))
        if sees.isEmpty { #expect(counts.count == 1, "\(counts)") }
    }

    // MARK: Renames

    @Test(arguments: ["ARARAR", "ARSAS", "ARSRA", "ARARSASA"]) func aRenamedAttributeKeepsItsValues(path: String) throws
    {
        try travel(
            [
                "A": film("Film", gross("gross")), "R": film("Film", gross("takings", from: "gross")),
                "S": film("Film", gross("income", from: "takings")),
            ], path
        ) { fixture in
            _ = try fixture.insert("Film", ["title": "Stalker", "gross": .decimal(1.5)])
        }
    }

    @Test(arguments: ["AEAEA", "AEFAFE"]) func aRenamedEntityKeepsItsObjects(path: String) throws {
        try travel(
            [
                "A": film("Film", gross("gross")), "E": film("Movie", gross("gross"), from: "Film"),
                "F": film("Picture", gross("takings", from: "gross"), from: "Movie"),
            ], path
        ) { fixture in
            _ = try fixture.insert("Film", ["title": "Stalker", "gross": .decimal(1.5)])
        }
    }

    /// Names that are exchanged mean the numbers of then.
    @Test func exchangedNamesAreExchangedBack() throws {
        func model(_ first: PropertyDescription, _ second: PropertyDescription) throws -> ManagedObjectModel {
            try Describe.model(entity("Pair", [first, second]))
        }
        func text(_ name: String, _ old: String? = nil) -> PropertyDescription { Describe.attribute(name, from: old) }
        try travel(
            ["A": model(text("left"), text("right")), "X": model(text("left", "right"), text("right", "left"))],
            "AXAXA"
        ) { fixture in _ = try fixture.insert("Pair", ["left": "l", "right": "r"]) }
        let twice = MigratedStore()
        defer { twice.remove() }
        let id = try twice.open(model(text("left"), text("right"))) {
            try $0.insert("Pair", ["left": "l", "right": "r"])
        }
        try twice.open(model(text("left", "right"), text("right", "left"))) {
            try #expect($0.values(id)?["left"] == "r")
        }
        try twice.open(model(text("left"), text("right"))) { try #expect($0.values(id)?["left"] == "l") }
    }

    @Test func anAttributeThatWasRenamedAndConvertedComesBack() throws {
        try travel(
            [
                "A": film("Film", gross("gross", .integer32)),
                "R": film("Film", gross("takings", .string, from: "gross")),
            ], "ARARA"
        ) { fixture in _ = try fixture.insert("Film", ["title": "Stalker", "gross": .integer(7)]) }
    }

    /// A model that the store never had takes a rename back, too.
    @Test func aNewModelWithTheNameOfBeforeTakesTheRenameBack() throws {
        defer { store.remove() }
        let id = try store.open(film("Film", gross("gross"))) {
            try $0.insert("Film", ["title": "Stalker", "gross": .decimal(1.5)])
        }
        try store.open(film("Movie", gross("takings", from: "gross"), from: "Film")) { _ in }
        try store.open(film("Film", gross("gross"), gross("more"))) { fixture in
            try #expect(fixture.values(id)?["gross"] == .decimal(1.5))
        }
        try store.open(film("Film", gross("gross"), gross("most", from: "more"), gross("takings"))) { fixture in
            try #expect(fixture.values(id)?["gross"] == .decimal(1.5))
            try #expect(fixture.values(id)?["takings"] == .null)
        }
    }

    /// A later model than the one that is returned to had changed the type.
    @Test func aHiddenAttributeReturnsAsTheTypeThatTheModelHas() throws {
        defer { store.remove() }
        let (plain, number) = (try film("Film"), try film("Film", gross("extra", .integer32)))
        let text = try film("Film", gross("extra", .string))
        try store.open(plain) { _ in }
        let id = try store.open(number) { try $0.insert("Film", ["title": "Stalker", "extra": .integer(5)]) }
        for _ in 0..<2 {
            try store.open(text) { try #expect($0.values(id)?["extra"] == "5") }
            try store.open(plain) { _ in }
            try store.open(number) { try #expect($0.values(id)?["extra"] == .integer(5)) }
            try store.open(plain) { _ in }
        }
    }

    // MARK: Relationships

    @Test(arguments: [true, false]) func aRelationshipWhoseOtherSideMovedReturns(isOrdered: Bool) throws {
        func model(_ destination: String) throws -> ManagedObjectModel {
            try Describe.model(
                entity("Show", [Describe.toMany("images", destination, inverse: "show", ordered: isOrdered)]),
                entity("Image", destination == "Image" ? [Describe.toOne("show", "Show", inverse: "images")] : []),
                entity("Shot", destination == "Shot" ? [Describe.toOne("show", "Show", inverse: "images")] : []))
        }
        try travel(["A": model("Image"), "B": model("Shot")], "ABABA") { fixture in
            let show = try fixture.insert("Show", [:])
            for place in [2, 1] as [Int64] {
                var values: [String: AttributeValue] = ["show": .objectID(show)]
                if isOrdered { values["show#position"] = .integer(place) }
                _ = try fixture.insert("Image", values)
            }
            _ = try fixture.insert("Shot", [:])
        }
    }

    @Test(arguments: [true, false]) func aManyToManyWhoseOtherSideMovedReturns(isOrdered: Bool) throws {
        func model(_ destination: String) throws -> ManagedObjectModel {
            let shows = Describe.toMany("shows", "Show", inverse: "tags", ordered: isOrdered)
            return try Describe.model(
                entity("Show", [Describe.toMany("tags", destination, inverse: "shows", ordered: isOrdered)]),
                entity("Tag", destination == "Tag" ? [shows] : []),
                entity("Label", destination == "Label" ? [shows] : []))
        }
        try travel(["A": model("Tag"), "B": model("Label")], "ABABA") { fixture in
            let show = try fixture.insert("Show", [:])
            for place in [2, 1] as [Int64] {
                try fixture.link(show, "tags", fixture.insert("Tag", [:]), place: place)
            }
            _ = try fixture.insert("Label", [:])
        }
    }

    /// Links that went on elsewhere are as they were there.
    @Test func aLinkThatWasCutMeanwhileStaysCut() throws {
        defer { store.remove() }
        func model(_ hasBack: Bool, toOne: Bool) throws -> ManagedObjectModel {
            let back =
                toOne
                ? Describe.toOne("show", "Show", inverse: "tags") : Describe.toMany("show", "Show", inverse: "tags")
            return try Describe.model(
                entity("Show", [Describe.toMany("tags", "Tag", inverse: hasBack ? "show" : nil)]),
                entity("Tag", hasBack ? [back] : []))
        }
        for toOne in [true, false] {
            let store = MigratedStore()
            defer { store.remove() }
            let (show, tags) = try store.open(model(true, toOne: toOne)) { fixture in
                let show = try fixture.insert("Show", [:])
                let tags = try [fixture.insert("Tag", [:]), fixture.insert("Tag", [:])]
                for tag in tags {
                    if toOne {
                        try fixture.update(tag, ["show": .objectID(show)])
                    } else {
                        try fixture.link(show, "tags", tag)
                    }
                }
                return (show, tags)
            }
            try store.open(model(false, toOne: toOne)) { try $0.unlink(show, "tags", tags[0]) }
            try store.open(model(true, toOne: toOne)) {
                try #expect($0.members("Show", "tags", of: show) == [tags[1]])
            }
        }
    }

    // MARK: Entities

    /// `B` has entities more than `A`: one below another, with links of all kinds to and from those that stay.
    private func library(_ isWhole: Bool) throws -> ManagedObjectModel {
        var base = [
            Describe.attribute("code", optional: true), Describe.attribute("number", .integer64, optional: true),
            Describe.toMany("friends", "Item", inverse: "friends"),
            Describe.toOne("owner", "Owner", inverse: "items"), Describe.toOne("twin", "Item", inverse: "twin"),
        ]
        if isWhole { base[1] = Describe.attribute("number", .string, optional: true) }
        var owner = [
            Describe.attribute("name", optional: true),
            Describe.toMany("items", "Item", inverse: "owner", ordered: true),
            Describe.toOne("favourite", "Item"), Describe.toMany("wishes", "Item", ordered: true),
        ]
        guard isWhole else {
            return try Describe.model(
                entity("Item", base, unique: [["code"]], indexes: ["number"]), entity("Owner", owner))
        }
        owner += [
            Describe.toMany("shelves", "Shelf", inverse: "owner"), Describe.toMany("maps", "Map", inverse: "readers"),
            Describe.toOne("key", "Shelf", inverse: "holder"),
        ]
        return try Describe.model(
            entity("Item", base, unique: [["code"]], indexes: ["number"]), entity("Owner", owner),
            entity(
                "Map", under: "Item",
                [
                    Describe.attribute("scale", .integer32, default: .integer(3)),
                    Describe.toMany("readers", "Owner", inverse: "maps"),
                    Describe.toOne("shelf", "Shelf", inverse: "maps"),
                ], indexes: ["scale"]),
            entity(
                "Shelf",
                [
                    Describe.attribute("place"), Describe.toOne("owner", "Owner", inverse: "shelves"),
                    Describe.toMany("maps", "Map", inverse: "shelf"), Describe.toOne("holder", "Owner", inverse: "key"),
                    Describe.toMany("inside", "Shelf"),
                ]))
    }

    private struct Library {
        var items: [ObjectID] = [], maps: [ObjectID] = [], owners: [ObjectID] = [], shelves: [ObjectID] = []
    }

    private func fill(_ fixture: StoreFixture) throws -> Library {
        var made = Library()
        made.owners = try ["Ann", "Bob"].map { try fixture.insert("Owner", ["name": .string($0)]) }
        made.shelves = try ["left", "right"].map {
            try fixture.insert("Shelf", ["place": .string($0), "owner": .objectID(made.owners[0])])
        }
        func item(_ entity: String, _ code: String, _ place: Int64) throws -> ObjectID {
            try fixture.insert(
                entity,
                [
                    "code": .string(code), "number": .string("\(place)"), "owner": .objectID(made.owners[0]),
                    "owner#position": .integer(place),
                ])
        }
        made.items = [try item("Item", "i", 3), try item("Item", "j", 1)]
        made.maps = [try item("Map", "m", 2), try item("Map", "n", 0)]
        try fixture.update(made.maps[0], ["shelf": .objectID(made.shelves[0]), "scale": .integer(9)])
        try fixture.update(made.maps[0], ["twin": .objectID(made.items[0])])
        try fixture.update(made.items[0], ["twin": .objectID(made.maps[0])])
        try fixture.update(made.owners[0], ["favourite": .objectID(made.maps[0]), "key": .objectID(made.shelves[1])])
        try fixture.update(made.owners[1], ["favourite": .objectID(made.maps[1])])
        try fixture.update(made.shelves[1], ["holder": .objectID(made.owners[0])])
        try fixture.link(made.shelves[0], "inside", made.shelves[1])
        for (owner, map) in [(0, 0), (0, 1), (1, 1)] {
            try fixture.link(made.owners[owner], "maps", made.maps[map])
        }
        for (place, wish) in [made.maps[1], made.items[0], made.maps[0]].enumerated() {
            try fixture.link(made.owners[0], "wishes", wish, place: Int64(place))
        }
        try fixture.link(made.items[0], "friends", made.maps[0])
        try fixture.link(made.maps[0], "friends", made.maps[1])
        try fixture.link(made.items[0], "friends", made.items[1])
        return made
    }

    @Test(arguments: [200_000, 0]) func entitiesThatADowngradeHidReturnWithTheirLinks(oneCommit: Int) throws {
        try travel(["A": library(false), "B": library(true)], "BABAB", sees: ["": [:]], oneCommit: oneCommit) {
            _ = try fill($0)
        }
    }

    @Test func pastsOnBothSidesOfAReturnAreAsTheyWere() throws {
        defer { store.remove() }
        var pasts: [(event: EventNumber, dump: StateDump, version: ModelVersion)] = []
        func note(_ fixture: StoreFixture) throws {
            let head = try fixture.store.head()
            pasts.append((head, try StateDump(fixture.store, at: head), fixture.schema.version))
        }
        try store.open(library(true)) { fixture in
            _ = try fill(fixture)
            try note(fixture)
        }
        for isWhole in [false, true, false, true] {
            try store.open(library(isWhole)) { fixture in
                try note(fixture)
                for past in pasts {
                    let then = try fixture.store.schema(at: past.event)
                    try #expect(StateDump(fixture.store, at: past.event, through: then) == past.dump)
                }
                // Nothing changed meanwhile, so the first state shows the same through this model as the newest.
                let first = try StateDump(fixture.store, at: pasts[0].event)
                for (id, values) in try #require(pasts.last).dump.objects {
                    #expect(first.objects[id] == values, "\(id) under model \(fixture.schema.version.rawValue)")
                }
                #expect(first.objects.count == pasts.last?.dump.objects.count)
            }
        }
    }

    @Test func whatChangedMeanwhileStays() throws {
        defer { store.remove() }
        var made = Library()
        try store.open(library(true)) { made = try fill($0) }
        try store.open(library(false)) { fixture in
            try fixture.update(made.owners[0], ["favourite": .objectID(made.items[1])])
            try fixture.update(made.owners[1], ["favourite": .objectID(made.items[1])])
            try fixture.update(made.owners[1], ["favourite": .null])
            try fixture.update(made.items[0], ["twin": .objectID(made.items[1])])
            try fixture.update(made.items[1], ["twin": .objectID(made.items[0])])
            try fixture.unlink(made.items[0], "friends", made.items[1])
            try fixture.delete(made.owners[1])
        }
        try store.open(library(true)) { fixture in
            try #expect(fixture.values(made.owners[0])?["favourite"] == .objectID(made.items[1]))
            try #expect(fixture.values(made.items[0])?["twin"] == .objectID(made.items[1]))
            try #expect(fixture.values(made.maps[0])?["twin"] == .null)
            try #expect(fixture.members("Item", "friends", of: made.items[0]) == [made.maps[0]])
            try #expect(fixture.members("Map", "readers", of: made.maps[1]) == [made.owners[0]])
            try #expect(fixture.members("Owner", "wishes", of: made.owners[0]).count == 3)
            try #expect(fixture.store.rebuild().isUnchanged)
        }
    }

    /// An object that returns may have a value that another has meanwhile, or lead to one that is gone.
    @Test func whatCannotReturnIsNamed() throws {
        defer { store.remove() }
        var made = Library()
        try store.open(library(true)) { made = try fill($0) }
        try store.open(library(false)) { _ = try $0.insert("Item", ["code": "m"]) }
        let error = #expect(throws: StrataError.self) { try store.open(library(true)) { _ in } }
        #expect(error?.code == .migration && error?.details.first?.code == .constraintMerge)
        #expect(error?.details.map(\.context.objectID) == [made.maps[0]])
    }

    /// An entity that a model of the app's removed is another one when its name comes back.
    @Test func anEntityThatAMigrationRemovedDoesNotReturn() throws {
        defer { store.remove() }
        let note = entity("Note", [Describe.attribute("text", optional: true)])
        let draft = entity("Draft", [Describe.attribute("text", optional: true)])
        let more = entity(
            "Note", [Describe.attribute("text", optional: true), Describe.attribute("more", optional: true)])
        let old = try store.open(Describe.model(note, draft)) { fixture in
            _ = try fixture.insert("Draft", ["text": "old"])
            return try fixture.entity("Draft").id
        }
        try store.open(Describe.model(more)) { _ in }
        try store.open(Describe.model(more, draft)) { fixture in
            try #expect(fixture.entity("Draft").id != old)
            try #expect(StateDump(fixture.store, at: fixture.store.head()).objects.isEmpty)
        }
    }

    /// A later version of the app, which the store never had, finds what a downgrade hid.
    @Test func aLaterModelFindsWhatADowngradeHid() throws {
        defer { store.remove() }
        let note = entity("Note", [Describe.attribute("text", optional: true)])
        func draft(_ properties: PropertyDescription...) -> EntityDescription { entity("Draft", properties) }
        try store.open(Describe.model(note)) { _ in }
        let id = try store.open(Describe.model(note, draft(Describe.attribute("count", .integer32)))) {
            try $0.insert("Draft", ["count": .integer(5)])
        }
        try store.open(Describe.model(note)) { _ in }
        try store.open(
            Describe.model(
                note, draft(Describe.attribute("count", .string), Describe.attribute("extra", optional: true)))
        ) { fixture in
            try #expect(fixture.values(id)?["count"] == "5")
        }
    }
}
