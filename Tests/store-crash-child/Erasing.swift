import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// Saves of notes with texts of their own, and erasures of notes beside them.
///
/// Save n inserts note n and changes the text of the one before. Erased are the notes with even numbers, oldest first, once
/// the note has been changed.
struct Erasing: Sendable {
    private let store: Store
    private let note: EntitySchema
    private let slots: (number: Int, text: Int)

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer64)),
                    .attribute(AttributeDescription(name: "text", type: .string)),
                ],
                indexes: [FetchIndexDescription(name: "byText", elements: [FetchIndexElement("text")])])
        ])
    }

    /// What the texts of a note consist of, and what no other text has. A block leaves out where texts differ, so that marks
    /// that count would look like others.
    static func mark(_ number: Int) -> String {
        var generator = SeededGenerator(seed: UInt64(number))
        return "keepsake\(String(generator.next(), radix: 16))."
    }

    /// Some are longer than a page of the file.
    private static func text(_ number: Int, _ version: String) -> String {
        String(repeating: mark(number) + version, count: number % 7 == 0 ? 500 : 3)
    }

    init(_ store: Store) throws {
        self.store = store
        guard let note = store.schema.entity(named: "Note"), let number = note.property(named: "number"),
            let text = note.property(named: "text")
        else { throw StrataError(.unknownEntity, "Note") }
        self.note = note
        slots = (number.slot, text.slot)
    }

    /// The notes that are there, by their numbers.
    func notes() throws -> [Int: ObjectID] {
        var notes: [Int: ObjectID] = [:]
        try store.read(at: try store.head()) { snapshot in
            try snapshot.scan(note.id) { id, row in
                let image = try row.converted(to: note)
                try image.withReader(note.layout) { reader throws(CorruptRecord) in
                    notes[Int(reader.integer(slots.number) ?? 0)] = id
                }
                return true
            }
        }
        return notes
    }

    func save(_ number: Int) throws {
        var changes = ChangeSet(
            base: try store.head(), modelVersion: store.schema.version, metadata: ["t": "1", "n": String(number)])
        var builder = RowBuilder(note.layout)
        try builder.set(slots.number, .integer(Int64(number)))
        try builder.set(slots.text, .string(Self.text(number, "first ")))
        changes.insertions.append(.init(id: try store.newObjectID(in: note.id), image: try builder.finish()))
        if let previous = try notes()[number - 1] {
            let (image, revision) = try store.read(at: try store.head()) { snapshot in
                guard let row = try snapshot.row(previous) else {
                    throw StrataError(.corrupt, "an acknowledged note is gone")
                }
                return (try row.converted(to: note), row.revision)
            }
            var builder = try RowBuilder(image, layout: note.layout)
            try builder.set(slots.text, .string(Self.text(number - 1, "second ")))
            changes.updates.append(
                .init(id: previous, baseRevision: revision, image: try builder.finish(), changedSlots: [slots.text]))
        }
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "nobody else saves these") }
    }

    /// - Returns: the note that was erased; nil if none is old enough.
    func erase() throws -> Int? {
        let notes = try notes()
        let newest = notes.keys.max() ?? 0
        guard let (number, id) = notes.filter({ $0.key % 2 == 0 && $0.key < newest - 2 }).min(by: { $0.key < $1.key })
        else { return nil }
        _ = try store.erase(ErasureRequest(objects: [id], note: MaintenanceNote(author: "child")))
        return number
    }
}

extension Work {
    /// Opens a store of notes.
    func openNotes() throws -> (store: Store, notes: Erasing) {
        let isThere = FileManager.default.fileExists(atPath: directory.appending(component: "data.mdb").path())
        let store: Store
        do {
            store = try open(isThere ? nil : try Erasing.model())
        } catch let error as StrataError where error.code == .invalidModel {
            store = try open(try Erasing.model())
        }
        return (store, try Erasing(store))
    }

    /// Makes a store of so many notes.
    func prepareNotes(_ count: Int) throws {
        let (store, notes) = try openNotes()
        for number in 1...count { try notes.save(number) }
        store.close()
    }

    /// Opens a store of notes, and saves on a thread of its own. Says "1 number" of saves.
    private func saveNotes() throws -> (store: Store, notes: Erasing, saving: DispatchGroup) {
        let (store, notes) = try openNotes()
        let first = (try notes.notes().keys.max() ?? 0) + 1
        let saving = onThread {
            for number in first..<first + min(rounds, 1 << 20) {
                try notes.save(number)
                say(1, number)
            }
        }
        return (store, notes, saving)
    }

    /// Erasures beside saves of thread 1. Says "0 number" of notes that were erased.
    func erase() throws {
        let (store, notes, saving) = try saveNotes()
        for _ in 1...rounds {
            if let number = try notes.erase() { say(0, number) } else { usleep(500) }
        }
        saving.wait()
        store.close()
    }

    /// Thinnings in many small commits, beside saves of thread 1. Says "0 count".
    func thin() throws {
        let (store, _, saving) = try saveNotes()
        for count in 1...rounds {
            let end = try store.lastEvent(beyond: .transactions(5)) ?? .zero
            let report = try store.thinHistory(
                of: ["Note"], through: end, MaintenanceNote(author: "child"), limits: TrimLimits(events: 3))
            if report.changedEvents > 0 { say(0, count) } else { usleep(500) }
        }
        saving.wait()
        store.close()
    }
}
