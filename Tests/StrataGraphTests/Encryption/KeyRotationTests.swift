import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Keys that change, models that begin or cease to encrypt, and a random store beside one in the clear.
@Suite struct KeyRotationTests {
    private let folder: EncryptionFolder

    init() throws { folder = try EncryptionFolder() }

    private func open(_ encryption: StoreEncryption?) throws -> PersistentContainer {
        try makePatients(at: folder.location("a"), encryption: encryption)
    }

    private func fill(_ count: Int = 25) throws {
        let container = try open(StoreEncryption(key: firstKey))
        defer { container.close() }
        let context = container.newBackgroundContext()
        for number in 0..<count { context.addPatient("P\(number)", ssn: "\(number)", diagnosis: "flu") }
        try context.save()
    }

    @Test func aRotationInStepsCanBeInterruptedAndEndsWithOneKey() throws {
        try fill()
        let both = StoreEncryption(key: secondKey, previous: [firstKey])
        let ids = try [StoreEncryption.keyID(of: firstKey), StoreEncryption.keyID(of: secondKey)]
        var container = try open(both)
        #expect(try container.encryptionKeyIDs == ids.sorted())
        let before = try container.head()
        // Two steps of a rotation that did not come to its end: those values are under the new key already.
        let context = container.newBackgroundContext()
        for patient in try context.fetch(FetchRequest<Patient>()).prefix(10) {
            let ssn = patient.ssn
            patient.ssn = "x"
            try context.save()
            patient.ssn = ssn
        }
        try context.save()
        #expect(try container.rotateEncryptionKey(stepSize: 4) == 40)
        #expect(try container.encryptionKeyIDs == [ids[1]])
        #expect(try container.rotateEncryptionKey() == 0)
        #expect(try container.verify().isSound)
        container.close()
        container = try open(StoreEncryption(key: secondKey))
        let reader = container.newBackgroundContext()
        for number in 0..<25 {
            let found = try reader.fetch(FetchRequest<Patient>(where: FetchPredicate(format: "ssn == '\(number)'")))
            #expect(found.map(\.name) == ["P\(number)"] && found.first?.diagnosis == "flu")
        }
        let past = try container.context(asOf: .event(before))
        let old = try #require(try past.fetch(FetchRequest<Patient>()).first)
        #expect(thrownError { _ = try old.value(forKey: "ssn") }?.code == .encryptionKeyMissing)
        container.close()
        #expect(thrownError { _ = try open(StoreEncryption(key: firstKey)) }?.code == .encryptionKeyWrong)
        container = try open(both)
        let again = try container.context(asOf: .event(before))
        #expect(try again.fetch(FetchRequest<Patient>()).allSatisfy { $0.diagnosis == "flu" })
        container.close()
    }

    @Test func anObjectWithChangesMergesWithARotation() throws {
        try fill(1)
        let container = try open(StoreEncryption(key: secondKey, previous: [firstKey]))
        defer { container.close() }
        let context = container.newBackgroundContext()
        let patient = try #require(try context.fetch(FetchRequest<Patient>()).first)
        patient.diagnosis = "cold"
        try container.rotateEncryptionKey()
        try context.save()
        #expect(patient.diagnosis == "cold" && patient.ssn == "0")
        #expect(try container.verify().isSound)
    }

    @Test func aModelMayBeginAndCeaseToEncrypt() throws {
        func container(_ isEncrypted: Bool, _ encryption: StoreEncryption?) throws -> PersistentContainer {
            let ssn = AttributeDescription(
                name: "ssn", type: .string, isOptional: true, encryption: isEncrypted ? .storeKey : nil)
            let weight = AttributeDescription(
                name: "weight", type: .double, isOptional: true, encryption: isEncrypted ? .storeKey : nil)
            let entity = EntityDescription(
                name: "Person", properties: [.attribute(ssn), .attribute(weight)], uniquenessConstraints: [["ssn"]])
            var options = PersistentStoreOptions(durability: .disposable, allowsModelDowngrade: true)
            options.encryption = encryption
            let container = PersistentContainer(
                name: "People", model: try ManagedObjectModel(entities: [entity]), at: folder.location("p"),
                options: options)
            try container.loadPersistentStores()
            return container
        }
        func people(_ container: PersistentContainer) throws -> [ManagedObject] {
            try container.newBackgroundContext().fetch(FetchRequest<ManagedObject>(entityName: "Person"))
        }
        var open = try container(false, nil)
        let context = open.newBackgroundContext()
        for number in 0..<3 {
            let person = try context.insertNewObject(forEntityName: "Person")
            try person.setValue("secret-\(number)", forKey: "ssn")
            try person.setValue(Double(number), forKey: "weight")
        }
        try context.save()
        let before = try open.head()
        open.close()
        #expect(thrownError { _ = try container(true, nil) }?.code == .encryptionKeyMissing)
        open = try container(true, StoreEncryption(key: firstKey))
        #expect(try open.verify().isSound)
        let found = try open.newBackgroundContext().fetch(
            FetchRequest<ManagedObject>(entityName: "Person", where: FetchPredicate(format: "ssn == 'secret-1'")))
        #expect(try found.map { try $0.value(forKey: "weight") as? Double } == [1])
        let past = try open.context(asOf: .event(before))
        let old = try past.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
        #expect(try old.map { try $0.value(forKey: "ssn") as? String } == ["secret-0", "secret-1", "secret-2"])
        open.close()
        open = try container(false, StoreEncryption(key: firstKey))
        #expect(try people(open).compactMap { try $0.value(forKey: "ssn") as? String }.count == 3)
        #expect(try open.verify().isSound)
        open.close()
    }

