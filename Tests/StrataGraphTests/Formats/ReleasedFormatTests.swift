import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// A store that a released version wrote (`Fixtures/Stores/<version>.strata`), and what it answers (`<version>.txt`).
struct ReleasedStore: Sendable, CustomTestStringConvertible {
    struct Query: Sendable {
        let entity: String
        let format: String
        var tag: String?
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Fixtures/Stores", directoryHint: .isDirectory).standardized
    /// The version whose format is written today.
    static let newest = "0.1.0"
    static let all = [ReleasedStore(version: newest)]

    let version: String

    var testDescription: String { version }
    var store: URL { Self.folder.appending(path: "\(version).strata", directoryHint: .isDirectory) }
    var answers: URL { Self.folder.appending(component: "\(version).txt") }

    static func models() throws -> [ManagedObjectModel] {
        try [ReleasedStoreModel.first(), ReleasedStoreModel.second()]
    }

    static let queries = [
        Query(entity: "Film", format: "score > 4"),
        Query(entity: "Film", format: "rating > 4", tag: "inserted"),
        Query(entity: "Work", format: "title BEGINSWITH[cd] 'ete'"),
        Query(entity: "Film", format: "isShort == YES AND views > 3000000000"),
        Query(entity: "Film", format: "studio.name == 'North' AND year BETWEEN {1962, 1966}"),
        Query(entity: "Work", format: "studio.name == 'South'", tag: "linked"),
        Query(entity: "Film", format: "poster.colour == 'blue'"),
        Query(entity: "Film", format: "ANY labels.text == 'loud'", tag: "linked"),
        Query(entity: "Film", format: "ANY labels.text == 'loud'"),
        Query(entity: "Film", format: "ANY crew.name == 'Cy'"),
        Query(entity: "Studio", format: "workCount > 3"),
        Query(entity: "Film", format: "minutes == '1 h 22'"),
        Query(entity: "Film", format: "minutes >= 85", tag: "linked"),
        Query(entity: "Studio", format: "SUBQUERY(works, $w, $w.year > 1968).@count > 1"),
        Query(entity: "Film", format: "frame.width == 645"),
        Query(entity: "Film", format: "price == 0.375"),
        Query(entity: "Person", format: "born == 1900"),
    ]
}

/// Every version opens the stores of every released version, and they answer as they did then.
///
/// `Scripts/format-fixture.sh VERSION` writes a fixture and its answers, once, when a version is released with another
/// format. Fixtures are never written again.
struct ReleasedFormatTests {
    private static let output = ProcessInfo.processInfo.environment["STRATA_FIXTURE_OUTPUT"]

