import Foundation
import LMDB
@testable import StrataGraph
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// Many contexts and several processes save at once, durably, into one store on disk.
@Suite(.timeLimit(.minutes(30)), .verifiesStores) struct SeveralSaversTests {
    private static let note = EntityDescription(
        name: "Note",
        properties: [
            .attribute(AttributeDescription(name: "text", type: .string)),
            .attribute(AttributeDescription(name: "number", type: .integer64)),
        ])

    private func withContainer(_ body: (PersistentContainer, URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "strata-savers-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer {
            do { try FileManager.default.removeItem(at: directory) } catch { Issue.record(error) }
        }
        let container = PersistentContainer(
            name: "Notes", model: try ManagedObjectModel(entities: [Self.note]), at: .url(directory))
        try container.loadPersistentStores()
        try await body(container, directory)
        let report = try container.verify()
        #expect(report.isSound, "\(report)")
        container.close()
    }

    private static func save(_ count: Int, as name: String, in context: ManagedObjectContext) throws {
        context.name = name
        for number in 0..<count {
            let note = try context.insertNewObject(forEntityName: "Note")
            try note.setValue(name, forKey: "text")
            try note.setValue(number, forKey: "number")
            try context.save()
        }
    }

    /// LMDB counts its commits.
    private func commits(_ container: PersistentContainer) throws -> UInt64 {
        try container.store.file.read { transaction, _, _ in transaction.number }
    }

    private static func saveAtOnce(_ container: PersistentContainer, savers: Int, saves: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for saver in 0..<savers {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        try Self.save(saves, as: "saver \(saver)", in: context)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func everySaveOfEightContextsIsThere() async throws {
        try await withContainer { container, _ in
            try await Self.saveAtOnce(container, savers: 8, saves: 25)
            let names = try container.transactions(limit: 1000).compactMap(\.contextName)
            let counts = Dictionary(grouping: names, by: \.self).mapValues(\.count)
            #expect(counts.count == 8 && counts.values.allSatisfy { $0 == 25 }, "\(counts)")
        }
    }

    /// A context on a thread of its own, with a change that it saves when it is told to.
    private final class Saver: Sendable {
        private let begin = DispatchSemaphore(value: 0), isReady = DispatchSemaphore(value: 0)
        private let isDone = DispatchSemaphore(value: 0)

        init(_ name: String, _ container: PersistentContainer) {
            Thread.detachNewThread { [self] in
                let context = container.newBackgroundContext()
                context.name = name
                do {
                    let note = try context.insertNewObject(forEntityName: "Note")
                    try note.setValue(name, forKey: "text")
                    try note.setValue(1, forKey: "number")
                    isReady.signal()
                    begin.wait()
                    try context.save()
                } catch {
                    Issue.record(error)
                    isReady.signal()
                }
                isDone.signal()
            }
            isReady.wait()
        }

        /// Returns when the save waits.
        func save(_ container: PersistentContainer) {
            let before = container.store.waitingSaveCount
            begin.signal()
            while container.store.waitingSaveCount == before {
                if isDone.wait(timeout: .now() + .microseconds(200)) == .success {
                    isDone.signal()
                    return
                }
            }
        }

        func finish() { isDone.wait() }
    }

    /// Whose turn comes is settled by the queue and by no clock: nobody passes one who came before, and those who wait
    /// share the next commit.
    @Test(arguments: [UInt64(0), 1, 2, 3]) func savesThatWaitShareOneCommitInTheOrderInWhichTheyCame(seed: UInt64)
        async throws
    {
        try await withContainer { container, _ in
            var random = SeededGenerator(seed: seed)
            try await Self.saveAtOnce(container, savers: 1, saves: 1)
            let order = (0..<8).map { "saver \($0)" }.shuffled(using: &random)
            let savers = order.map { Saver($0, container) }
            let turn = try container.store.takeTurn(limit: .seconds(60))
            let before = try commits(container)
            for saver in savers { saver.save(container) }
            #expect(container.store.waitingSaveCount == 8)
            #expect(try commits(container) == before)
            turn.end()
            for saver in savers { saver.finish() }
            #expect(try commits(container) == before + 1)
            #expect(try container.transactions(limit: 100).compactMap(\.contextName).suffix(8) == order[...])
        }
    }

    @Test func savesOfSeveralProcessesAreAllThereAndReachLiveResults() async throws {
        try await withContainer { container, directory in
            let count = 30
            let results = container.results(for: FetchRequest<ManagedObject>(entityName: "Note"))
            let watching = Task {
                var (shown, last): ([ObjectID], Int) = ([], 0)
                for try await update in results {
                    if let difference = update.difference {
                        shown = try #require(shown.applying(difference.collectionDifference))
                    } else {
                        shown = update.objectIDs
                    }
                    #expect(shown == update.objectIDs && shown.count >= last)
                    last = shown.count
                    if last == 3 * count { return last }
                }
                return last
            }
            let children = try ["one", "two"].map { name in
                let process = Process()
                process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                    .appending(component: "graph-child")
                process.arguments = [directory.path(percentEncoded: false), name, "\(count)"]
                process.standardOutput = FileHandle.nullDevice
                try process.run()
                return process
            }
            try await container.performBackgroundTask { try Self.save(count, as: "here", in: $0) }
            for child in children {
                child.waitUntilExit()
                #expect(child.terminationStatus == 0)
            }
            #expect(try await watching.value == 3 * count)
            let transactions = try container.transactions(limit: 1000)
            let byName = Dictionary(grouping: transactions.compactMap(\.contextName), by: \.self).mapValues(\.count)
            #expect(byName == ["one": count, "two": count, "here": count])
        }
    }
}
