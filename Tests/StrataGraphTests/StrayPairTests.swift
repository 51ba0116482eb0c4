import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Stores that an earlier version migrated when an entity lost a many-to-many that others keep: the inverse has members of
/// the entity.
struct StrayPairTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    /// - Parameter parent: of the entity Leaf; A has the relationships, B has none of them.
    private func container(_ parent: String, isReadOnly: Bool = false) throws -> PersistentContainer {
        let name = Porting.attribute("name", .string)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "A",
                properties: [
                    name, Porting.many("tags", "Tag", "things", isOrdered: true),
                    Porting.many("friends", "A", "friends"), Porting.many("likes", "Tag", nil),
                ]),
            EntityDescription(name: "B", properties: [name]),
            EntityDescription(name: "Leaf", superentityName: parent),
            EntityDescription(
                name: "Tag", properties: [name, Porting.many("things", "A", "tags", isOrdered: true)]),
        ])
        return PersistentContainer(
            name: "Test", model: model, at: .url(url),
            options: .init(
                durability: .disposable, isReadOnly: isReadOnly, migration: .automatic, allowsModelDowngrade: true))
    }

    private func object(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(try context.find(entity, "name == '\(entity)'").first)
    }

    private func names(_ object: ManagedObject, _ key: String) throws -> [String] {
        guard let context = object.managedObjectContext else { return [] }
        return try object.objectIDs(forRelationshipNamed: key).map {
            try context.existingObject(with: $0).value(forKey: "name") as? String ?? "?"
        }
    }

    /// A tag, an A and a leaf, linked in every way, as an earlier version left them: the leaf has lost its links, and its
    /// pairs are there.
    ///
    /// - Returns: the moments before the migration and after it.
    private func make() throws -> (whole: EventNumber, left: EventNumber) {
        let first = try container("A")
        let whole = try withLoaded(first) { context in
            let made = try ["A", "Leaf", "Tag"].map { try context.make($0, ["name": $0]) }
            for thing in made.prefix(2) {
                try thing.setValue([made[2]], forKey: "tags")
                try thing.setValue(Set([made[2]]), forKey: "likes")
            }
            try made[2].setValue([made[1], made[0]], forKey: "things")
            try made[1].setValue(Set(made.prefix(2)), forKey: "friends")
            try context.save()
            return try first.head()
        }
        let second = try container("B")
        let left = try withLoaded(second) { _ in
            #expect(try DanglingPairs.linkAgain(second.store) == 3)
            return try second.head()
        }
        return (whole, left)
    }

    private func expectGone(_ context: ManagedObjectContext, _ place: Comment) throws {
        let (tag, other) = (try object("Tag", context), try object("A", context))
        #expect(try names(tag, "things") == ["A"] && names(other, "friends").isEmpty, place)
        let formats = [
            ("Tag", "things.@count == 1"), ("Tag", "ALL things.name == 'A'"), ("Tag", "NONE things.name == 'Leaf'"),
            ("Tag", "SUBQUERY(things, $t, $t.name != 'x').@count == 1"), ("A", "friends.@count == 0"),
            ("A", "NOT (ANY friends.name == 'Leaf')"), ("A", "tags.things.@count == 1"),
        ]
        for (entity, format) in formats {
            var request = FetchRequest<ManagedObject>(entityName: entity)
            request.predicate = try FetchPredicate(format: format)
            #expect(try context.count(for: request) == 1, "\(place): \(format)")
        }
        var leading = FetchRequest<ManagedObject>(entityName: "Tag")
        leading.predicate = try FetchPredicate(format: "ANY things == %@", object("Leaf", context).objectID)
        #expect(try context.count(for: leading) == 0, place)
    }

    private func expectThere(_ context: ManagedObjectContext, _ place: Comment) throws {
        let (tag, leaf, other) = (try object("Tag", context), try object("Leaf", context), try object("A", context))
        #expect(try names(tag, "things") == ["Leaf", "A"], place)
        #expect(try names(leaf, "tags") == ["Tag"] && names(leaf, "likes") == ["Tag"], place)
        #expect(try Set(names(leaf, "friends")) == ["A", "Leaf"] && names(other, "friends") == ["Leaf"], place)
    }

    @Test func readersPassOverThemAndAnOpeningUnlinksThem() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let (whole, left) = try make()
        let reading = try container("B", isReadOnly: true)
        try withLoaded(reading) { context in
            try expectGone(context, "read only")
            try expectGone(reading.context(asOf: .event(whole)), "read only, of before")
            let report = try reading.store.verify()
            #expect(report.isSound && report.goneLinkCount == 3, "\(report)")
        }
        let new = try container("B")
        let mended = try withLoaded(new) { context in
            #expect(try new.transactions().last?.contextName == "mending")
            try expectGone(context, "mended")
            for moment in [whole, left] { try expectGone(new.context(asOf: .event(moment)), "as of \(moment)") }
            try expectThere(new.context(asOf: .event(whole), model: .ofThen), "of then")
            try expectGone(new.context(asOf: .event(left), model: .ofThen), "of then, left")
            #expect(try new.store.verify().goneLinkCount == 0)
            #expect(try new.store.rebuild().isUnchanged)
            return try new.head()
        }
        let reopened = try withLoaded(new) { _ in try new.head() }
        #expect(reopened == mended)
        let back = try container("A")
        try withLoaded(back) { context in
            try expectThere(context, "back")
            for moment in [whole, left, mended] {
                try expectThere(back.context(asOf: .event(moment)), "back, as of \(moment)")
            }
            try expectGone(back.context(asOf: .event(left), model: .ofThen), "back, of then")
            #expect(try back.store.rebuild().isUnchanged)
        }
    }

    /// The relationship returns before any opening could unlink them.
    @Test func aModelThatHasTheRelationshipAgainKeepsThem() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let (whole, left) = try make()
        let back = try container("A")
        try withLoaded(back) { context in
            let head = try back.head()
            try expectThere(context, "back")
            for moment in [whole, head] { try expectThere(back.context(asOf: .event(moment)), "as of \(moment)") }
            try expectGone(back.context(asOf: .event(left), model: .ofThen), "of then")
            #expect(try back.store.rebuild().isUnchanged)
            // A link that is cut now was there before.
            try object("Leaf", context).setValue([ManagedObject](), forKey: "tags")
            try context.save()
            try expectThere(back.context(asOf: .event(head)), "before it was cut")
        }
    }
}
