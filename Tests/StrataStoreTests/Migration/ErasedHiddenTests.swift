import Foundation
import StrataModel
import StrataStore
import Testing

/// Erasures of what the newest model does not show: objects of an entity that has left it, and values of an attribute that
/// has.
struct ErasedHiddenTests {
    private let store = MigratedStore()
    private let copy = MigratedStore()

    /// A has everything: people with a dog, an index over all animals and a unique one. B lacks dogs, C the secrets, D
    /// both.
    private func model(
        _ name: Character, secret: PropertyDescription? = nil, hasViews: Bool = false
    ) throws -> ManagedObjectModel {
        let hasDogs = name == "A" || name == "C"
        let label = Describe.attribute("label", optional: true)
        var loud = AttributeDescription(name: "loud", type: .string, isOptional: true)
        loud.derivationExpression = try FetchExpression(format: "uppercase:(secret)")
        let secrets = name == "A" || name == "B"
        let secret = secret ?? Describe.attribute("secret", optional: true)
        let animal = EntityDescription(
            name: "Animal",
            properties: [label, Describe.toMany("friends", "Animal", inverse: "friends")]
                + (secrets ? [secret, .attribute(loud)] : []),
            indexes: [FetchIndexDescription(name: "byLabel", elements: [FetchIndexElement("label")])],
            uniquenessConstraints: [["label"]], fullText: hasViews ? ["label"] : [])
        let dog = EntityDescription(
            name: "Dog", superentityName: "Animal", properties: [Describe.toOne("owner", "Person", inverse: "dogs")])
        let dogs = hasDogs ? [Describe.toMany("dogs", "Dog", inverse: "owner", ordered: true)] : []
        let model = try ManagedObjectModel(
            entities: [
                animal, EntityDescription(name: "Cat", superentityName: "Animal"),
                EntityDescription(name: "Person", properties: [label] + dogs),
            ] + (hasDogs ? [dog] : []))
        guard hasViews else { return model }
        var view = ViewDescription(
            name: "ByLabel", entityName: "Animal", keys: [ViewKey("label")],
            aggregates: [ViewAggregate("count", .count)])
        view.isOfStore = true
        return try model.adding(views: [view])
    }

    private struct Objects {
        var dogs: [ObjectID] = []
        var cat = ObjectID(rawValue: 0)
        var person = ObjectID(rawValue: 0)
    }

    private func fill(_ fixture: StoreFixture) throws -> Objects {
        var objects = Objects()
        objects.person = try fixture.insert("Person", ["label": "Ann"])
        func values(_ number: Int) -> [String: AttributeValue] {
            ["label": .string("Label \(number)"), "secret": .string("Secret \(number)")]
        }
        objects.dogs = try (1...3).map { number in
            try fixture.insert("Dog", values(number).merging(["owner": .objectID(objects.person)]) { $1 })
        }
        for (place, dog) in objects.dogs.enumerated() {
            try fixture.update(dog, ["owner#position": .integer(Int64(place))])
        }
        objects.cat = try fixture.insert("Cat", values(4))
        try fixture.update(objects.dogs[1], ["secret": "Secret 2, again"])
        try fixture.link(objects.dogs[0], "friends", objects.dogs[1])
        try fixture.link(objects.dogs[1], "friends", objects.cat)
        try fixture.link(objects.dogs[2], "friends", objects.cat)
        return objects
    }

    /// No file of the store has a text in any case.
    private func expectGone(_ texts: String..., in store: MigratedStore) throws {
        for file in try FileManager.default.contentsOfDirectory(at: store.url, includingPropertiesForKeys: nil) {
            let data = try Data(contentsOf: file)
            for text in texts.flatMap({ [$0, $0.uppercased()] }) {
                #expect(data.range(of: Data(text.utf8)) == nil, "\(text) is in \(file.lastPathComponent)")
            }
        }
    }

    private func expectErased(_ id: ObjectID, _ store: Store) throws {
        let rows = try store.history(of: id).filter { $0.kind == .inserted || $0.kind == .deleted }
        #expect(try rows.allSatisfy(\.isErased) && (store.baseline() != nil || rows.count == 2), "\(rows)")
        let erasure = try #require(store.erasures().last)
        #expect(erasure.record.objects == [id] && erasure.record.properties.isEmpty)
    }

