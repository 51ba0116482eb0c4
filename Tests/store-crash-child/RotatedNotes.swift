import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Notes whose text is encrypted, under one key or the other.
enum RotatedNotes {
    private static let keys = [Data(repeating: 1, count: 32), Data(repeating: 2, count: 32)]

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer64)),
                    .attribute(
                        AttributeDescription(
                            name: "text", type: .string, isOptional: true, encryption: .storeKey)),
                    .attribute(
                        AttributeDescription(
                            name: "scan", type: .binaryData, isOptional: true,
                            allowsExternalBinaryDataStorage: true, encryption: .storeKey)),
                ])
        ])
    }

    /// - Parameter newest: the number of the key under which values are encrypted.
    static func open(_ work: Work, newest: Int, isAlone: Bool = false) throws -> PersistentContainer {
        var options = work.options
        let (newest, other) = (keys[newest % 2], keys[(newest + 1) % 2])
        options.encryptionKeys = { isAlone ? [newest] : [newest, other] }
        return try PersistentContainer(
            over: Store.open(.directory(work.directory), model: try model(), options: options))
    }

    private static func scan(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 30_000) }

    static func fill(_ work: Work, _ count: Int) throws {
        let container = try open(work, newest: 0)
        defer { container.close() }
        let context = container.newBackgroundContext()
        for number in 0..<count {
            let note = try context.insertNewObject(forEntityName: "Note")
            try note.setValue(number, forKey: "number")
            try note.setValue("text \(number)", forKey: "text")
            if number % 4 == 0 { try note.setValue(scan(number), forKey: "scan") }
        }
        try context.save()
    }

    /// The numbers of the notes that have all their values.
    static func whole(_ container: PersistentContainer) throws -> [Int] {
        let context = container.newBackgroundContext()
        return try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")).compactMap { note in
            let number = Int(try note.value(forKey: "number") as? Int64 ?? -1)
            let isWhole = try note.value(forKey: "text") as? String == "text \(number)"
            let found = try note.value(forKey: "scan") as? Data
            return isWhole && found == (number % 4 == 0 ? scan(number) : nil) ? number : nil
        }.sorted()
    }
}

extension Work {
    /// Turns from one key to the other, a few notes a commit. Says "0 count".
    func rotate() throws {
        for count in 1...rounds {
            let container = try RotatedNotes.open(self, newest: count)
            try container.rotateEncryptionKey(stepSize: 3)
            say(0, count)
            container.close()
        }
    }
}

extension ImageCheck {
    /// Both keys read every value, the rotation can be finished, and then one key is enough.
    func checkRotated() throws {
        let next = (said[0] ?? 0) + 1
        for newest in [next, next + 1] {
            let container = try RotatedNotes.open(recorded, newest: newest)
            try expectWhole(container, "with both keys")
            try container.rotateEncryptionKey(stepSize: 5)
            try verify(container.store, "after a rotation")
            container.close()
            let alone = try RotatedNotes.open(recorded, newest: newest, isAlone: true)
            try expectWhole(alone, "with one key")
            try expect(try alone.encryptionKeyIDs.count == 1, "two keys are needed")
            alone.close()
        }
    }

    private func expectWhole(_ container: PersistentContainer, _ place: String) throws {
        let found = try RotatedNotes.whole(container)
        try expect(found == Array(0..<Recording.noteCount), "\(place): \(found)")
    }
}
