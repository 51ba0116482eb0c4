import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Each store with a shared log truncates its own copy of the history; the log keeps everything.
@Suite struct SharedRetentionTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "strata-keep-\(UUID().uuidString)")

    private func node(_ name: String, _ connection: SharedLogConnection) throws -> PersistentContainer {
        try RaceWorld.container(at: .url(folder.appending(path: name)), log: PersistentStoreLog(connection))
    }

    private func note(_ text: String, _ container: PersistentContainer) throws -> ObjectID {
        try container.saveNote(text)
    }

    private func count(_ container: PersistentContainer) throws -> Int {
        try container.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }

    @Test(arguments: TestLog.all) func aStoreTruncatesItsOwnHistory(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let connection = try log.make()
        let (first, second) = (try node("first", connection), try node("second", connection))
        for number in 0..<20 { _ = try note("\(number)", number % 2 == 0 ? first : second) }
        try first.catchUp()
        let whole = try connection.connect().readAll()
        let middle = try first.store.eventNumber(of: TransactionNumber(rawValue: 10))
        let report = try first.truncateHistory(before: .event(middle))
        #expect(report.transactionCount == 10)
        // The log and the other store have everything as before.
        #expect(try connection.connect().readAll() == whole)
        try second.catchUp()
        #expect(try second.transactions(after: .zero, limit: 100).first?.number.rawValue == 1)
        // Both go on, also where the one that was truncated is overtaken.
        for number in 0..<20 { _ = try note("later \(number)", number % 2 == 0 ? second : first) }
        let third = try node("third", connection)
        for container in [first, second, third] {
            try container.catchUp()
            #expect(try container.verify().isSound)
            #expect(try count(container) == 40)
        }
        #expect(Set(try [first, second, third].map { try $0.store.logPosition() }).count == 1)
        do {
            _ = try first.context(asOf: .transaction(TransactionNumber(rawValue: 5)))
            Issue.record("The moment was dropped.")
        } catch let error as StrataError {
            #expect(error.code == .historyDropped && error.context.baseline?.transaction.rawValue == 10)
        }
        for container in [first, second, third] { container.close() }
        let again = try node("first", connection)
        defer { again.close() }
        #expect(try count(again) == 40)
    }

    /// A store without the old history would leave the values in the log.
    @Test(arguments: TestLog.all) func aStoreThatWasTruncatedErasesNothingFromTheLog(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let connection = try log.make()
        let (first, second) = (try node("first", connection), try node("second", connection))
        defer {
            first.close()
            second.close()
        }
        let id = try note("a secret that nobody keeps", first)
        _ = try note("another", first)
        let report = try first.truncateHistory(before: .event(try first.head()))
        #expect(report.transactionCount > 0)
        do {
            _ = try first.erase([id], reason: "asked for")
            Issue.record("The log would keep the value.")
        } catch let error as StrataError {
            #expect(error.code == .historyDropped && error.message.contains("strata erase"))
        }
        #expect(try count(first) == 2)
        try second.catchUp()
        #expect(try second.erase([id], reason: "asked for").isComplete)
        try first.catchUp()
        let secret = Data("a secret that nobody keeps".utf8)
        #expect(try connection.connect().readAll().allSatisfy { $0.bytes.firstRange(of: secret) == nil })
        #expect(try count(first) == 1)
        #expect(try first.verify().isSound && second.verify().isSound)
    }
}
