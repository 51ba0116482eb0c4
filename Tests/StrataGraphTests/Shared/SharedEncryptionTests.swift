import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Encrypted values of a shared log, read by a store that has its model from the log.
@Suite struct SharedEncryptionTests {
    private let log = MemoryLog()
    private let patient: ObjectID

    init() throws {
        var options = PersistentStoreOptions(durability: .disposable, log: PersistentStoreLog(log.connection()))
        options.encryption = StoreEncryption(key: firstKey)
        let container = try PersistentContainer(
            name: "Patients", entities: [Patient.self, Doctor.self, Secrets.self], at: .inMemory, options: options)
        try container.loadPersistentStores()
        defer { container.close() }
        let context = container.newBackgroundContext()
        patient = context.addPatient("Ann", ssn: "123", diagnosis: "bronchitis").objectID
        try context.save()
    }

    /// A store that receives the log and knows nothing else of it.
    private func reader(_ keys: [Data]?, receivesOnly: Bool = true) throws -> Store {
        var options = StoreOptions()
        options.createsIfMissing = false
        options.receivesOnly = receivesOnly
        options.sharedLog = log.connection()
        if let keys { options.encryptionKeys = { keys } }
        return try Store.open(.inMemory, model: nil, options: options)
    }

    private func diagnosis(_ store: Store) throws -> String? {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        return try withExtendedLifetime(context) {
            try context.existingObject(with: patient).value(forKey: "diagnosis") as? String
        }
    }

    @Test func valuesAreReadWithTheKeyOnly() throws {
        let store = try reader([firstKey])
        defer { store.close() }
        #expect(try diagnosis(store) == "bronchitis")
        let without = try reader(nil)
        defer { without.close() }
        #expect(thrownError { _ = try diagnosis(without) }?.code == .encryptionKeyMissing)
        #expect(thrownError { _ = try reader([secondKey]) }?.code == .encryptionKeyWrong)
    }

    @Test func aReaderWithANewerKeyAppendsNothing() throws {
        let before = try reader(nil)
        defer { before.close() }
        let end = try before.logPosition()
        let store = try reader([secondKey, firstKey])
        defer { store.close() }
        #expect(try diagnosis(store) == "bronchitis")
        try before.catchUp()
        #expect(try before.logPosition() == end && store.logPosition() == end)
        let container = try PersistentContainer(over: store)
        let context = container.newBackgroundContext()
        try context.existingObject(with: patient).setValue("Bob", forKey: "name")
        #expect(thrownError { try context.save() }?.code == .readOnly)
    }
}
