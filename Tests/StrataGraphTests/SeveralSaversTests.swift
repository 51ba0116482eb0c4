import Foundation
import LMDB
@testable import StrataGraph
import StrataModel
@testable import StrataStore
import Testing

/// Many contexts and several processes save at once, durably, into one store on disk.
@Suite(.timeLimit(.minutes(2))) struct SeveralSaversTests {
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
        try container.store.core.read { transaction, _, _ in transaction.number }
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

    /// How many saves each made between the moment when all had begun and the moment when one was done.
    private static func shares(_ names: [String], savers: Int, saves: Int) -> [Int] {
        var done: [String: Int] = [:]
        var atStart: [String: Int]?
        for name in names {
            done[name, default: 0] += 1
            if atStart == nil, done.count == savers { atStart = done }
            if atStart != nil, done[name] == saves { break }
        }
        return done.map { name, count in count - (atStart?[name] ?? 0) }
    }

    @Test func eightContextsShareCommitsAndGoOnAlike() async throws {
        try await withContainer { container, _ in
            let before = try commits(container)
            try await Self.saveAtOnce(container, savers: 8, saves: 25)
            let made = Int(try commits(container) - before)
            #expect(made * 3 <= 8 * 25 * 2, "\(made) commits for \(8 * 25) saves")
            let names = try container.transactions(limit: 1000).compactMap(\.contextName)
            #expect(names.count == 8 * 25)
            let shares = Self.shares(names, savers: 8, saves: 25)
            #expect((shares.min() ?? 0) * 3 >= shares.max() ?? 0, "\(shares)")
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
