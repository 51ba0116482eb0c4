import Foundation
import StrataGraph
import StrataModel
import Testing

/// Models that change, and history over it.
@Suite(.serialized) final class ModelPortingTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    deinit { try? FileManager.default.removeItem(at: url) }

    private func with<Value>(
        _ entities: [EntityDescription], _ body: (PersistentContainer, ManagedObjectContext) throws -> Value
    ) throws -> Value {
        let container = PersistentContainer(
            name: "Porting", model: try ManagedObjectModel(entities: entities), at: .url(url),
            options: .init(durability: .disposable, allowsModelDowngrade: true))
        try container.loadPersistentStores()
        defer { container.close() }
        let value = try body(container, container.newBackgroundContext())
        let report = try container.verify()
        #expect(report.isSound, "\(report)")
        return value
    }

    private func renamed(_ property: PropertyDescription, _ name: String) -> PropertyDescription {
        switch property {
        case .attribute(var attribute):
            attribute.renamingIdentifier = name
            return .attribute(attribute)
        case .relationship(var relationship):
            relationship.renamingIdentifier = name
            return .relationship(relationship)
        }
    }

    @Test func anEntityAndItsPropertiesAreRenamedAtOnce() throws {
        let ids = try with([
            EntityDescription(
                name: "Film",
                properties: [
                    Porting.attribute("title", .string), Porting.attribute("year", .integer16),
                    Porting.one("maker", "Maker", "films"),
                ], indexes: [Porting.index("byTitle", "title")], uniquenessConstraints: [["title"]]),
            EntityDescription(
                name: "Maker", properties: [Porting.attribute("name", .string), Porting.many("films", "Film", "maker")]),
        ]) { _, context in
            let maker = try context.make("Maker", ["name": "T"])
            let film = try context.make("Film", ["title": "Mirror", "year": 1975, "maker": maker])
            try context.save()
            try film.setValue("The Mirror", forKey: "title")
            try context.save()
            return (film.objectID, maker.objectID)
        }
        var movie = EntityDescription(
            name: "Movie", managedObjectClassName: nil,
            properties: [
                renamed(Porting.attribute("name", .string), "title"),
                renamed(Porting.attribute("released", .integer32), "year"),
                renamed(Porting.one("director", "Director", "movies"), "maker"),
            ], indexes: [Porting.index("byTitle", "name")], uniquenessConstraints: [["name"]])
        movie.renamingIdentifier = "Film"
        var director = EntityDescription(
            name: "Director",
            properties: [
                Porting.attribute("name", .string), renamed(Porting.many("movies", "Movie", "director"), "films"),
            ])
        director.renamingIdentifier = "Maker"
        try with([movie, director]) { container, context in
            let film = try context.existingObject(with: ids.0)
            #expect(film.entity.name == "Movie")
            #expect(try film.text() == "The Mirror" && film.value(forKey: "released") as? Int32 == 1975)
            #expect(try (film.value(forKey: "director") as? ManagedObject)?.objectID == ids.1)
            #expect(try context.find("Movie", "name == 'The Mirror' AND director.name == 'T'") == [film])
            #expect(try context.find("Director", "ANY movies.released == 1975").count == 1)
            let history = try container.history(of: ids.0)
            #expect(history.map(\.entityName) == ["Movie", "Movie"])
            #expect(history[0].changes.map(\.key) == ["name"])
            try context.restore(ids.0, at: history[1].eventNumber)
            #expect(try film.text() == "Mirror")
            try context.save()
            context.delete(film)
            try context.save()
            let past = try container.context(asOf: .event(history[1].eventNumber))
            #expect(try past.existingObject(with: ids.0).text() == "Mirror")
            #expect(try past.find("Movie", "name == 'Mirror' AND director.name == 'T'").count == 1)
        }
    }

    @Test func propertiesMoveToAParentThatIsNew() throws {
        func shape(_ name: String, _ own: String, _ hasName: Bool) -> EntityDescription {
            EntityDescription(
                name: name, superentityName: hasName ? nil : "Shape",
                properties: (hasName ? [Porting.attribute("name", .string)] : []) + [Porting.attribute(own, .double)])
        }
        let ids = try with([shape("Circle", "radius", true), shape("Square", "side", true)]) { _, context in
            let circle = try context.make("Circle", ["name": "c", "radius": 1.5])
            let square = try context.make("Square", ["name": "s", "side": 2.5])
            try context.save()
            return [circle.objectID, square.objectID]
        }
        try with([
            EntityDescription(
                name: "Shape", isAbstract: true, properties: [Porting.attribute("name", .string)],
                indexes: [Porting.index("byName", "name")], uniquenessConstraints: [["name"]]),
            shape("Circle", "radius", false), shape("Square", "side", false),
        ]) { container, context in
            #expect(try context.find("Shape", sortedBy: [SortDescription("name")]).map(\.objectID) == ids)
            #expect(try context.find("Shape", "name == 's'").map(\.objectID) == [ids[1]])
            #expect(try context.find("Circle", "radius > 1").map { try $0.text() } == ["c"])
            #expect(thrownError { _ = try context.make("Shape") }?.code == .unknownEntity)
            try context.make("Circle", ["name": "s"])
            #expect(thrownError { try context.save() }?.code == .constraintMerge)
            context.rollback()
            try context.make("Circle", ["name": "d"])
            try context.save()
            #expect(
                try context.find("Shape", sortedBy: [SortDescription("name")]).map { try $0.text() } == ["c", "d", "s"])
        }
    }

    @Test func aUniqueRuleOverDuplicatesIsRefusedWithTheirIDs() throws {
        func model(_ isUnique: Bool) -> [EntityDescription] {
            [
                EntityDescription(
                    name: "Item", properties: [Porting.attribute("name", .string)],
                    uniquenessConstraints: isUnique ? [["name"]] : [])
            ]
        }
        let ids = try with(model(false)) { _, context in
            let items = try ["a", "b", "a", "c"].map { try context.make("Item", ["name": $0]) }
            try context.make("Item")
            try context.make("Item")
            try context.save()
            return items.map(\.objectID)
        }
        let refusal = thrownError { try with(model(true)) { _, _ in } }
        #expect(
            refusal.map { [133021, 134110, 134111].contains($0.code.rawValue) } ?? false,
            "\(String(describing: refusal))")
        try with(model(false)) { _, context in
            #expect(try context.find("Item").count == 6)
            context.delete(try context.existingObject(with: ids[2]))
            try context.save()
        }
        try with(model(true)) { _, context in
            #expect(try context.find("Item").count == 5)
            try context.make("Item", ["name": "a"])
            #expect(thrownError { try context.save() }?.code == .constraintMerge)
        }
    }

    @Test func linksOfAnotherKindAreConvertedAndThePastKeepsItsOwn() throws {
        func model(_ isMany: Bool, _ isOrdered: Bool = false) -> [EntityDescription] {
            [
                EntityDescription(
                    name: "A",
                    properties: [
                        Porting.attribute("name", .string),
                        isMany ? Porting.many("b", "B", "a", isOrdered: isOrdered) : Porting.one("b", "B", "a"),
                    ]),
                EntityDescription(
                    name: "B", properties: [Porting.attribute("name", .string), Porting.many("a", "A", "b")]),
            ]
        }
        let (ids, then) = try with(model(false)) { container, context in
            let b = try context.make("B", ["name": "b"])
            let all = try ["x", "y"].map { try context.make("A", ["name": $0, "b": b]) }
            try context.save()
            return (all.map(\.objectID), try container.head())
        }
        try with(model(true)) { container, context in
            let a = try context.existingObject(with: ids[0])
            #expect(try a.texts("b") == ["b"])
            try a.setValue(
                (a.value(forKey: "b") as? [ManagedObject] ?? []) + [context.make("B", ["name": "c"])], forKey: "b")
            try context.save()
            let past = try container.context(asOf: .event(then))
            let old = try past.existingObject(with: ids[0])
            #expect(try old.texts("b") == ["b"])
            #expect(try past.find("A", "ANY b.name == 'b'").count == 2)
            let before = try container.context(asOf: .event(then), model: .ofThen)
            #expect(try (before.existingObject(with: ids[0]).value(forKey: "b") as? ManagedObject)?.text() == "b")
            #expect(try before.find("A", "b.name == 'b'").count == 2)
        }
        try with(model(true, true)) { _, context in
            let a = try context.existingObject(with: ids[0])
            #expect(try a.texts("b").sorted() == ["b", "c"])
            try a.setValue((a.value(forKey: "b") as? [ManagedObject] ?? []).reversed() as [ManagedObject], forKey: "b")
            try context.save()
        }
        let back = thrownError { try with(model(false)) { _, _ in } }
        #expect(back?.code == .migration || back?.code.rawValue == 1590 || back != nil, "\(String(describing: back))")
        try with(model(true, true)) { _, context in
            let a = try context.existingObject(with: ids[0])
            try a.setValue(Array((a.value(forKey: "b") as? [ManagedObject] ?? []).prefix(1)), forKey: "b")
            try context.save()
        }
        try with(model(false)) { container, context in
            #expect(try context.find("A", "b != nil").count == 2)
            let past = try container.context(asOf: .event(then))
            #expect(try past.find("A").count == 2)
        }
    }

    @Test func whatAModelNoLongerHasIsPartOfThePastOnly() throws {
        let (item, note, first) = try with([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("name", .string), Porting.attribute("colour", .string),
                    Porting.many("notes", "Note", "item", .cascade), Porting.many("tags", "Note", "tagged"),
                ]),
            EntityDescription(
                name: "Note",
                properties: [
                    Porting.attribute("text", .string), Porting.one("item", "Item", "notes"),
                    Porting.many("tagged", "Item", "tags"),
                ]),
        ]) { container, context in
            let item = try context.make("Item", ["name": "a", "colour": "red"])
            let note = try context.make("Note", ["text": "n", "item": item, "tagged": [item]])
            try context.save()
            let first = try #require(container.transactions().last?.number)
            try item.setValue("blue", forKey: "colour")
            try note.setValue("m", forKey: "text")
            try context.save()
            return (item.objectID, note.objectID, first)
        }
        try with([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("name", .string),
                    Porting.attribute("stars", .integer16, isOptional: false, default: .integer(3)),
                ])
        ]) { container, context in
            let now = try context.existingObject(with: item)
            #expect(try now.text() == "a" && now.value(forKey: "stars") as? Int16 == 3)
            #expect(thrownError { _ = try now.value(forKey: "colour") }?.code == .unknownKey)
            let history = try container.history(of: item)
            #expect(history.contains { $0.changes.contains { $0.key == "colour" && $0.after == .string("blue") } })
            #expect(try container.history(of: note).count >= 2)
            #expect(try container.changes(in: first).count >= 2)
            let past = try container.context(asOf: .transaction(first))
            #expect(try past.existingObject(with: item).text() == "a")
            #expect(try past.existingObject(with: item).value(forKey: "stars") as? Int16 == 3)
            // What the transaction of then changed is in part no more.
            context.delete(now)
            try context.save()
            let restored = try context.restore(item, at: try #require(history.last).eventNumber)
            #expect(try restored?.text() == "a" && restored?.value(forKey: "stars") as? Int16 == 3)
            try context.save()
            #expect(
                try container.newBackgroundContext().existingObject(with: item).value(forKey: "stars") as? Int16 == 3)
            context.delete(try context.existingObject(with: item))
            try context.save()
            let deletion = try #require(container.transactions().last?.number)
            try context.revert(deletion)
            try context.save()
            #expect(try context.find("Item").map { try $0.text() } == ["a"])
            let child = try context.newChildContext()
            #expect(thrownError { _ = try child.existingObject(with: note) }?.code == .referentialIntegrity)
        }
    }

    @Test func aMandatoryPropertyTakesItsDefaultInPastAndPresent() throws {
        let ids = try with([EntityDescription(name: "Item", properties: [Porting.attribute("name", .string)])]) {
            _, context in
            let items = [try context.make("Item", ["name": "a"]), try context.make("Item")]
            try context.save()
            return items.map(\.objectID)
        }
        try with([
            EntityDescription(
                name: "Item",
                properties: [Porting.attribute("name", .string, isOptional: false, default: .string("none"))],
                indexes: [Porting.index("byName", "name")])
        ]) { container, context in
            #expect(try context.find("Item", "name == 'none'").map(\.objectID) == [ids[1]])
            let item = try context.existingObject(with: ids[1])
            #expect(try item.text() == "none")
            context.undoManager = ObjectUndoManager()
            context.delete(item)
            try context.save()
            try context.undoManager?.undo()
            try context.save()
            #expect(try context.find("Item", "name == 'none'").count == 1)
            try context.restore(ids[1], at: try #require(container.history(of: ids[1]).last).eventNumber)
            // As it was then, which the rules of now may refuse.
            let restored = try context.existingObject(with: ids[1])
            if try restored.text() == nil {
                #expect(thrownError { try context.save() }?.code == .validationMissingMandatoryProperty)
            } else {
                #expect(try restored.text() == "none")
            }
        }
    }

    @Test func eightyEightEntitiesInThreeLevels() throws {
        let entities = (0..<88).map { place -> EntityDescription in
            let parent = place == 0 ? nil : "E\((place - 1) / 5)"
            return EntityDescription(
                name: "E\(place)", isAbstract: place < 6, superentityName: parent,
                properties: [Porting.attribute("p\(place)", .integer32)]
                    + (place == 0
                        ? [
                            Porting.attribute("name", .string), Porting.one("next", "E0", "previous"),
                            Porting.many("previous", "E0", "next"),
                        ] : []),
                indexes: place == 0 ? [Porting.index("byName", "name")] : [])
        }
        try with(entities) { container, context in
            var last: ManagedObject?
            for place in 6..<88 {
                var values: [String: Any] = ["name": "n\(place)", "p\(place)": place, "p0": place]
                values["next"] = last
                last = try context.make("E\(place)", values)
            }
            try context.save()
            let other = container.newBackgroundContext()
            #expect(try other.find("E0").count == 82)
            #expect(try other.find("E0", "name == 'n87'").first?.entity.name == "E87")
            #expect(try other.find("E1", "p0 >= 0").count == other.find("E1").count)
            #expect(try other.find("E0", "next.name == 'n30'").map { try $0.text() } == ["n31"])
            #expect(
                try other.find("E0", sortedBy: [SortDescription("p0", isAscending: false)], limit: 2).map {
                    try $0.text()
                }
                    == ["n87", "n86"])
            var own = FetchRequest<ManagedObject>(entityName: "E6")
            own.includesSubentities = false
            #expect(try other.count(for: own) == 1)
            let error = thrownError { _ = try other.find("E7", "p8 == 1") }
            #expect(error?.code == .unknownKey)
        }
    }
}
