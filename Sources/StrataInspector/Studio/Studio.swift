public import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore

/// Stores whose pages a browser shows: their model, objects, transactions and timeline at any moment.
///
/// A page is a value, the same for people and for programs: `answer(_:)` takes an address apart from HTTP, and a server
/// passes addresses in and answers on.
///
/// Stores are open for reading only, unless changes are allowed. A request that takes more than its budget, or whose task is cancelled, ends.
public final class Studio: Sendable {
    let stores: [StudioStore]
    private let running = Locked(0)
    private let verifications = StudioVerification()
    private let drafts = StudioDrafts()
    /// Whether pages may change the stores.
    public let isWritable: Bool
    static let mostRunning = 16
    /// How long a request may take.
    static let longest = Duration.seconds(60)
    /// Reading blocks, so it has threads of its own: those of Dispatch and of tasks are as many as the machine has cores.
    static let threads = WorkerThreads(limit: mostRunning)

    /// Opens stores for reading, or for changes too. For the address of a shared log it opens a store in memory, which
    /// receives the log.
    ///
    /// - Parameters:
    ///   - paths: the stores' directories, or addresses of shared logs.
    ///   - isWritable: whether pages may change the stores.
    ///   - keyFiles: files with the keys of encrypted attributes, the newest first; without them those that
    ///     `STRATA_KEY_FILE` names.
    ///   - subjectKeys: the directory with the keys of subjects; without it the one that `STRATA_SUBJECT_KEYS` names.
    /// - Throws: `StrataError` if one of them cannot be opened; an error that says so if several stores are to be written
    ///   with keys.
    public init(
        paths: [String], isWritable: Bool = false, keyFiles: [String] = [], subjectKeys: String? = nil
    ) throws {
        self.isWritable = isWritable
        // A store takes the newest key for its own.
        guard !isWritable || paths.count < 2 || KeyFiles.paths(keyFiles).isEmpty else {
            throw UsageError("Keys for writing belong to one store: start Studio for each store by itself.")
        }
        var names: Set<String> = []
        stores = try paths.map { path in
            let name = Self.name(of: path, besides: names)
            names.insert(name)
            return try StudioStore(
                name: name, path: path, isWritable: isWritable, keyFiles: keyFiles, subjectKeys: subjectKeys)
        }
    }

    /// Returns the reason why stores cannot be opened, in words.
    public static func text(of error: any Error) -> String { StudioProblem(error).message }

    deinit { close() }

    /// The names of the stores in addresses.
    public var names: [String] { stores.map(\.name) }