    /// A dog is erased while no model has dogs, and dogs come back.
    @Test(arguments: ["ABA", "ADA", "ABDA", "ABBDCA"], [false, true])
    func anObjectOfADepartedEntityIsDeleted(path: String, isCut: Bool) throws {
        defer { store.remove() }
        let (objects, first) = try store.open(model("A")) { (try fill($0), try $0.store.head()) }
        let erased = objects.dogs[1]
        for (step, name) in path.enumerated().dropFirst() {
            try store.open(model(name)) { fixture in
                let store = fixture.store
                if step == 1 {
                    let before = try store.head()
                    let request = ErasureRequest(objects: [erased], note: ErasureFixture.note())
                    let plan = try store.planErasure(request)
                    #expect(plan.objects == [erased] && plan.deletedCount == 1)
                    let report = try store.erase(request)
                    #expect(report.isComplete && report.deletedCount == 1 && report.deletedOthers.isEmpty)
                    try #expect(store.objectChanges(after: before, through: store.head()).deleted == [erased])
                    // An object that is deleted can be erased again.
                    try #expect(store.erase(request).deletedCount == 0)
                }
                try expectErased(erased, store)
                if isCut { try TravelHistory.cutAtEnd.drop(store, isFirst: false) }
                try #expect(store.rebuild().isUnchanged)
                let dump = try StateDump(store, at: store.head())
                #expect(dump.objects[erased] == nil)
                // In C, which the store never had, the name means other dogs.
                let hasDogs = name == "A"
                if !isCut {
                    // It was there, with links and without values.
                    let past = try StateDump(store, at: first, through: store.schema(at: first))
                    #expect(past[objects.person, "dogs"] == .members(objects.dogs))
                    #expect(past[erased, "secret"] == .value(.null) && past[erased, "label"] == .value(.null))
                    #expect(past[erased, "friends"] == .members([objects.cat, objects.dogs[0]]))
                }
                #expect(dump[objects.cat, "friends"] == .members(hasDogs && !isCut ? [objects.dogs[2]] : []))
                guard step == path.count - 1 else { return }
                let left = [objects.dogs[0], objects.dogs[2]]
                #expect(dump[objects.person, "dogs"] == .members(left))
                #expect(dump[left[0], "friends"] == .members([]))
                #expect(dump[left[1], "friends"] == .members(isCut ? [] : [objects.cat]))
                #expect(dump[left[0], "secret"] == .value("Secret 1") && dump[left[1], "loud"] == .value("SECRET 3"))
                // The value is free for others.
                try fixture.update(left[0], ["label": "Label 2"])
                try fixture.delete(left[1])
                try #expect(store.rebuild().isUnchanged)
            }
            if step == 1 { try expectGone("Secret 2", "Label 2", in: store) }
        }
    }

    /// Views and full text have neither the object nor its values, in the store and in one that follows it.
    @Test func viewsAndAFollowerLoseTheObject() throws {
        defer {
            store.remove()
            copy.remove()
        }
        let objects = try store.open(model("A", hasViews: true)) { fixture in
            let objects = try fill(fixture)
            let (position, frames) = try (
                fixture.store.logPosition(), fixture.store.frames(after: .zero, limitInBytes: .max)
            )
            try Store.makeReplica(of: position, at: copy.url, beginningWith: frames)
            return objects
        }
        for name in "BA" {
            try store.open(model(name, hasViews: true)) { fixture in
                if name == "B" {
                    _ = try fixture.store.erase(ErasureRequest(objects: [objects.dogs[1]], note: ErasureFixture.note()))
                }
                try #expect(fixture.store.rebuild().isUnchanged)
                try copy.open { follower in
                    let last = try follower.logPosition().transaction
                    try follower.receive(fixture.store.frames(after: last, limitInBytes: .max))
                    try #expect(follower.logPosition() == fixture.store.logPosition())
                    let (dump, own) = try (
                        StateDump(follower, at: follower.head()), StateDump(fixture.store, at: fixture.store.head())
                    )
                    #expect(dump == own && dump.objects[objects.dogs[1]] == nil)
                    let report = try follower.verify()
                    #expect(report.isSound && report.erasures.count == 1, "\(report.problems.map(\.description))")
                    try #expect(follower.rebuild().isUnchanged)
                }
            }
            for place in [store, copy] { try expectGone("Secret 2", "Label 2", in: place) }
        }
    }

