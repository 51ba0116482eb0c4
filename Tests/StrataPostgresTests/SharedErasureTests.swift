import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Values that are erased in one store leave the shared log and every other store.
@Suite struct SharedErasureTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "strata-erase-\(UUID().uuidString)")
    private let secret = "a secret that nobody keeps"

    private func node(_ name: String, _ connection: SharedLogConnection) throws -> PersistentContainer {
        try RaceWorld.container(
            at: .url(root.appending(path: name)), log: PersistentStoreLog(connection))
    }

    private func note(_ text: String, _ container: PersistentContainer) throws -> ObjectID {
        try container.saveNote(text)
    }

    private func texts(_ container: PersistentContainer) throws -> [String] {
        try container.newBackgroundContext().fetch(FetchRequest<ManagedObject>(entityName: "Note"))
            .compactMap { try $0.value(forKey: "text") as? String }.sorted()
    }

    private func fileHasSecret(_ name: String) throws -> Bool {
        try Data(contentsOf: root.appending(path: "\(name)/data.mdb")).firstRange(of: Data(secret.utf8)) != nil
    }

    private func logHasSecret(_ connection: SharedLogConnection) throws -> Bool {
        try connection.connect().readAll().contains { $0.bytes.firstRange(of: Data(secret.utf8)) != nil }
    }

    @Test(arguments: TestLog.all) func whatIsErasedLeavesTheLogAndEveryStore(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let (first, second) = (try node("first", connection), try node("second", connection))
        let id = try note(secret, first)
        _ = try note("another note", second)
        try second.catchUp()
        let context = second.newBackgroundContext()
        try context.existingObject(with: id).setValue("\(secret), changed", forKey: "text")
        try context.save()
        try first.catchUp()
        #expect(try logHasSecret(connection) && fileHasSecret("first") && fileHasSecret("second"))
        let result = try first.erase([id], reason: "asked for")
        #expect(result.isComplete)
        #expect(try !logHasSecret(connection) && !fileHasSecret("first"))
        try second.catchUp()
        #expect(try texts(second) == ["another note"])
        let third = try node("third", connection)
        _ = try note("and later", third)
        for container in [first, second, third] {
            try container.catchUp()
            #expect(try container.verify().isSound)
            #expect(try texts(container) == ["and later", "another note"])
            #expect(try container.erasures().count == 1)
        }
        #expect(Set(try [first, second, third].map { try $0.store.logPosition() }).count == 1)
        for container in [first, second, third] { container.close() }
        #expect(try !fileHasSecret("second") && !fileHasSecret("third") && !logHasSecret(connection))
    }

    @Test func anErasureThatTheLogCannotTakeChangesNothing() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let log = MemoryLog()
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let connection = SharedLogConnection(name: "memory", timeout: .milliseconds(50)) { faulty }
        let first = try node("first", connection)
        defer { first.close() }
        let id = try note(secret, first)
        let end = try first.store.logPosition()
        faulty.setCut(true)
        #expect(throws: StrataError.self) { try first.erase([id], reason: nil) }
        #expect(try first.store.logPosition() == end && texts(first) == [secret])
        faulty.setCut(false)
        #expect(try first.erase([id], reason: nil).isComplete)
        #expect(try !fileHasSecret("first") && !logHasSecret(log.connection()))
    }

    @Test func aMemberOfTheAppendingRoleCannotErase() throws {
        guard let address = TestLog.address else { return }
        defer { try? FileManager.default.removeItem(at: root) }
        try PostgresSetup.makeTables(at: address, access: .roles)
        let limited = address + "&options=-c%20role%3Dstrata_append"
        let container = try node(
            "limited", PersistentStoreLog.postgres(limited, lineage: "limited \(UUID().uuidString)").connection)
        defer { container.close() }
        let id = try note(secret, container)
        #expect(throws: StrataError.self) { try container.erase([id], reason: nil) }
        #expect(try texts(container) == [secret])
    }
}
