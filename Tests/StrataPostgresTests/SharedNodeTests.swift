import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A store whose log is shared: what it does when the log is away, has lost something, or is another one.
@Suite struct SharedNodeTests {
    private let log = MemoryLog()

    private func node(
        _ client: (any SharedLog)? = nil, timeout: Duration = .milliseconds(200),
        at location: PersistentStoreLocation = .inMemory
    ) throws -> PersistentContainer {
        let log = log
        let connection = SharedLogConnection(name: "the log", timeout: timeout) { client ?? log.client() }
        return try RaceWorld.container(at: location, log: PersistentStoreLog(connection))
    }

    private func addNote(_ node: PersistentContainer, _ text: String) throws {
        let context = node.newBackgroundContext()
        try context.insertNewObject(forEntityName: "Note").setValue(text, forKey: "text")
        try context.save()
    }

    private func noteCount(_ node: PersistentContainer) throws -> Int {
        try node.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }

    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        do { try body() } catch { return (error as? StrataError)?.code }
        return nil
    }

    @Test func readsGoOnAndSavesFailWhileTheLogIsAway() throws {
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let node = try node(faulty)
        defer { node.close() }
        try addNote(node, "before")
        faulty.setCut(true)
        let context = node.newBackgroundContext()
        try context.insertNewObject(forEntityName: "Note").setValue("cut", forKey: "text")
        #expect(code { try context.save() } == .logUnavailable)
        #expect(context.hasChanges)
        #expect(try noteCount(node) == 1)
        let state = try #require(try node.sharedLogState())
        #expect(!state.isReachable && state.lastAnswer != nil && state.failure != nil && state.problem == nil)
        #expect(code { try node.catchUp() } == .logUnavailable)
        faulty.setCut(false)
        try context.save()
        #expect(try noteCount(node) == 2 && node.sharedLogState()?.isReachable == true)
    }

    @Test func aSaveWhoseAnswerIsLostIsInDoubtAndSettlesItself() throws {
        let deaf = Deaf(log.client())
        let node = try node(deaf, timeout: .milliseconds(100))
        defer { node.close() }
        let context = node.newBackgroundContext()
        try context.insertNewObject(forEntityName: "Note").setValue("a", forKey: "text")
        deaf.setDeaf(true)
        #expect(code { try context.save() } == .inDoubt)
        deaf.setDeaf(false)
        try context.save()
        #expect(!context.hasChanges)
        #expect(try noteCount(node) == 1)
        let other = try self.node()
        defer { other.close() }
        #expect(try noteCount(other) == 1)
        #expect(try other.store.logPosition() == node.store.logPosition())
    }

    @Test func aLogThatHasLostTransactionsIsRefused() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-node-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try node(at: .url(folder))
        try addNote(first, "a")
        try addNote(first, "b")
        log.forget(1)
        #expect(code { try addNote(first, "c") } == .divergedLog)
        #expect(code { try first.catchUp() } == .divergedLog)
        first.close()
        #expect(code { try node(at: .url(folder)).close() } == .divergedLog)
        // Another store goes on where the log ends now.
        let second = try node()
        defer { second.close() }
        #expect(try noteCount(second) == 1)
        try addNote(second, "d")
        #expect(code { try node(at: .url(folder)).close() } == .divergedLog)
    }

    @Test func aStoreIsNotWrittenWithoutItsLog() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-node-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try node(at: .url(folder))
        try addNote(first, "a")
        first.close()
        #expect(code { try RaceWorld.container(at: .url(folder)).close() } == .persistentStoreOpen)
        let other = MemoryLog()
        let stranger = SharedLogConnection(name: "another", timeout: .seconds(1)) { other.client() }
        #expect(
            code { try RaceWorld.container(at: .url(folder), log: PersistentStoreLog(stranger)).close() }
                == .persistentStoreOpen)
        let again = try node(at: .url(folder))
        defer { again.close() }
        try addNote(again, "b")
        #expect(try noteCount(again) == 2)
    }

    @Test func aStoreOpensForReadingWhileItsLogIsAway() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-node-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try node(at: .url(folder))
        try addNote(first, "a")
        first.close()
        let cut = FaultyLog(log.client(), LogFaults(), seed: 1)
        cut.setCut(true)
        let second = try node(cut, at: .url(folder))
        defer { second.close() }
        #expect(try noteCount(second) == 1)
        #expect(code { try addNote(second, "b") } == .logUnavailable)
        cut.setCut(false)
        try addNote(second, "b")
        let third = try node()
        defer { third.close() }
        #expect(try noteCount(third) == 2)
    }

    /// No node receives anything by itself here.
    @Test func aRefreshAtTheHeadShowsWhatOthersHaveSaved() throws {
        let (first, second) = (try node(), try node(Asleep(log.client())))
        defer {
            first.close()
            second.close()
        }
        let context = second.newBackgroundContext()
        let all = FetchRequest<ManagedObject>(entityName: "Note")
        try addNote(first, "a")
        try context.refreshAllObjects(at: .here)
        #expect(try context.count(for: all) == 0)
        try context.refreshAllObjects(at: .head)
        #expect(try context.count(for: all) == 1)
        try addNote(first, "b")
        try context.insertNewObject(forEntityName: "Note").setValue("c", forKey: "text")
        try context.save(at: .head)
        #expect(try context.count(for: all) == 3)
        let child = try context.newChildContext()
        try addNote(first, "d")
        try child.refreshAllObjects(at: .head)
        #expect(try child.count(for: all) == 4)
    }

    @Test func aRefreshAtTheHeadSaysThatTheLogIsAway() throws {
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let node = try node(faulty)
        defer { node.close() }
        let context = node.newBackgroundContext()
        try context.insertNewObject(forEntityName: "Note").setValue("a", forKey: "text")
        faulty.setCut(true)
        #expect(code { try context.save(at: .head) } == .logUnavailable)
        #expect(context.hasChanges)
        try context.refreshAllObjects(at: .here)
        faulty.setCut(false)
        try context.save(at: .head)
        let past = try node.context(asOf: .event(try node.head()))
        #expect(code { try past.refreshAllObjects(at: .head) } == .invalidRequest)
    }

    @Test func tokensAreReadFromText() throws {
        let node = try node()
        defer { node.close() }
        let token = try node.token()
        #expect(StoreToken("\(token)") == token && StoreToken("x/1") == nil)
        let later = StoreToken(storeIdentifier: token.storeIdentifier, transaction: TransactionNumber(rawValue: 99))
        #expect(code { try node.wait(for: later, timeout: .milliseconds(20)) } == .persistentStoreTimeout)
        #expect(
            code { try node.wait(for: StoreToken(storeIdentifier: UUID(), transaction: .zero)) } == .invalidRequest)
    }
}
