import Foundation
import StrataModel
import StrataStore
import Testing

/// Two processes: one migrates, a note a commit, back and forth without end; the other reads, saves and opens meanwhile.
@Suite(.serialized) struct ForeignMigrationTests {
    /// What somebody beside a migration was told, and how often.
    private struct Told {
        var answered = 0
        var refused: [StrataError.Code: Int] = [:]

        /// Runs something that may be refused with some codes, and with no other.
        mutating func ask(_ codes: Set<StrataError.Code>, _ body: () throws -> Void) throws {
            do {
                try body()
                answered += 1
            } catch let error as StrataError where codes.contains(error.code) {
                refused[error.code, default: 0] += 1
            }
        }
    }

    private let root = FileManager.default.temporaryDirectory
        .appending(path: "strata-beside-\(UUID().uuidString)", directoryHint: .isDirectory)
    private var directory: URL { root.appending(path: "notes.strata", directoryHint: .isDirectory) }
    private let texts = Set((0..<60).map(String.init))

    private func filled() throws -> StoreFixture {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let fixture = try StoreFixture(.directory(directory), model: try MigratedNotes.model(.integer64))
        for number in 0..<60 { _ = try fixture.insert("Note", ["x": .integer(Int64(number))]) }
        return fixture
    }

    @Test func whoHasTheStoreOpenReadsTheStateOfBeforeAndSavesNothing() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let fixture = try filled()
        let store = fixture.store
        let then = try store.head()
        let schema = store.schema
        var changes = try fixture.changes()
        _ = try fixture.insert("Note", ["x": .integer(1_000)], into: &changes)
        let child = try CrashChild(directory, .full, "migrate")
        var reads = Told(), saves = Told()
        // It begins with the first that is done: from then on the model is another.
        for _ in 0..<6 {
            _ = try #require(child.acknowledgement())
            for _ in 0..<40 {
                try reads.ask([.persistentStoreTimeout]) {
                    try #expect(MigratedNotes.values(store, at: then, through: schema) == texts)
                }
                try saves.ask([.persistentStoreTimeout, .modelChanged]) { try fixture.save(changes) }
            }
        }
        _ = child.kill()
        #expect(reads.answered > 0 && reads.refused[.persistentStoreTimeout, default: 0] > 0, "\(reads)")
        #expect(saves.answered == 0 && saves.refused[.modelChanged, default: 0] > 0, "\(saves)")
        store.close()
        try expectEverything()
    }

    @Test func whoOpensTheStoreSeesOneModelWholeOrIsRefused() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try filled().store.close()
        let child = try CrashChild(directory, .full, "migrate")
        var readOnly = StoreOptions()
        readOnly.isReadOnly = true
        var readers = Told(), writers = Told()
        for round in 0..<6 {
            _ = try #require(child.acknowledgement())
            for _ in 0..<10 {
                // A mark at opening, one after it, or another model between the two.
                try readers.ask([.persistentStoreOpen, .persistentStoreTimeout, .modelChanged]) {
                    let store = try Store.open(.directory(directory), model: nil, options: readOnly)
                    defer { store.close() }
                    #expect(try MigratedNotes.values(store) == texts)
                }
            }
            // Who comes with the same model shares the work; who comes with the other waits for its turn.
            try writers.ask([.migration, .persistentStoreTimeout, .modelChanged]) {
                let model = try MigratedNotes.model(round % 2 == 0 ? .string : .integer64)
                let store = try Store.open(.directory(directory), model: model, options: MigratedNotes.backAndForth)
                defer { store.close() }
                #expect(try MigratedNotes.values(store) == texts)
            }
        }
        _ = child.kill()
        #expect(readers.refused[.persistentStoreOpen, default: 0] > 0, "\(readers)")
        #expect(readers.answered + writers.answered > 0, "\(readers), \(writers)")
        try expectEverything()
    }

    /// Finishes what the child was at, and looks at all there is.
    private func expectEverything() throws {
        let store = try Store.open(.directory(directory), model: nil)
        defer { store.close() }
        #expect(try MigratedNotes.values(store) == texts)
        let report = try store.verify()
        #expect(report.isSound, "\(report.problems.map(\.description))")
    }
}
