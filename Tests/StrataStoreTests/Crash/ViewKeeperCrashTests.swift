import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Processes that save and keep views behind the saves are killed at random moments. One column is made by a type of the
/// app.
@Suite(.serialized) struct ViewKeeperCrashTests {
    init() { CountedNumbers.register() }

    private static var kills: Int {
        ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 12
    }

    private static func views() -> [ViewDescription] {
        var byOwner = ViewDescription(
            name: "ByOwner", entityName: "Movie", keys: [ViewKey("owner", keyPath: "owner.label")],
            aggregates: [
                ViewAggregate("movies", .count), ViewAggregate("ratings", .sum, "rating"),
                ViewAggregate("last", .max, "number"), CountedNumbers.column,
            ], orders: [ViewOrder("movies", isAscending: false)])
        var all = ViewDescription(
            name: "All", entityName: "Movie", aggregates: [ViewAggregate("movies", .count)])
        byOwner.upkeep = .catchingUp
        all.upkeep = .catchingUp
        byOwner.isOfStore = true
        all.isOfStore = true
        return [byOwner, all]
    }

    /// Opens the store beside others, without keeping its views.
    private func open(_ directory: URL, views: [ViewDescription] = []) throws -> Store {
        var options = StoreOptions()
        options.viewKeeping = .byHand
        let store = try Store.open(.directory(directory), model: nil, options: options)
        if views.isEmpty { return store }
        let model = try store.schema.model.adding(views: views)
        store.close()
        return try Store.open(.directory(directory), model: model, options: options)
    }

    @Test func aViewIsBuiltWhoeverIsKilled() throws {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "strata-building-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [37])[0])
        let directory = root.appending(path: "movies.strata", directoryHint: .isDirectory)
        let first = try CrashChild(directory, .relaxed, "alone")
        for _ in 0..<40 { _ = try #require(first.acknowledgement()) }
        _ = first.kill()
        var buildingCount = 0
        for round in 0..<Self.kills * 2 {
            let child = try CrashChild(directory, .relaxed, "views")
            for _ in 0..<Int.random(in: 1...14, using: &generator) {
                _ = try #require(child.acknowledgement(), "round \(round)")
            }
            usleep(UInt32.random(in: 0...8_000, using: &generator))
            _ = child.kill()
            let store = try open(directory)
            defer { store.close() }
            let halfWay = try store.verify()
            #expect(halfWay.isSound, "round \(round): \(halfWay.problems.map(\.description))")
            if try store.viewStates().contains(where: { $0.upkeep.phase != .live }) { buildingCount += 1 }
            let before = try (movies(store), movies(store, "ByOwner"))
            // Where it was is where the next process goes on, most of the time.
            guard round % 4 == 0 else { continue }
            try store.keepViews()
            #expect(try store.viewStates().allSatisfy { $0.upkeep.lagInEvents == 0 && $0.upkeep.phase == .live })
            #expect(try movies(store) == before.0 && movies(store, "ByOwner") == before.1, "round \(round)")
            let count = try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
            #expect(before.0 == [[.integer(Int64(count))]], "round \(round)")
            let whole = try store.verify()
            #expect(whole.isSound, "round \(round): \(whole.problems.map(\.description))")
            #expect(whole.uncheckedViews.isEmpty)
            #expect(try store.rebuild().isUnchanged, "round \(round)")
        }
        #expect(buildingCount > 0)
    }

    private func movies(_ store: Store, _ view: String = "All") throws -> [[AttributeValue]] {
        try store.read(at: try store.head()) { try $0.rows(ViewRequest(view)).map(Array.init) }
    }

    @Test func eachEventCountsOnceWhoeverIsKilled() throws {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "strata-keeper-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [31])[0])
        let directory = root.appending(path: "movies.strata", directoryHint: .isDirectory)
        let first = try CrashChild(directory, .relaxed, "alone")
        for _ in 0..<30 { _ = try #require(first.acknowledgement()) }
        _ = first.kill()
        try open(directory, views: Self.views()).close()
        for round in 0..<Self.kills {
            let children = [
                try CrashChild(directory, .relaxed, "alone"), try CrashChild(directory, .relaxed, "second"),
            ]
            for child in children {
                for _ in 0..<Int.random(in: 1...25, using: &generator) {
                    _ = try #require(child.acknowledgement(), "round \(round)")
                }
            }
            let survivor = Int.random(in: 0...1, using: &generator)
            _ = children[1 - survivor].kill()
            if round % 3 == 0 {
                // Whichever of the two had kept the views, the other one goes on.
                let store = try open(directory)
                defer { store.close() }
                try store.wait(forView: "ByOwner", to: nil, timeout: .seconds(30))
                try store.wait(forView: "All", to: nil, timeout: .seconds(30))
            }
            usleep(UInt32.random(in: 0...40_000, using: &generator))
            _ = children[survivor].kill()
            let store = try open(directory)
            defer { store.close() }
            let behind = try store.verify()
            #expect(behind.isSound, "round \(round): \(behind.problems.map(\.description))")
            let before = try movies(store)
            try store.keepViews()
            #expect(try store.viewStates().allSatisfy { $0.upkeep.lagInEvents == 0 && $0.upkeep.phase == .live })
            #expect(try movies(store) == before, "round \(round)")
            let count = try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
            #expect(before == [[.integer(Int64(count))]], "round \(round)")
            let whole = try store.verify()
            #expect(whole.isSound, "round \(round): \(whole.problems.map(\.description))")
            #expect(whole.uncheckedViews.isEmpty)
        }
    }
}
