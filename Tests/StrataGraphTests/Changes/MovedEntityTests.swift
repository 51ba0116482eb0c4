import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// An entity goes from one parent to another that has the same properties: the values of its objects, their history, and
/// what a revert, an erasure, past moments and later models make of them.
struct MovedEntityTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func container(_ model: ManagedObjectModel) -> PersistentContainer {
        var options = PersistentStoreOptions(
            durability: .disposable, migration: .automatic, allowsModelDowngrade: true)
        options.encryption = StoreEncryption(key: firstKey)
        return PersistentContainer(name: "Test", model: model, at: .url(url), options: options)
    }

    private static func attribute(
        _ name: String, _ type: AttributeType = .string, default value: AttributeValue? = nil,
        encryption: AttributeEncryption? = nil, from old: String? = nil
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: true, defaultValue: value,
                allowsExternalBinaryDataStorage: type == .binaryData,
                elements: type != .composite
                    ? [] : [AttributeDescription(name: "city", type: .string, isOptional: true)],
                encryption: encryption, renamingIdentifier: old))
    }

    /// - Parameter old: the names that properties of B had before, by prefix.
    private static func properties(prefix: String = "", from old: String? = nil) -> [PropertyDescription] {
        func was(_ name: String) -> String? { old.map { $0 + name } }
        return [
            attribute(prefix + "name", from: was("name")),
            attribute(prefix + "count", .integer64, default: .integer(3), from: was("count")),
            attribute(prefix + "photo", .binaryData, from: was("photo")),
            attribute(prefix + "secret", encryption: .storeKey, from: was("secret")),
            attribute(prefix + "address", .composite, from: was("address")),
        ]
    }

    /// - Parameters:
    ///   - prefix: of the names of B's properties.
    ///   - more: further attributes of Leaf.
    private static func model(
        under parent: String?, prefix: String = "", from old: String? = nil, more: [PropertyDescription] = []
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "A", properties: properties(),
                indexes: [FetchIndexDescription(name: "byName", elements: [FetchIndexElement("name")])]),
            EntityDescription(
                name: "B", properties: properties(prefix: prefix, from: old),
                uniquenessConstraints: [[prefix + "name"]]),
            EntityDescription(
                name: "Leaf", superentityName: parent,
                properties: [attribute("mark")] + (parent == nil ? properties() : []) + more),
            EntityDescription(name: "Tip", superentityName: "Leaf"),
            EntityDescription(name: "Twin", superentityName: "A", properties: [attribute("othername")]),
        ])
    }

    private static let photo = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func object(_ mark: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        var request = FetchRequest<ManagedObject>(entityName: "Leaf")
        request.predicate = try FetchPredicate(format: "mark == %@", argumentArray: [mark])
        return try #require(try context.fetch(request).first)
    }

    /// A leaf and a tip with values of all kinds, and an A and a B beside them.
    ///
    /// - Parameter prefix: of the names of B's properties.
    private func fill(_ context: ManagedObjectContext, prefix: String = "") throws {
        for (index, entity) in ["Leaf", "Tip", "A", "B"].enumerated() {
            let object = try context.insertNewObject(forEntityName: entity)
            let prefix = entity == "B" ? prefix : ""
            if index < 2 { try object.setValue(entity, forKey: "mark") }
            try object.setValue("name-of-\(entity)", forKey: prefix + "name")
            try object.setValue(index == 0 ? nil : Int64(index), forKey: prefix + "count")
            try object.setValue(Self.photo, forKey: prefix + "photo")
            try object.setValue("secret-of-\(entity)", forKey: prefix + "secret")
            try object.setValue(["city": "city-of-\(entity)"], forKey: prefix + "address")
        }
        try context.save()
    }

    /// What an object's attributes show, as texts, without a prefix of their names.
    private func attributes(_ object: ManagedObject, prefix: String = "") throws -> [String: String] {
        var state: [String: String] = [:]
        for name in ["name", "count", "photo", "secret"] {
            state[name] =
                switch try object.value(forKey: prefix + name) {
                case nil: "nil"
                case let data as Data: "\(data.count): \(data == Self.photo)"
                case let value?: "\(value)"
                }
        }
        state["city"] = (try object.value(forKeyPath: prefix + "address.city") as? String) ?? "nil"
        return state
    }

    private static let leaf = [
        "name": "name-of-Leaf", "count": "nil", "photo": "200000: true", "secret": "secret-of-Leaf",
        "city": "city-of-Leaf",
    ]

    private static let tip = [
        "name": "name-of-Tip", "count": "1", "photo": "200000: true", "secret": "secret-of-Tip",
        "city": "city-of-Tip",
    ]

    private func check(_ context: ManagedObjectContext, prefix: String = "") throws {
        #expect(try attributes(object("Leaf", context), prefix: prefix) == Self.leaf)
        #expect(try attributes(object("Tip", context), prefix: prefix) == Self.tip)
        for key in ["name", "secret"] {
            var request = FetchRequest<ManagedObject>(entityName: "Leaf")
            request.predicate = try FetchPredicate(
                format: "%K == %@", argumentArray: [prefix + key, "\(key)-of-Leaf"])
            #expect(try context.fetch(request).count == 1, "\(prefix)\(key)")
        }
    }

    /// To the other parent, back, forward, and through two further models.
    @Test(arguments: ["B", "renamed", "none"]) func valuesOfAllKindsStay(way: String) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let (prefix, old) = way == "renamed" ? ("other", "") : ("", nil)
        let parent = way == "none" ? nil : "B"
        let first = try Self.model(under: "A", prefix: prefix)
        let second = try Self.model(under: parent, prefix: prefix, from: old)
        let third = try Self.model(under: parent, prefix: prefix, from: old, more: [Self.attribute("extra")])
        try withLoaded(container(first)) { try fill($0, prefix: prefix) }
        for (step, model) in [second, first, second, third, second, first].enumerated() {
            let opened = container(model)
            try withLoaded(opened) { context in
                try check(context, prefix: [1, 5].contains(step) ? "" : prefix)
                #expect(try opened.store.rebuild().isUnchanged)
            }
        }
    }

    /// The history, a revert of a save before the migration, and moments on both sides of it.
    @Test func theHistoryGoesThroughTheMove() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let (first, second) = (try Self.model(under: "A"), try Self.model(under: "B"))
        var changed = TransactionNumber.zero
        var (born, last) = (EventNumber.zero, EventNumber.zero)
        let old = container(first)
        try withLoaded(old) { context in
            try fill(context)
            born = try old.head()
            try object("Leaf", context).setValue("newer", forKey: "name")
            try context.save()
            changed = try #require(try old.transactions().last).number
            last = try old.head()
        }
        for model in [second, first, second] {
            let opened = container(model)
            try withLoaded(opened) { context in
                let leaf = try object("Leaf", context)
                #expect(try leaf.value(forKey: "name") as? String == "newer")
                let texts = try opened.history(of: leaf.objectID).flatMap(\.changes).filter { $0.key == "name" }
                    .map(\.description)
                #expect(texts.suffix(2) == ["name: \"name-of-Leaf\" -> \"newer\"", "name: nil -> \"name-of-Leaf\""])
                #expect(texts.dropLast(2).allSatisfy { $0 == "name: \"newer\" -> \"newer\"" }, "\(texts)")
                let whole = try opened.changes(from: .event(born), to: .event(opened.head()))
                let mine = whole.first { $0.objectID == leaf.objectID }
                #expect(mine?["name"]?.description == "name: \"name-of-Leaf\" -> \"newer\"", "\(whole)")
                #expect(try opened.blame(leaf.objectID)["name"] != nil)
                try context.revert(changed)
                #expect(try leaf.value(forKey: "name") as? String == "name-of-Leaf")
                context.rollback()
                for (moment, name) in [(born, "name-of-Leaf"), (last, "newer"), (try opened.head(), "newer")] {
                    let past = try opened.context(asOf: .event(moment))
                    var expected = Self.leaf
                    expected["name"] = name
                    try #expect(attributes(object("Leaf", past)) == expected)
                }
                let then = try opened.context(asOf: .event(born), model: .ofThen)
                try #expect(attributes(object("Leaf", then)) == Self.leaf)
            }
        }
    }

    /// A number that lives on for others has its present name in each entity.
    @Test func theHistoryNamesAnAttributeAsItsEntityDoes() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        var born = EventNumber.zero
        let old = container(try Self.model(under: "A", prefix: "other"))
        try withLoaded(old) { context in
            try fill(context, prefix: "other")
            born = try old.head()
            for object in try context.fetch(FetchRequest<ManagedObject>(entityName: "A")) {
                try object.setValue("newer \(object.entity.name)", forKey: "name")
            }
            try context.save()
        }
        let opened = container(try Self.model(under: "B", prefix: "other", from: ""))
        try withLoaded(opened) { context in
            let leaf = try object("Leaf", context).objectID
            let mine = try opened.history(of: leaf).flatMap(\.changes).filter { $0.key.hasSuffix("name") }
            #expect(
                mine.map(\.description).suffix(2) == [
                    "othername: \"name-of-Leaf\" -> \"newer Leaf\"", "othername: nil -> \"name-of-Leaf\"",
                ])
            #expect(mine.allSatisfy { $0.key == "othername" }, "\(mine)")
            let whole = try opened.changes(from: .event(born), to: .event(opened.head()))
            for object in whole {
                let names = object.properties.map(\.key).filter { $0.hasSuffix("name") }
                #expect(names == [["Leaf", "Tip"].contains(object.entityName) ? "othername" : "name"], "\(object)")
            }
            #expect(whole.contains { $0.objectID == leaf } && whole.contains { $0.entityName == "A" })
        }
    }

    /// An erasure reaches the values of before the move, and spares those of objects that stayed.
    @Test func anErasureReachesTheFormerNumber() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try Self.model(under: "A", prefix: "other")
        let second = try Self.model(under: "B", prefix: "other", from: "")
        try withLoaded(container(first)) { context in
            try fill(context, prefix: "other")
            try object("Leaf", context).setValue("name-in-between", forKey: "name")
        }
        let opened = container(second)
        try withLoaded(opened) { context in
            let leaf = try object("Leaf", context).objectID
            // Twin has two attributes, and the values of one of Leaf's were under the number of the other.
            let twin = try context.insertNewObject(forEntityName: "Twin")
            try twin.setValue("name-of-Twin", forKey: "name")
            try context.save()
            let error = thrownError {
                try opened.erase([leaf, twin.objectID], attributes: ["othername"], reason: "asked")
            }
            #expect(error?.code == .invalidRequest && error?.context.key == "name", "\(error as Any)")
            #expect(try twin.value(forKey: "name") as? String == "name-of-Twin")
            try opened.erase([leaf], attributes: ["othername"], reason: "asked")
            let values = try opened.history(of: leaf).flatMap(\.changes).filter { $0.key == "othername" }
            #expect(values.allSatisfy { $0.before.isNull && $0.after.isNull }, "\(values)")
            let kept = try context.fetch(FetchRequest<ManagedObject>(entityName: "A"))
            #expect(try kept.map { try $0.value(forKey: "name") as? String } == ["name-of-A", "name-of-Twin"])
        }
        let bytes = try Data(contentsOf: url.appending(path: "data.mdb"))
        for text in ["name-of-Leaf", "name-in-between"] {
            #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text)")
        }
        for text in ["name-of-A", "name-of-B", "name-of-Tip"] {
            #expect(bytes.range(of: Data(text.utf8)) != nil, "\(text)")
        }
        try withLoaded(container(first)) { context in
            try #expect(object("Leaf", context).value(forKey: "name") == nil)
            try #expect(attributes(object("Tip", context)) == Self.tip)
        }
    }
}