    @Test func olderVersionsRefuseTheStore() throws {
        try fill(1)
        let file = try Data(contentsOf: folder.store("a").appending(path: "data.mdb"))
        var flags: [UInt8] = []
        var rest = file[...]
        while let magic = rest.range(of: Data("STRATA\0\u{1}".utf8)) {
            flags.append(file[magic.lowerBound + 24])
            rest = file[magic.upperBound...]
        }
        // Free pages may have copies from before the model was installed.
        #expect(flags.contains { $0 & 32 != 0 })
    }

    /// Random inserts, changes and deletions of patients, in a store with encrypted attributes and one without.
    @Test(arguments: [1, 2, 3] as [UInt64]) func randomWorkGivesTheSameAsInTheClear(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["ssn", "diagnosis", "weight"]
        func container(_ isEncrypted: Bool) throws -> PersistentContainer {
            let encryption: AttributeEncryption? = isEncrypted ? .storeKey : nil
            let entity = EntityDescription(
                name: "Person",
                properties: [
                    .attribute(
                        AttributeDescription(name: "ssn", type: .string, isOptional: true, encryption: encryption)),
                    .attribute(
                        AttributeDescription(name: "diagnosis", type: .string, isOptional: true, encryption: encryption)
                    ),
                    .attribute(
                        AttributeDescription(name: "weight", type: .double, isOptional: true, encryption: encryption)),
                ], indexes: [FetchIndexDescription(name: "d", elements: [FetchIndexElement("diagnosis")])])
            var options = PersistentStoreOptions(durability: .disposable)
            options.encryption = isEncrypted ? StoreEncryption(key: firstKey) : nil
            let container = PersistentContainer(
                name: "People", model: try ManagedObjectModel(entities: [entity]), at: .inMemory, options: options)
            try container.loadPersistentStores()
            return container
        }
        let both = try [container(true), container(false)]
        let contexts = both.map { $0.newBackgroundContext() }
        var objects: [[ManagedObject]] = [[], []]
        let values: [String] = ["", "a", "b", "é", "e\u{301}", "long enough to be kept on the heap of the process"]
        for step in 0..<300 {
            let choice = random.next() % 10, pick = Int(random.next() % 1000), name = names[Int(random.next() % 3)]
            let text = values[Int(random.next() % 6)], number = Double(random.next() % 4)
            for (index, context) in contexts.enumerated() {
                switch choice {
                case 0...2: objects[index].append(try context.insertNewObject(forEntityName: "Person"))
                case 3 where !objects[index].isEmpty:
                    context.delete(objects[index].remove(at: pick % objects[index].count))
                case 4: try context.save()
                case _ where !objects[index].isEmpty:
                    let set: Any = name == "weight" ? number as Any : text as Any
                    let value: Any? = pick % 7 == 0 ? nil : set
                    try objects[index][pick % objects[index].count].setValue(value, forKey: name)
                default: break
                }
            }
            guard step % 10 == 0 else { continue }
            let formats = [
                "diagnosis == '\(text)'", "ssn IN {'a', '\(text)'}", "weight == \(number)", "diagnosis != 'a'",
                "ssn == nil OR weight == 2",
            ]
            for format in formats {
                let counts = try contexts.map {
                    try $0.count(
                        for: FetchRequest<ManagedObject>(entityName: "Person", where: FetchPredicate(format: format)))
                }
                #expect(counts[0] == counts[1], "seed \(seed), step \(step): \(format)")
            }
        }
        for context in contexts { try context.save() }
        for (one, two) in zip(objects[0], objects[1]) {
            for name in ["ssn", "diagnosis"] {
                #expect(try one.value(forKey: name) as? String == two.value(forKey: name) as? String)
            }
            #expect(try one.value(forKey: "weight") as? Double == two.value(forKey: "weight") as? Double)
        }
        for container in both { #expect(try container.verify().isSound) }
    }
}