    /// The first address for a person: the only store's, or that of the list of stores.
    public var home: String {
        guard names.count == 1 else { return "/" }
        return "/" + (names[0].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    /// Reads what the timelines of the stores show, on threads of its own, so that the first page has it.
    public func prepare() {
        for source in stores { source.prepareTimeline(Self.threads) }
    }

    /// Closes the stores. Requests answer with an error from now on.
    public func close() { for source in stores { source.store.close() } }

    /// The name of a store's directory without its ending, or of a shared log, and a number if another has it.
    private static func name(of path: String, besides names: Set<String>) -> String {
        let url = URL(filePath: SharedLogAddress(path)?.lineage ?? path, directoryHint: .isDirectory)
        let name = url.deletingPathExtension().lastPathComponent
        // "-" is where servers keep what belongs to no store.
        let usual = name.isEmpty || name == "-" || name.hasPrefix(".") ? "store" : name
        guard names.contains(usual) else { return usual }
        return (2...).lazy.map { "\(usual)-\($0)" }.first { !names.contains($0) } ?? usual
    }

    /// Has the process say which store is damaged where the damage would end it without a word: a file that is cut short
    /// while it is read raises a signal.
    public func reportDamage() {
        DamageGuard.watch(stores.map(\.path))
    }

    // MARK: Answers

    /// The page at an address, or the problem with the request. Never blocks the thread of the caller.
    public func answer(_ address: StudioAddress) async -> StudioAnswer {
        await running { self.answer(address, $0) }
    }

    /// Shows what a change would do, at the page `draft` of a store, or saves one that was shown, at the page `save`.
    ///
    /// - Parameter body: the change, or the name of the draft with the author and the reason, as JSON.
    public func change(_ address: StudioAddress, _ body: Data) async -> StudioAnswer {
        await running { _ in self.change(address, body) }
    }

    /// Runs `body` on a thread where it may block, if fewer than `mostRunning` others run.
    ///
    /// - Parameter limit: after this time the monitor is cancelled, and what `body` stops then is a problem that says so.
    func running(
        within limit: Duration = longest, _ body: @escaping @Sendable (QueryMonitor) -> StudioAnswer
    ) async -> StudioAnswer {
        let isFull = running.withLock { running in
            if running >= Self.mostRunning { return true }
            running += 1
            return false
        }
        if isFull { return Self.answer(StudioProblem(503, "Too many requests are running.")) }
        defer { running.withLock { $0 -= 1 } }
        let monitor = QueryMonitor()
        let isLate = Locked(false)
        let clock = Task {
            try await Task.sleep(for: limit)
            isLate.withLock { $0 = true }
            monitor.cancel()
        }
        defer { clock.cancel() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Self.threads.submit { continuation.resume(returning: body(monitor)) }
            }
        } onCancel: {
            monitor.cancel()
        }
        guard answer.status == StudioProblem.cancelled.status, isLate.withLock({ $0 }) else { return answer }
        return Self.answer(
            StudioProblem(422, "The request took longer than \(limit.components.seconds) seconds. Narrow it."))
    }

    func answer(_ address: StudioAddress, _ monitor: QueryMonitor = QueryMonitor()) -> StudioAnswer {
        do {
            if monitor.isCancelled { throw CancellationError() }
            guard let name = address.path.first else { return try StudioAnswer(json: StoresPage(stores)) }
            return try StudioRoute.answer(
                Array(address.path.dropFirst()), try StudioReading(try source(name), address.query, monitor))
        } catch {
            return Self.answer(StudioProblem(error))
        }
    }

    func change(_ address: StudioAddress, _ body: Data) -> StudioAnswer {
        do {
            guard isWritable else { throw StudioProblem(403, "Studio only reads. Start it with --write.") }
            guard address.path.count == 2 else { throw StudioProblem(404, "There is no such page.") }
            return try drafts.answer(address.path[1], try source(address.path[0]), body)
        } catch {
            return Self.answer(StudioProblem(error))
        }
    }

    private func source(_ name: String) throws -> StudioStore {
        guard let source = stores.first(where: { $0.name == name }) else {
            throw StudioProblem(404, "There is no store '\(ValueText.harmless(name))' here.", field: "store")
        }
        return source
    }

    private static func answer(_ problem: StudioProblem) -> StudioAnswer {
        // A problem is made of numbers and text, which can be encoded.
        (try? StudioAnswer(status: problem.status, json: ["error": problem]))
            ?? StudioAnswer(status: 500, contentType: "text/plain", body: Data())
    }

    // MARK: Live

    /// The number of the last transaction now and each time it has changed, until the caller stops or the store is closed;
    /// nil for a store that is not here.
    public func moves(of name: String) -> AsyncStream<UInt64>? {
        guard let source = stores.first(where: { $0.name == name }) else { return nil }
        let store = source.store
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let told = Locked<UInt64?>(nil)
            // An older number never takes the place of a newer one.
            @Sendable func tell(_ number: UInt64) {
                told.withLock { told in
                    guard told.map({ $0 < number }) ?? true else { return }
                    told = number
                    continuation.yield(number)
                }
            }
            let observation = try? store.observeHead(onClose: { continuation.finish() }) { event in
                if let record = try? store.transaction(containing: event) { tell(record.number.rawValue) }
            }
            guard let observation, let newest = try? store.lastTransaction(upTo: store.head()) else {
                return continuation.finish()
            }
            continuation.onTermination = { _ in observation.cancel() }
            // A transaction may have arrived before the observation began.
            tell(newest.rawValue)
        }
    }

    /// Verifies a store: its steps and its result as lines of JSON; nil for a store that is not here.
    ///
    /// - Parameter isQuick: whether only pages, the log and counts are read.
    public func verification(of name: String, isQuick: Bool) -> AsyncStream<String>? {
        stores.first { $0.name == name }.map { verifications.run($0, isQuick ? .quick : .full) }
    }
}
