import Foundation
import StrataGraph
import StrataModel
import Testing

/// A request in a cancelled task ends while it reads, whatever it is doing.
@Suite(.verifiesStores) struct RequestCancellationTests {
    private let container: PersistentContainer

    init() throws {
        container = try makeContainer()
        let context = container.newBackgroundContext()
        let rows = (0..<12_000).map { number -> [String: AttributeValue] in
            ["title": .string("Movie \(number)"), "rating": .double(Double(number % 50) / 10)]
        }
        try context.execute(BatchInsertRequest<Movie>(rows))
    }

    /// Runs a body in a task that is cancelled already.
    private func cancelled(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Void
    ) async {
        let container = container
        await ended(sourceLocation: sourceLocation) { try body(container.newBackgroundContext()) }
    }

    /// The same for a body that waits.
    private func ended(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async throws -> Void
    ) async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await body()
        }
        await #expect(throws: CancellationError.self, sourceLocation: sourceLocation) { try await task.value }
    }

    @Test func fetchesEnd() async {
        await cancelled { _ = try $0.fetch(FetchRequest<Movie>(format: "rating >= 0")) }
        await cancelled { _ = try $0.fetch(FetchRequest<Movie>().sorted(by: \.rating)) }
        await cancelled { _ = try $0.fetch(FetchRequest<Movie>(format: "title > 'M'")) }
        await cancelled { _ = try $0.fetch(FetchRequest<Movie>(format: "rating * 2 > 1")) }
        await cancelled { _ = try $0.count(for: FetchRequest<Movie>(format: "rating >= 0")) }
        await cancelled { _ = try $0.explain(FetchRequest<Movie>(format: "rating >= 0")) }
        await cancelled { context in
            let compiled = try context.compiled(FetchRequest<Movie>(format: "rating >= 0"))
            _ = try context.fetch(compiled)
        }
    }

    @Test func rowsAndAggregatesEnd() async {
        await cancelled { _ = try $0.fetchRows(RowsFetchRequest(of: Movie.self, columns: [OutputColumn("title")])) }
        for function in [FetchFunction.average, .median] {
            await cancelled {
                _ = try $0.fetchRows(
                    RowsFetchRequest(
                        of: Movie.self, columns: [OutputColumn("n", .function(function, [.keyPath("rating")]))]))
            }
        }
    }

    @Test func batchesEndAndLeaveWholeSteps() async throws {
        await cancelled { try $0.execute(BatchDeleteRequest<Movie>().where { $0.rating < 5 }) }
        await cancelled {
            try $0.execute(BatchUpdateRequest<Movie>(setting: ["rating": .constant(.double(1))]))
        }
        await cancelled {
            let rows = (0..<1000).map { ["title": AttributeValue.string("New \($0)")] }
            try $0.execute(BatchInsertRequest<Movie>(rows))
        }
        let context = container.newBackgroundContext()
        #expect(try context.count(for: FetchRequest<Movie>()) == 12_000)
    }

    @Test func aTaskThatIsNotCancelledIsLeftAlone() async throws {
        let container = container
        let count = try await Task {
            try container.newBackgroundContext().fetch(FetchRequest<Movie>(format: "rating >= 0")).count
        }.value
        #expect(count == 12_000)
    }

    @Test func whatATaskHandsToAnotherThreadEndsWithIt() async {
        let container = container
        let request = { @Sendable in try FetchRequest<Movie>(format: "rating >= 0") }
        await ended { try await container.performBackgroundTask { _ = try $0.fetch(request()) } }
        await ended {
            let actor = ContextActor(adopting: container.newBackgroundContext())
            try await actor.perform { _ = try $0.fetch(request()) }
        }
        await ended {
            let context = container.newBackgroundContext()
            try await context.perform { _ = try context.fetch(request()) }
        }
        await ended {
            let context = container.newBackgroundContext()
            try context.performAndWait { _ = try context.fetch(request()) }
        }
        await ended { _ = try await container.newBackgroundContext().fetchAsynchronously(request()) }
    }

    @Test func aBackgroundTaskEndsInTheMiddleOfItsFetch() async throws {
        let container = container
        let (begun, begin) = AsyncStream<Void>.makeStream()
        // All rows would take minutes.
        let task = Task {
            try await container.performBackgroundTask { context in
                begin.yield()
                return try context.count(
                    for: FetchRequest<Movie>(
                        format: "FUNCTION(%@, 'stringByAppendingString:', title) MATCHES '(.*a){9}b'",
                        String(repeating: "a", count: 20_000)))
            }
        }
        for await _ in begun { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func waitingEndsWithItsTask() async throws {
        let container = container
        let token = StoreToken(
            storeIdentifier: container.storeIdentifier, transaction: TransactionNumber(rawValue: 1 << 40))
        let task = Task { try await container.wait(for: token, timeout: .seconds(600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @TaskLocal private static var job = ""

    @Test func aBackgroundTaskKnowsTheValuesOfItsTask() async throws {
        let job = try await Self.$job.withValue("import") {
            try await container.performBackgroundTask { _ in Self.job }
        }
        #expect(job == "import")
    }

    /// What a monitor cancels ends too where no row is read.
    @Test func anAsynchronousFetchEndsInTheMiddleOfItsRows() async throws {
        let context = container.newBackgroundContext()
        let progress = FetchProgress()
        let task = Task {
            while progress.examinedRowCount == 0, !progress.isFinished { await Task.yield() }
            progress.cancel()
        }
        // All rows would take minutes.
        let request = try FetchRequest<Movie>(
            format: "FUNCTION(%@, 'stringByAppendingString:', title) MATCHES '(.*a){9}b'",
            String(repeating: "a", count: 20_000))
        await #expect(throws: CancellationError.self) {
            _ = try await context.fetchAsynchronously(request, progress: progress).count
        }
        await task.value
        #expect(progress.examinedRowCount < 12_000)
    }
}
