import Foundation
import LMDB
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// What the doctor saves is what the store said, whichever record of the log is damaged: nothing that was removed comes
/// back, and nothing that is there is missing.
@Suite struct DoctorTruthTests {
    private let directory = FileManager.default.temporaryDirectory.appending(
        component: "truth-\(UUID().uuidString).strata", directoryHint: .isDirectory)
    private var path: String { directory.path(percentEncoded: false).trimmingSuffix("/") }
    private var new: String { path + ".new" }

    private static func model() throws -> ManagedObjectModel {
        func text(_ name: String) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true))
        }
        func many(_ name: String, _ destination: String, _ inverse: String, isOrdered: Bool = false)
            -> PropertyDescription
        {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: destination, inverseName: inverse, isToMany: true,
                    isOrdered: isOrdered))
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Item",
                properties: [
                    text("name"), text("text"),
                    .relationship(
                        RelationshipDescription(name: "owner", destinationEntityName: "Owner", inverseName: "items")),
                    many("tags", "Tag", "items"), many("lists", "Tag", "ranked"),
                ], indexes: [FetchIndexDescription(name: "byName", elements: [FetchIndexElement("name")])]),
            EntityDescription(
                name: "Owner", properties: [text("name"), many("items", "Item", "owner", isOrdered: true)]),
            EntityDescription(
                name: "Tag",
                properties: [
                    text("name"), many("items", "Item", "tags"), many("ranked", "Item", "lists", isOrdered: true),
                ]
            ),
        ])
    }

    /// Makes a store with a history of every kind of event.
    private func fill(seed: UInt64) throws {
        let store = try Store.open(.directory(directory), model: try Self.model())
        defer { store.close() }
        var generator = SeededGenerator(seed: seed)
        let context = try PersistentContainer(over: store).newBackgroundContext()
        func make(_ entity: String, _ name: String) throws -> ManagedObject {
            let object = try context.insertNewObject(forEntityName: entity)
            try object.setValue(name, forKey: "name")
            return object
        }
        let owners = try (0..<3).map { try make("Owner", "owner \($0)") }
        let tags = try (0..<4).map { try make("Tag", "tag \($0)") }
        var items = try (0..<12).map { try make("Item", "item \($0)") }
        try context.save()
        for step in 0..<36 {
            let item = items[Int.random(in: 0..<items.count, using: &generator)]
            let tag = tags[step % tags.count]
            let members = try item.value(forKey: "tags") as? Set<ManagedObject> ?? []
            switch step % 6 {
            case 0, 3: try item.setValue(members.union([tag, tags[(step + 1) % 4]]), forKey: "tags")
            case 1: try item.setValue(members.isEmpty ? [tag] : Set(members.dropFirst()), forKey: "tags")
            case 2:
                try item.setValue(owners[step % 3], forKey: "owner")
                try item.setValue("text of \(step) " + String(repeating: "long ", count: step * 30), forKey: "text")
            case 4:
                var ranked = try tag.value(forKey: "ranked") as? [ManagedObject] ?? []
                if !ranked.contains(item) { ranked.append(item) }
                if ranked.count < 3 { ranked += items.filter { !ranked.contains($0) }.prefix(2) }
                try tag.setValue(Array(ranked.reversed()), forKey: "ranked")
            default:
                if step % 12 == 5 { context.delete(items.remove(at: step % items.count)) }
                items.append(try make("Item", "late \(step)"))
            }
            try context.save()
        }
    }

    /// Everything that a store says.
    private func contents(_ path: String) throws -> [String] {
        let store = try Store.open(.directory(URL(filePath: path, directoryHint: .isDirectory)), model: nil)
        defer { store.close() }
        var lines: [String] = []
        try store.read(at: try store.head()) { snapshot in
            for entity in store.schema.entities {
                var ids: [ObjectID] = []
                try snapshot.scan(entity.id) { id, row in
                    ids.append(id)
                    try row.converted(to: entity).bytes.withUnsafeBytes { bytes in
                        let reader = try RowReader(bytes, layout: entity.layout)
                        for property in entity.properties where property.storage != nil {
                            lines.append("\(entity.name) \(id) \(property.name) = \(try reader.value(property.slot))")
                        }
                    }
                    return true
                }
                for id in ids {
                    for property in entity.properties where property.storage == nil && property.relationship != nil {
                        let members = try snapshot.members(of: property.id, owner: id)
                        lines.append("\(entity.name) \(id) \(property.name) = \(members)")
                        #expect(try snapshot.memberCount(of: property.id, owner: id) == members.count)
                    }
                }
            }
        }
        return lines
    }

    /// Events by kind, with the bytes by which each is found in the file, and the same of a transaction.
    private func marks() throws -> [(kind: String, mark: Data)] {
        var options = EnvironmentOptions()
        options.access = .readOnly
        let environment = try Environment.open(at: path, options: options)
        defer { #expect(throws: Never.self) { try environment.close() } }
        let tables = try environment.openTables(["events", "transactions"])
        var byKind: [String: [Data]] = [:]
        try environment.read { transaction in
            for (table, name) in zip(tables, ["event", "transaction"]) {
                try transaction.withCursor(table) { cursor in
                    var found = try cursor.first()
                    while found {
                        let kind = name == "event" ? "\(try EventView(cursor.value).header.kind)" : name
                        let range = name == "event" ? EventHeader.digestOffset..<EventHeader.size : 8..<56
                        byKind[kind, default: []].append(Data(cursor.value[range]))
                        found = try cursor.next()
                    }
                }
            }
        }
        // One from the beginning and one from the middle of each kind.
        return byKind.sorted { $0.key < $1.key }.flatMap { kind, marks in
            Set([min(1, marks.count - 1), marks.count / 2]).map { (kind, marks[$0]) }
        }
    }

    private struct Report: Decodable {
        struct Into: Decodable { let problems: Int }
        struct Saved: Decodable {
            struct Difference: Decodable { let view: String, records: Int, first: String }
            let differences: [Difference]
        }
        let sound: Bool
        let into: Into?
        let saved: Saved?
    }

    @Test(arguments: RandomTesting.seeds.prefix(2)) func whatTheDoctorSavesIsWhatTheStoreSaid(seed: UInt64) throws {
        defer { for path in [path, new] { try? FileManager.default.removeItem(atPath: path) } }
        try fill(seed: seed)
        let before = try contents(path)
        let file = directory.appending(component: "data.mdb")
        let sound = try Data(contentsOf: file)
        let marks = try marks()
        #expect(
            Set(marks.map(\.kind)).isSuperset(of: ["deleted", "inserted", "linked", "moved", "unlinked", "updated"]))
        for (kind, mark) in marks {
            let place: Comment = "seed \(seed), \(kind)"
            var damaged = sound
            var search = damaged.startIndex..<damaged.endIndex
            while let found = damaged.range(of: mark, in: search) {
                damaged[found.lowerBound] ^= 4
                search = found.upperBound..<damaged.endIndex
            }
            try damaged.write(to: file)
            try? FileManager.default.removeItem(atPath: new)
            let result = try Tool.run("doctor", path, "--into", new, "--json")
            #expect(result.exitCode == 1 && result.error.isEmpty, "\(place): \(result)")
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
            #expect(!report.sound && report.into?.problems == 0, "\(place): \(result)")
            #expect(report.saved?.differences.isEmpty == true, "\(place): \(result)")
            let after = try contents(new)
            #expect(after == before, "\(place): \(Set(after).symmetricDifference(before).sorted().prefix(6))")
        }
        try sound.write(to: file)
    }
}
