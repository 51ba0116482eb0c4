import FaultShim
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// People whose notes are encrypted under keys of their own, in a directory beside the store.
struct SubjectNotes {
    private let container: PersistentContainer
    private let keys: SubjectKeyDirectory

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer64)),
                    .attribute(
                        AttributeDescription(
                            name: "note", type: .string, isOptional: true, encryption: .subjectKey(.object))),
                ])
        ])
    }

    init(_ work: Work) throws {
        let place = work.directory.deletingLastPathComponent().appending(path: "keys", directoryHint: .isDirectory)
        keys = try SubjectKeyDirectory(at: place)
        var options = work.options
        options.encryptionKeys = { [Data(repeating: 7, count: 32)] }
        options.subjectKeys = keys.source
        container = try PersistentContainer(
            over: Store.open(.directory(work.directory), model: try Self.model(), options: options))
    }

    func close() { container.close() }
    var store: Store { container.store }

    func save(_ number: Int) throws {
        let context = container.newBackgroundContext()
        let person = try context.insertNewObject(forEntityName: "Person")
        try person.setValue(number, forKey: "number")
        try person.setValue("note \(number)", forKey: "note")
        try context.save()
    }

    /// The people by their numbers.
    func people() throws -> [Int: ManagedObject] {
        let context = container.newBackgroundContext()
        let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
        return Dictionary(
            uniqueKeysWithValues: try found.map { (Int(try $0.value(forKey: "number") as? Int64 ?? -1), $0) })
    }

    /// Erases the first one.
    ///
    /// - Returns: the number; nil if there is none.
    func erase() throws -> Int? {
        guard let (number, person) = try people().min(by: { $0.key < $1.key }) else { return nil }
        try container.erase([person.objectID], reason: "asked")
        return number
    }

    /// How many subjects have keys, and how many keys were destroyed.
    func keyCounts() throws -> (keys: Int, destroyed: Int) { try keys.counts() }
}

extension Work {
    /// Saves people, and erases every third. A sync fails now and then, and the save is made again. Says "1 number" of saves,
    /// and "0 number" of erasures.
    func subjects() throws {
        let people = try SubjectNotes(self)
        for number in 1...min(rounds, 1 << 20) * 3 {
            fault_arm(Int32(FAULT_SYNC), number % 4 + 1, 1, EIO, Int32(FAULT_REFUSE))
            let result = Result { try people.save(number) }
            if fault_disarm() > 0, case .failure = result {
                if try people.people()[number] == nil { try people.save(number) }
            } else {
                try result.get()
            }
            say(1, number)
            if number % 3 == 0, let erased = try people.erase() { say(0, erased) }
        }
        people.close()
    }
}

extension ImageCheck {
    /// Every person has a note that can be read, or is erased with the key.
    func checkSubjects() throws {
        let people = try SubjectNotes(recorded)
        defer { people.close() }
        let found = try people.people()
        let (saved, erased) = (said[1] ?? 0, said[0] ?? 0)
        let first = found.keys.min() ?? erased + 1
        let last = found.keys.max() ?? saved
        try expect(
            found.count == max(0, last - first + 1) && (saved...saved + 1).contains(last)
                && (erased + 1...erased + 2).contains(first),
            "people \(found.keys.sorted()); \(saved) were saved, \(erased) erased")
        for (number, person) in found {
            let note = try person.value(forKey: "note") as? String
            try expect(note == "note \(number)", "the note of \(number) is \(note ?? "nil")")
        }
        let keys = try people.keyCounts()
        try expect(
            keys.destroyed == first - 1 && keys.keys >= found.count,
            "\(keys) for \(found.count) people, \(first - 1) erased")
        try verify(people.store, "with keys of subjects")
        try people.save(last + 1)
    }
}