    /// A backup loses the object with the list of erasures, whatever model it has.
    @Test(arguments: ["A", "B"]) func aRestoredCopyLosesTheObject(backedUp: Character) throws {
        defer {
            store.remove()
            copy.remove()
        }
        let objects = try store.open(model("A")) { fixture in
            let objects = try fill(fixture)
            if backedUp == "A" { _ = try fixture.store.backup(to: copy.url) }
            return objects
        }
        let list = try store.open(model("B")) { fixture in
            if backedUp == "B" { _ = try fixture.store.backup(to: copy.url) }
            _ = try fixture.store.erase(ErasureRequest(objects: [objects.dogs[1]], note: ErasureFixture.note()))
            return try fixture.store.erasures()
        }
        try Store.make(list, in: copy.url)
        try expectGone("Secret 2", "Label 2", in: copy)
        for name in "BA" {
            try copy.open(model(name)) { fixture in
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(dump.objects[objects.dogs[1]] == nil)
                #expect(dump[objects.cat, "secret"] == .value("Secret 4"))
                if name == "A" {
                    #expect(dump[objects.person, "dogs"] == .members([objects.dogs[0], objects.dogs[2]]))
                }
                try #expect(fixture.store.rebuild().isUnchanged)
            }
        }
    }

    /// Values are erased by the name that the attribute had, while the object, its entity or the attribute is hidden.
    @Test(arguments: ["ABA", "ACA", "ADA", "ABCDBA", "ACDCA"])
    func hiddenValuesAreErased(path: String) throws {
        defer { store.remove() }
        let objects = try store.open(model("A")) { try fill($0) }
        let erased = objects.dogs[1]
        for (step, name) in path.enumerated().dropFirst() {
            try store.open(model(name)) { fixture in
                let store = fixture.store
                if step == 1 {
                    let request = ErasureRequest(
                        objects: [erased, objects.cat], attributes: ["secret"], note: ErasureFixture.note())
                    let report = try store.erase(request)
                    #expect(report.isComplete && report.deletedCount == 0)
                    let record = try #require(store.erasures().last).record
                    #expect(record.objects == [erased, objects.cat].sorted() && !record.properties.isEmpty)
                }
                try #expect(store.rebuild().isUnchanged)
                let dump = try StateDump(store, at: store.head())
                #expect(dump[objects.cat, "label"] == .value("Label 4"))
                if name == "A" || name == "B" {
                    #expect(dump[objects.cat, "secret"] == .value(.null) && dump[objects.cat, "loud"] == .value(.null))
                }
                guard step == path.count - 1 else { return }
                #expect(dump[erased, "secret"] == .value(.null) && dump[erased, "loud"] == .value(.null))
                #expect(
                    dump[erased, "label"] == .value("Label 2")
                        && dump[erased, "owner"] == .value(.objectID(objects.person)))
                #expect(dump[objects.dogs[0], "secret"] == .value("Secret 1"))
                #expect(dump[objects.person, "dogs"] == .members(objects.dogs))
            }
            try expectGone("Secret 2", "Secret 4", in: store)
        }
    }

    /// A hidden attribute that must have a value gets its default, or cannot be erased alone.
    @Test(arguments: ["B", "C"], [false, true]) func aHiddenValueThatIsNeeded(name: Character, hasDefault: Bool) throws
    {
        defer { store.remove() }
        let secret = Describe.attribute("secret", default: hasDefault ? "none" : nil)
        let objects = try store.open(model("A", secret: secret)) { try fill($0) }
        let request = ErasureRequest(
            objects: [objects.dogs[1]], attributes: ["secret"], note: ErasureFixture.note())
        try store.open(model(name, secret: secret)) { fixture in
            if hasDefault {
                try #expect(fixture.store.erase(request).isComplete)
            } else {
                let error = #expect(throws: StrataError.self) { try fixture.store.erase(request) }
                #expect(error?.code == .validationMissingMandatoryProperty && error?.context.key == "secret")
            }
            var none = ErasureRequest(objects: request.objects, attributes: nil, note: ErasureFixture.note())
            none.attributes = []
            let error = #expect(throws: StrataError.self) { try fixture.store.erase(none) }
            #expect(error?.code == .invalidRequest)
            none.attributes = ["nothing"]
            let unknown = #expect(throws: StrataError.self) { try fixture.store.erase(none) }
            #expect(unknown?.code == .unknownKey)
        }
        if hasDefault { try expectGone("Secret 2", in: store) }
        try store.open(model("A", secret: secret)) { fixture in
            let dump = try StateDump(fixture.store, at: fixture.store.head())
            #expect(dump[objects.dogs[1], "secret"] == .value(hasDefault ? "none" : "Secret 2, again"))
            try #expect(fixture.store.rebuild().isUnchanged)
        }
    }
}
