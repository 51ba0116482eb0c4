import Foundation
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import StrataGraph
import StrataModel
import StrataObservability
import Testing
import Tracing

/// Metrics and traces of what contexts do, and a container as a service.
@Suite struct ObservabilityTests {
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()

    private func container() throws -> PersistentContainer {
        let container = try makeContainer(
            ObserverGroup(
                StoreMetrics(store: "films", factory: metrics),
                StoreTraces(store: "films", tracer: tracer, slowFault: .zero)))
        try container.loadPersistentStores()
        return container
    }

    private func request(_ format: String, _ arguments: any Sendable...) throws -> FetchRequest<ManagedObject> {
        try FetchRequest<ManagedObject>(
            entityName: "Film", where: FetchPredicate(format: format, argumentArray: arguments))
    }

    private func dimensions(_ operation: String, _ entity: String? = nil) -> [(String, String)] {
        let common = [
            ("db.system.name", "strata"), ("db.namespace", "films"), ("db.operation.name", operation),
        ]
        return common + (entity.map { [("db.collection.name", $0)] } ?? [])
    }

    @Test func savesAreCountedAndTimed() throws {
        let context = try container().newBackgroundContext()
        try context.saveFilms(20)
        try context.saveFilms(3)
        #expect(try metrics.expectCounter("strata.save.events", Array(dimensions("").prefix(2))).totalValue == 23)
        let timer = try metrics.expectTimer("db.client.operation.duration", dimensions("save"))
        #expect(timer.values.count == 2 && timer.values.allSatisfy { $0 > 0 })
        let commits = try metrics.expectTimer("strata.commit.duration", Array(dimensions("").prefix(2)))
        let waits = try metrics.expectTimer("strata.save.waiting.duration", Array(dimensions("").prefix(2)))
        #expect(commits.values.count == 2 && waits.values.count == 2)
        #expect(zip(timer.values, zip(commits.values, waits.values)).allSatisfy { $0 > $1.0 + $1.1 })
        let spans = tracer.finishedSpans.filter { $0.operationName == "save" }
        #expect(spans.count == 2)
        #expect(spans[0].attributes.get("strata.save.events") == 20.toSpanAttribute())
        #expect(
            spans.allSatisfy {
                $0.kind == .client && $0.endInstant.nanosecondsSinceEpoch > $0.startInstant.nanosecondsSinceEpoch
            })
    }

    @Test func theTimeOfTheDiskIsPartOfTheCommit() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "sync-\(UUID().uuidString)")
        let container = try makeContainer(
            StoreMetrics(store: "films", factory: metrics), at: .url(folder), durability: .full)
        try container.loadPersistentStores()
        defer {
            container.close()
            try? FileManager.default.removeItem(at: folder)
        }
        let context = container.newBackgroundContext()
        try context.saveFilms(1)
        try context.saveFilms(50)
        let common = Array(dimensions("").prefix(2))
        let commits = try metrics.expectTimer("strata.commit.duration", common)
        let syncs = try metrics.expectTimer("strata.sync.duration", common)
        #expect(syncs.values.count == 2)
        #expect(zip(syncs.values, commits.values).allSatisfy { $0 > 0 && $0 < $1 })
    }

    @Test func fetchesSayTheirPlanAndWhatTheyRead() throws {
        let container = try container()
        let context = container.newBackgroundContext()
        try context.saveFilms(100)
        context.reset()
        #expect(try context.fetch(try request("year >= 1990")).count == 10)
        #expect(try context.fetch(try request("title == 'film 7'")).count == 1)
        #expect(try context.count(for: try request("title CONTAINS '5'")) == 19)
        let rows = RowsFetchRequest(entityName: "Film", columns: [OutputColumn("year")])
        #expect(try context.fetchRows(rows).count == 100)
        let spans = tracer.finishedSpans.filter { $0.operationName != "save" && $0.operationName != "fault" }
        #expect(spans.map(\.operationName) == ["fetch Film", "fetch Film", "count Film", "rows Film"])
        #expect(
            spans.prefix(3).map { $0.attributes.get("strata.plan") }
                == ["index", "scan", "scan"].map { $0.toSpanAttribute() })
        #expect(
            spans.map { $0.attributes.get("db.response.returned_rows") }
                == [10, 1, 19, 100].map { $0.toSpanAttribute() })
        #expect(spans[1].attributes.get("strata.fetch.rows_read") == 100.toSpanAttribute())
        let returned = try metrics.expectRecorder("db.client.response.returned_rows", dimensions("fetch", "Film"))
        #expect(returned.values == [10, 1])
    }

    @Test func faultsAreCounted() throws {
        let container = try container()
        let context = container.newBackgroundContext()
        try context.saveFilms(10)
        context.reset()
        var request = FetchRequest<ManagedObject>(entityName: "Film")
        request.includesPropertyValues = false
        for film in try context.fetch(request) { _ = try film.value(forKey: "title") }
        #expect(try metrics.expectCounter("strata.faults", Array(dimensions("").prefix(2))).totalValue == 10)
        #expect(tracer.finishedSpans.contains { $0.operationName == "fault" })
    }

    @Test func whatThrowsHasTheErrorsName() throws {
        let context = try container().newBackgroundContext()
        #expect(throws: StrataError.self) { try context.fetch(FetchRequest<ManagedObject>(entityName: "Nothing")) }
        var request = try request("title CONTAINS 'x'")
        request.budget = RequestBudget(steps: 1)
        try context.saveFilms(2000)
        #expect(throws: StrataError.self) { try context.fetch(request) }
        let failed = dimensions("fetch", "Film") + [("error.type", "budgetExceeded")]
        #expect(try metrics.expectTimer("db.client.operation.duration", failed).values.count == 1)
        #expect(tracer.finishedSpans.contains { $0.status?.code == .error })
    }

    @Test func retriesAndOverruledConflictsAreCounted() throws {
        let container = try container()
        let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
        try first.saveFilms(1)
        second.refreshAllObjects()
        let mine = try #require(try first.fetch(FetchRequest<ManagedObject>(entityName: "Film")).first)
        let theirs = try #require(try second.fetch(FetchRequest<ManagedObject>(entityName: "Film")).first)
        try theirs.setValue("theirs", forKey: "title")
        try second.save()
        try mine.setValue("mine", forKey: "title")
        first.mergePolicy = .mergeByPropertyObjectTrump
        try first.save()
        let common = Array(dimensions("").prefix(2))
        #expect(try metrics.expectCounter("strata.save.retries", common).totalValue == 1)
        #expect(try metrics.expectCounter("strata.save.conflicts", common).totalValue == 1)
    }

    // MARK: The service

    @Test func aServiceOpensMeasuresAndCloses() async throws {
        let container = try makeContainer(nil)
        let service = ContainerService(container, interval: .milliseconds(5), factory: metrics)
        #expect(await !service.isReady)
        let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await service.waitUntilReady()
            #expect(container.isLoaded)
            let context = container.newBackgroundContext()
            try context.saveFilms(5)
            let common = Array(dimensions("").prefix(2))
            // The next look at the sizes sees them.
            while (try? metrics.expectGauge("strata.store.events", common))?.lastValue != 6 { await Task.yield() }
            let size = try metrics.expectGauge("strata.store.size", common + [("strata.part", "file")])
            #expect(size.lastValue.map { $0 > 0 } ?? false)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(!container.isLoaded)
        await #expect(throws: CancellationError.self) { try await service.waitUntilReady() }
    }

    /// Hears of views only.
    private struct ViewObserver: ContainerObserver {
        let told: AsyncStream<ViewMeasurement>.Continuation

        func saveEnded(_ save: SaveMeasurement) {}
        func fetchEnded(_ fetch: FetchMeasurement) {}
        func faultsEnded(count: Int, start: ContinuousClock.Instant, duration: Duration) {}
        func viewMoved(_ view: ViewMeasurement) { told.yield(view) }
    }

    @Test func theLagOfViewsIsToldAndMeasured() async throws {
        var view = ViewDescription(
            name: "ByYear", entityName: "Film", keys: [ViewKey("year")], aggregates: [ViewAggregate("films", .count)])
        view.upkeep = .catchingUp
        let plain = try makeContainer(nil)
        let (moves, told) = AsyncStream.makeStream(of: ViewMeasurement.self)
        var options = PersistentStoreOptions(durability: .disposable)
        options.observer = ObserverGroup(ViewObserver(told: told))
        let container = PersistentContainer(
            name: "films", model: try plain.managedObjectModel.adding(views: [view]), at: .inMemory, options: options)
        let service = ContainerService(container, interval: .milliseconds(5), factory: metrics)
        let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await service.waitUntilReady()
            try container.newBackgroundContext().saveFilms(5)
            let head = try container.head()
            try await container.wait(forView: "ByYear", to: head)
            #expect(try container.viewStatuses().map(\.state) == [.live])
            for await move in moves where move.eventNumber >= head {
                #expect(move.name == "ByYear" && move.lagInEvents == 0 && move.lag == .zero && !move.hasFailed)
                break
            }
            let dimensions = Array(dimensions("").prefix(2)) + [("strata.view", "ByYear")]
            for gauge in ["strata.view.lag", "strata.view.lag.duration", "strata.view.failed"] {
                while (try? metrics.expectGauge(gauge, dimensions))?.lastValue != 0 { await Task.yield() }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func aStoreThatCannotBeOpenedEndsTheService() async throws {
        let film = EntityDescription(name: "Film", properties: [])
        let container = PersistentContainer(
            name: "nowhere", model: try ManagedObjectModel(entities: [film]),
            at: .url(.init(filePath: "/proc/nowhere.strata")))
        let service = ContainerService(container)
        await #expect(throws: StrataError.self) { try await service.run() }
        await #expect(throws: StrataError.self) { try await service.waitUntilReady() }
    }
}