    @Test(.enabled(if: output != nil, "run by Scripts/format-fixture.sh")) func theFixtureIsWritten() throws {
        let released = ReleasedStore(version: try #require(Self.output))
        let manager = FileManager.default
        #expect(!manager.fileExists(atPath: released.store.path), "a fixture is never written again")
        let made = manager.temporaryDirectory.appending(
            path: "made-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer { try? manager.removeItem(at: made) }
        try ReleasedStoreWriter(directory: made).write()
        let container = try open(made)
        defer { container.close() }
        #expect(try container.verify().isSound)
        try Data(try answers(container).utf8).write(to: released.answers)
        try container.backup(to: released.store)
    }

    @Test(arguments: ReleasedStore.all) func aReleasedStoreIsReadWithoutAChange(_ released: ReleasedStore) throws {
        try withCopy(released) { directory in
            let data = directory.appending(component: "data.mdb")
            let before = try Data(contentsOf: data)
            let container = try open(directory, isReadOnly: true)
            try expectAnswers(of: released, container)
            container.close()
            #expect(try Data(contentsOf: data) == before)
        }
    }

    @Test(arguments: ReleasedStore.all) func aReleasedStoreIsRebuiltToTheSameViews(_ released: ReleasedStore) throws {
        try withCopy(released) { directory in
            let container = try open(directory)
            let report = try container.rebuildViews()
            #expect(!report.views.isEmpty && report.views.allSatisfy(\.isEqual), "\(report.views)")
            try expectAnswers(of: released, container)
            container.close()
        }
    }

    @Test(arguments: ReleasedStore.all) func aReleasedStoreIsWrittenTo(_ released: ReleasedStore) throws {
        try withCopy(released) { directory in
            let model = try ReleasedStore.models()[1]
            let container = PersistentContainer(name: "Films", model: model, at: .url(directory))
            #expect(try container.migrationPlan().isEmpty)
            try container.loadPersistentStores()
            let head = try container.head()
            let context = container.newBackgroundContext()
            let films = try context.fetch(FetchRequest<ManagedObject>(entityName: "Film"))
            for film in films { try film.setValue(10.0, forKey: "score") }
            let added = try context.insertNewObject(forEntityName: "Studio")
            try added.setValue("East", forKey: "name")
            try added.setValue(films, forKey: "works")
            try context.save()
            let request = try FetchRequest<ManagedObject>(
                entityName: "Film", where: try FetchPredicate(format: "score == 10 AND studio.name == 'East'"))
            #expect(try context.count(for: request) == films.count)
            #expect(try container.context(asOf: .event(head)).count(for: request) == 0)
            let report = try container.verify()
            #expect(report.isSound, "\(report.problems)")
            container.close()
        }
    }

    @Test(arguments: ReleasedStore.all) func largeValuesOfAReleasedStoreAreRead(_ released: ReleasedStore) throws {
        try withCopy(released) { directory in
            let container = try open(directory, isReadOnly: true)
            let context = container.newBackgroundContext()
            let request = try FetchRequest<ManagedObject>(
                entityName: "Film", where: try FetchPredicate(format: "still != nil"))
            let film = try #require(try context.fetch(request).first)
            #expect(try film.value(forKey: "still") as? Data == Data(repeating: 7, count: 70_000))
            container.close()
        }
    }

    @Test(arguments: ReleasedStore.all)
    func aReleasedStoreIsUpgradedAndAnswersTheSame(_ released: ReleasedStore) throws {
        try withCopy(released) { directory in
            var options = StoreOptions()
            options.packing.eventsInOneCommit = 30
            var store = try Store.open(.directory(directory), model: nil, options: options)
            let plan = try store.plannedUpgrade(keeping: 0)
            #expect(plan.after == nil && plan.before.blockCount == 0 && plan.packedEventCount == plan.before.eventCount)
            #expect(plan.before.oldestVersion == "0.1.0")
            // It is interrupted twice, and goes on when the store is opened again.
            for _ in 0..<2 {
                let part = try store.upgrade(keeping: 0, while: { false })
                #expect(part.stepCount == 1 && part.packedEventCount > 0)
                store.close()
                store = try Store.open(.directory(directory), model: nil, options: options)
            }
            let report = try store.upgrade(keeping: 0)
            let after = try #require(report.after)
            #expect(after.eventCount == plan.before.eventCount && after.blockCount > 1)
            #expect(after.recordCount < plan.before.recordCount / 2, "\(report)")
            #expect(after.oldestVersion == "this version" && after.features.contains(.blocks))
            #expect(try store.upgrade(keeping: 0).packedEventCount == 0)
            try expectAnswers(of: released, try PersistentContainer(over: store))
            store.close()
            let container = try open(directory)
            #expect(try container.rebuildViews().views.allSatisfy(\.isEqual))
            try expectAnswers(of: released, container)
            container.close()
        }
    }

    // MARK: The store and its answers

    private func open(_ directory: URL, isReadOnly: Bool = false) throws -> PersistentContainer {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.createsIfMissing = false
        return try PersistentContainer(over: Store.open(.directory(directory), model: nil, options: options))
    }

    private func answers(_ container: PersistentContainer) throws -> String {
        try StoreTranscript(container, models: try ReleasedStore.models(), queries: ReleasedStore.queries).text
    }

    private func expectAnswers(of released: ReleasedStore, _ container: PersistentContainer) throws {
        let expected = try String(contentsOf: released.answers, encoding: .utf8)
        let found = try answers(container)
        for (line, other) in zip(found.split(separator: "\n"), expected.split(separator: "\n")) where line != other {
            Issue.record("found: \(line)\nwritten: \(other)")
        }
        #expect(found == expected)
        let report = try container.verify()
        #expect(report.isSound, "\(report.problems)")
    }

    /// Runs `body` over a copy, since readers register in a file beside the store.
    private func withCopy(_ released: ReleasedStore, _ body: (URL) throws -> Void) throws {
        let manager = FileManager.default
        let copy = manager.temporaryDirectory.appending(
            path: "released-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer { try? manager.removeItem(at: copy) }
        let root = released.store.path(percentEncoded: false)
        let names = try #require(manager.enumerator(atPath: root)).compactMap { $0 as? String }
        try manager.createDirectory(at: copy, withIntermediateDirectories: true)
        for name in names.sorted() {
            let source = released.store.appending(path: name), target = copy.appending(path: name)
            let isFolder =
                (try manager.attributesOfItem(atPath: source.path)[.type] as? FileAttributeType)
                == .typeDirectory
            if isFolder {
                try manager.createDirectory(at: target, withIntermediateDirectories: true)
            } else {
                try Data(contentsOf: source).write(to: target)
            }
            try manager.setAttributes([.posixPermissions: isFolder ? 0o700 : 0o600], ofItemAtPath: target.path)
        }
        try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy.path)
        try body(copy)
    }
}
