import Foundation
import StrataModel
import StrataStore

/// Notes with an attribute of one type or another.
enum MigratedModel {
    static func make(_ type: AttributeType) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                properties: [.attribute(AttributeDescription(name: "x", type: type, isOptional: true))],
                indexes: [FetchIndexDescription(name: "byX", elements: [FetchIndexElement("x")])])
        ])
    }

    /// Makes a store of so many, with the numbers from zero on.
    static func fill(_ directory: URL, _ count: Int) throws {
        let store = try Store.open(.directory(directory), model: try make(.integer64))
        defer { store.close() }
        guard let note = store.schema.entity(named: "Note"), let x = note.property(named: "x") else { return }
        var changes = ChangeSet(base: try store.head(), modelVersion: store.schema.version)
        for number in 0..<count {
            var builder = RowBuilder(note.layout)
            try builder.set(x.slot, .integer(Int64(number)))
            changes.insertions.append(.init(id: try store.newObjectID(in: note.id), image: try builder.finish()))
        }
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "nobody else saves") }
    }

    /// What the notes say, as text.
    static func values(_ store: Store) throws -> Set<String> {
        var values: Set<String> = []
        guard let note = store.schema.entity(named: "Note"), let x = note.property(named: "x") else { return values }
        try store.read(at: try store.head()) { snapshot in
            try snapshot.scan(note.id) { _, row in
                let image = try row.converted(to: note)
                switch try image.withReader(note.layout, { reader throws(CorruptRecord) in try reader.value(x.slot) }) {
                case .string(let text): values.insert(text)
                case .integer(let number): values.insert(String(number))
                default: break
                }
                return true
            }
        }
        return values
    }
}
