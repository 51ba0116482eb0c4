import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// An entity goes from one parent to another that has relationships of the same names: the links of its objects from
/// both ends, their history, a revert, and past moments.
struct MovedLinkTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func container(_ model: ManagedObjectModel) -> PersistentContainer {
        let options = PersistentStoreOptions(
            durability: .disposable, migration: .automatic, allowsModelDowngrade: true)
        return PersistentContainer(name: "Test", model: model, at: .url(url), options: options)
    }

    /// - Parameter isWhole: whether B has the relationships, too.
    private static func model(under parent: String?, isWhole: Bool = true) throws -> ManagedObjectModel {
        var (backs, tagBacks): ([PropertyDescription], [PropertyDescription]) = ([], [])
        func links(_ entity: String) -> [PropertyDescription] {
            backs.append(Porting.many("things\(entity)", entity, "owner", isOrdered: true))
            tagBacks.append(Porting.many("on\(entity)", entity, "tags"))
            return [
                Porting.one("owner", "Person", "things\(entity)"), Porting.one("maker", "Person", nil),
                Porting.many("tags", "Tag", "on\(entity)", isOrdered: true),
                Porting.many("marks", "Tag", nil, isOrdered: true),
            ]
        }
        let name = Porting.attribute("name", .string)
        let entities = [
            EntityDescription(name: "A", properties: [name] + links("A")),
            EntityDescription(name: "B", properties: [name] + (isWhole ? links("B") : [])),
            EntityDescription(
                name: "Leaf", superentityName: parent, properties: parent == nil ? [name] + links("Leaf") : []),
        ]
        return try ManagedObjectModel(
            entities: entities + [
                EntityDescription(name: "Person", properties: [name] + backs),
                EntityDescription(name: "Tag", properties: [name] + tagBacks),
            ])
    }

    private func object(_ entity: String, _ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(try context.find(entity, "name == '\(name)'").first)
    }

    /// Two leaves and an A; each has an owner, tags and marks.
    private func fill(_ context: ManagedObjectContext) throws {
        let people = try ["ann", "bob"].map { try context.make("Person", ["name": $0]) }
        let tags = try ["red", "blue", "new"].map { try context.make("Tag", ["name": $0]) }
        for (index, entity) in ["Leaf", "A", "Leaf"].enumerated() {
            let thing = try context.make(entity, ["name": "thing\(index)"])
            try thing.setValue(people[0], forKey: "owner")
            try thing.setValue(people[1], forKey: "maker")
            try thing.setValue([tags[1], tags[0]], forKey: "tags")
            try thing.setValue([tags[2], tags[0]], forKey: "marks")
        }
        try context.save()
    }

    private func names(_ object: ManagedObject, _ key: String) throws -> [String] {
        guard let context = object.managedObjectContext else { return [] }
        return try object.objectIDs(forRelationshipNamed: key).map {
            try context.existingObject(with: $0).value(forKey: "name") as? String ?? "?"
        }
    }

    /// What a leaf leads to.
    private func links(_ name: String, _ context: ManagedObjectContext) throws -> [[String]] {
        let leaf = try object("Leaf", name, context)
        return try ["owner", "maker", "tags", "marks"].map { try names(leaf, $0) }
    }

    private static let first = [["ann"], ["bob"], ["blue", "red"], ["new", "red"]]

    private func check(_ context: ManagedObjectContext, _ parent: String, _ leaf: [[String]], _ comment: String) throws
    {
        #expect(try links("thing0", context) == leaf, "\(comment)")
        #expect(try links("thing2", context) == Self.first, "\(comment)")
        let (ann, red) = (try object("Person", "ann", context), try object("Tag", "red", context))
        let blue = try object("Tag", "blue", context)
        let mine = leaf[0] == ["ann"] ? ["thing0"] : []
        for entity in ["A", "B", "Leaf"] {
            guard ann.entity.relationshipsByName["things\(entity)"] != nil else { continue }
            let others = (entity == "A" ? ["thing1"] : [])
            let leaves = entity == parent ? ["thing2"] : []
            #expect(
                try Set(names(ann, "things\(entity)")) == Set(others + leaves + (entity == parent ? mine : [])),
                "\(comment): \(entity)")
            for tag in [red, blue] {
                let name = try tag.value(forKey: "name") as? String ?? ""
                let has = entity == parent && leaf[2].contains(name) ? ["thing0"] : []
                #expect(
                    try Set(names(tag, "on\(entity)")) == Set(others + leaves + has), "\(comment): \(name) on \(entity)"
                )
            }
        }
    }

    /// To the other parent, out of both, and back, while links change on the way.
    @Test(arguments: [["B", "A", "B"], ["none", "A", "none"], ["B", "none", "A", "B"]])
    func linksGoWithTheEntity(path: [String]) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        func model(_ parent: String) throws -> ManagedObjectModel {
            try Self.model(under: parent == "none" ? nil : parent)
        }
        var moments: [(EventNumber, [[String]])] = []
        var leaf = Self.first
        let first = container(try model("A"))
        try withLoaded(first) { context in
            try fill(context)
            try check(context, "A", leaf, "at first")
            moments.append((try first.head(), leaf))
        }
        for (step, parent) in path.enumerated() {
            let opened = container(try model(parent))
            try withLoaded(opened) { context in
                let comment = "step \(step), under \(parent)"
                let declaring = parent == "none" ? "Leaf" : parent
                let before = try #require(moments.last).0
                try check(context, declaring, leaf, comment)
                let changes = try opened.changes(from: .event(before), to: .event(opened.head()))
                #expect(changes.isEmpty, "\(comment): \(changes)")
                let thing = try object("Leaf", "thing0", context)
                leaf[2] = step % 2 == 0 ? ["red"] : ["red", "new", "blue"]
                leaf[3] = step % 2 == 0 ? ["red", "new"] : ["blue"]
                leaf[0] = step % 2 == 0 ? ["bob"] : ["ann"]
                for (key, index) in [("tags", 2), ("marks", 3)] {
                    try thing.setValue(leaf[index].map { try object("Tag", $0, context) }, forKey: key)
                }
                try thing.setValue(object("Person", leaf[0][0], context), forKey: "owner")
                try context.save()
                let saved = try #require(try opened.transactions().last).number
                try check(context, declaring, leaf, "\(comment), saved")
                moments.append((try opened.head(), leaf))
                for (moment, then) in moments {
                    let past = try opened.context(asOf: .event(moment))
                    try check(past, declaring, then, "\(comment), as of \(moment)")
                    let ofThen = try opened.context(asOf: .event(moment), model: .ofThen)
                    #expect(try links("thing0", ofThen) == then, "\(comment), as of \(moment), model of then")
                }
                #expect(try opened.store.rebuild().isUnchanged)
                try context.revert(saved)
                try check(context, declaring, moments[moments.count - 2].1, "\(comment), reverted")
                context.rollback()
            }
        }
    }

    /// The relationship is away while the entity stands elsewhere; a change of before the move is reverted after it.
    @Test func linksThatWereHiddenReturn() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        func model(_ parent: String) throws -> ManagedObjectModel {
            func links() -> [PropertyDescription] {
                [Porting.one("maker", "Tag", nil), Porting.many("marks", "Tag", nil, isOrdered: true)]
            }
            let name = Porting.attribute("name", .string)
            return try ManagedObjectModel(entities: [
                EntityDescription(name: "A", properties: [name] + links()),
                EntityDescription(name: "B", properties: [name]),
                EntityDescription(name: "C", properties: [name] + links()),
                EntityDescription(name: "Leaf", superentityName: parent),
                EntityDescription(name: "Tag", properties: [name]),
            ])
        }
        try withLoaded(container(model("A"))) { context in
            let tags = try ["red", "blue", "gone"].map { try context.make("Tag", ["name": $0]) }
            for entity in ["A", "Leaf"] {
                let thing = try context.make(entity, ["name": entity])
                try thing.setValue(tags[0], forKey: "maker")
                try thing.setValue([tags[2], tags[1], tags[0]], forKey: "marks")
            }
            let other = try context.make("Leaf", ["name": "other"])
            try other.setValue(tags[2], forKey: "maker")
            try context.save()
        }
        try withLoaded(container(model("B"))) { context in
            context.delete(try object("Tag", "gone", context))
            try context.save()
        }
        for parent in ["A", "B", "C", "B", "A"] {
            let opened = container(try model(parent))
            try withLoaded(opened) { context in
                guard parent != "B" else { return }
                let leaf = try object("Leaf", "Leaf", context)
                #expect(try names(leaf, "maker") == ["red"] && names(leaf, "marks") == ["blue", "red"], "\(parent)")
                #expect(try names(object("Leaf", "other", context), "maker") == [], "\(parent)")
                #expect(try names(object("A", "A", context), "marks") == ["blue", "red"], "\(parent)")
                #expect(try opened.store.rebuild().isUnchanged)
            }
        }
    }

    /// While an entity stands where its objects lack a relationship, the inverse does not list them; the order of both
    /// ends returns.
    @Test func inversesListObjectsWhoseEntityHasTheRelationship() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        func model(_ parent: String) throws -> ManagedObjectModel {
            let name = Porting.attribute("name", .string)
            let tags = Porting.many("tags", "Tag", "things", isOrdered: true)
            let things = Porting.many("things", "A", "tags", isOrdered: true)
            return try ManagedObjectModel(entities: [
                EntityDescription(name: "A", properties: [name, tags]),
                EntityDescription(name: "B", properties: [name]),
                EntityDescription(name: "Leaf", superentityName: parent),
                EntityDescription(name: "Tag", properties: [name, things]),
            ])
        }
        func things(_ context: ManagedObjectContext) throws -> [String] {
            try names(object("Tag", "red", context), "things")
        }
        func tags(_ context: ManagedObjectContext) throws -> [String] {
            try names(object("Leaf", "leaf", context), "tags")
        }
        var moments: [EventNumber] = []
        let first = container(try model("A"))
        try withLoaded(first) { context in
            let tags = try ["red", "blue", "gone"].map { try context.make("Tag", ["name": $0]) }
            let (other, leaf) = (try context.make("A", ["name": "a"]), try context.make("Leaf", ["name": "leaf"]))
            try other.setValue([tags[1], tags[0]], forKey: "tags")
            try leaf.setValue([tags[2], tags[0], tags[1]], forKey: "tags")
            try tags[0].setValue([leaf, other], forKey: "things")
            try context.save()
            moments.append(try first.head())
        }
        let second = container(try model("B"))
        try withLoaded(second) { context in
            #expect(try things(context) == ["a"])
            #expect(try things(second.context(asOf: .event(moments[0]))) == ["a"])
            #expect(try things(second.context(asOf: .event(moments[0]), model: .ofThen)) == ["leaf", "a"])
            context.delete(try object("Tag", "gone", context))
            try context.save()
            moments.append(try second.head())
            #expect(try second.store.rebuild().isUnchanged)
        }
        let third = container(try model("A"))
        try withLoaded(third) { context in
            #expect(try tags(context) == ["red", "blue"] && things(context) == ["leaf", "a"])
            let past = try moments.map { try third.context(asOf: .event($0)) }
            #expect(try past.map(tags) == [["gone", "red", "blue"], ["red", "blue"]])
            #expect(try past.map(things) == [["leaf", "a"], ["leaf", "a"]])
            #expect(try things(third.context(asOf: .event(moments[1]), model: .ofThen)) == ["a"])
            #expect(try third.store.rebuild().isUnchanged)
        }
    }
}
