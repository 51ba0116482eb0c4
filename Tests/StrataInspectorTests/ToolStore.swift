import Foundation
import StrataModel
import StrataStore

/// A small store on disk whose clock and authors are fixed, so that whole output can be compared.
final class ToolStore {
    let directory: URL
    let red: ObjectID
    let blue: ObjectID

    var path: String { directory.path(percentEncoded: false) }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: "tool-\(UUID().uuidString).strata")
        let clock = TestClock()
        var options = StoreOptions()
        options.clock = { clock.next() }
        let store = try Store.open(.directory(directory), model: try Self.model(), options: options)
        defer { store.close() }
        guard let tie = store.schema.entity(named: "BowTie"), let drawer = store.schema.entity(named: "Drawer") else {
            throw StrataError(.unknownEntity, "BowTie")
        }
        red = try store.newObjectID(in: tie.id)
        blue = try store.newObjectID(in: tie.id)
        let top = try store.newObjectID(in: drawer.id)
        func image(_ entity: EntitySchema, _ values: [String: AttributeValue]) throws -> RowImage {
            var builder = RowBuilder(entity.layout)
            for (name, value) in values {
                guard let property = entity.property(named: name) else { throw StrataError(.unknownKey, name) }
                try builder.set(property.slot, value)
            }
            return try builder.finish()
        }
        func save(_ author: String, _ fill: (inout ChangeSet) throws -> Void) throws -> EventNumber {
            var changes = ChangeSet(base: try store.head(), modelVersion: store.schema.version, author: author)
            try fill(&changes)
            guard case .saved(let receipt) = try store.save(changes) else { throw StrataError(.merge, "stale") }
            return receipt.eventNumber
        }
        _ = try save("ann") { changes in
            changes.insertions.append(.init(id: top, image: try image(drawer, ["label": .string("top")])))
        }
        let first: [String: AttributeValue] = [
            "name": .string("Red"), "rating": .double(4.5), "photo": .data(Data(count: 2048)), "drawer": .objectID(top),
        ]
        let inserted = try save("ann") { changes in
            changes.insertions.append(.init(id: red, image: try image(tie, first)))
            changes.insertions.append(.init(id: blue, image: try image(tie, ["name": .string("Blue\n\u{1B}[2J")])))
        }
        _ = try save("bob") { changes in
            let second = first.merging(
                [
                    "rating": .double(5),
                    "lastWorn": .date(Date(timeIntervalSince1970: 1_700_000_000)),
                ], uniquingKeysWith: { $1 })
            let slots = ["rating", "lastWorn"].compactMap { tie.property(named: $0)?.slot }
            changes.updates.append(
                .init(
                    id: red, baseRevision: EventNumber(rawValue: inserted.rawValue - 1),
                    image: try image(tie, second), changedSlots: slots))
        }
        _ = try save("bob") { changes in changes.deletions.append(.init(id: blue, baseRevision: inserted)) }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "BowTie",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "rating", type: .double, defaultValue: .double(0))),
                    .attribute(AttributeDescription(name: "lastWorn", type: .date, isOptional: true)),
                    .attribute(AttributeDescription(name: "photo", type: .binaryData, isOptional: true)),
                    .relationship(
                        RelationshipDescription(name: "drawer", destinationEntityName: "Drawer", inverseName: "ties")),
                ],
                indexes: [FetchIndexDescription(name: "byName", elements: [FetchIndexElement("name")])]),
            EntityDescription(
                name: "Drawer",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "ties", destinationEntityName: "BowTie", inverseName: "drawer", isToMany: true)),
                ]),
        ])
    }
}

/// A second later at each look, from 2026-01-01.
final class TestClock: @unchecked Sendable {
    private let lock = NSLock()
    private var seconds = 1_767_225_600.0

    func next() -> Date {
        lock.withLock {
            defer { seconds += 1 }
            return Date(timeIntervalSince1970: seconds)
        }
    }
}

extension ToolStore {
    /// Flips a bit of the row of `red` in the file, past the copy that the event holds.
    func damageARow() throws {
        let file = directory.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        // The newest page that has the row is the live one: the event before it says 4.5, the row says 5.
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(directory), model: nil, options: options)
        let image = try store.read(at: try store.head()) { snapshot in
            try snapshot.row(red).map { Array($0.image) } ?? []
        }
        store.close()
        var search = bytes.startIndex..<bytes.endIndex
        while let found = bytes.range(of: Data(image), in: search) {
            let page = found.lowerBound / 4096 * 4096
            let entries = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page + 14, as: UInt16.self) }
            // What a page holds before its entries is left of something else, and is never written again.
            if found.lowerBound - page >= Int(entries) { bytes[found.lowerBound + image.count - 1] ^= 1 }
            search = found.upperBound..<bytes.endIndex
        }
        try bytes.write(to: file)
    }
}
