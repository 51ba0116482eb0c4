import Foundation
import StrataModel
import StrataStore
import Testing

/// The store that `store-crash-child migrate` works on.
enum MigratedNotes {
    /// Options under which a store takes the older model again.
    static var backAndForth: StoreOptions {
        var options = StoreOptions()
        options.migration.allowsDowngrade = true
        return options
    }

    static func model(_ type: AttributeType) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                properties: [.attribute(AttributeDescription(name: "x", type: type, isOptional: true))],
                indexes: [FetchIndexDescription(name: "byX", elements: [FetchIndexElement("x")])])
        ])
    }

    /// Goes on with the model that was on its way in; the other is refused.
    static func finish(_ directory: URL) throws {
        var finished = 0
        for type in [AttributeType.string, .integer64] where finished == 0 {
            do {
                try Store.open(.directory(directory), model: try model(type), options: backAndForth).close()
                finished += 1
            } catch let error as StrataError where error.code == .migration {
                continue
            }
        }
        #expect(finished == 1)
    }

    /// What the notes say, as text: now, or at a sequence through the model of then.
    static func values(
        _ store: Store, at eventNumber: EventNumber? = nil, through schema: Schema? = nil
    ) throws -> Set<String> {
        var values: Set<String> = []
        // The model may become another one meanwhile.
        let schema = schema ?? store.schema
        guard let note = schema.entity(named: "Note"), let x = note.property(named: "x") else { return values }
        try store.read(at: try eventNumber ?? store.head(), through: schema) { snapshot in
            try snapshot.scan(note.id) { _, row in
                let value = try row.converted(to: note).withReader(note.layout) { reader throws(CorruptRecord) in
                    try reader.value(x.slot)
                }
                switch value {
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
