import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore

/// A store that Studio has open.
final class StudioStore: Sendable {
    /// Its name in addresses.
    let name: String
    /// The location of the store; for a shared log its address without the password.
    let path: String
    let store: Store
    /// Whether pages may change it. A store that receives a shared log is open for writing in any case.
    let isWritable: Bool
    /// The file that is open; nil for a shared log.
    private let file: PlaceIdentity?
    /// The counts of the log so far, so that a later page reads only what is new.
    let pulse = Locked(StudioPulse())
    let shownLinks = ShownLinks()
    private let isPrepared = Locked(false)

    /// - Throws: `persistentStoreOpen` with the path if there is no store.
    init(name: String, path: String, isWritable: Bool, keyFiles: [String], subjectKeys: String?) throws {
        self.name = name
        self.isWritable = isWritable
        var options = StoreOptions()
        options.isReadOnly = !isWritable
        options.createsIfMissing = false
        // A slider goes from moment to moment.
        options.pastPartSize = 1 << 15
        options.encryptionKeys = KeyFiles.keys(of: keyFiles)
        options.subjectKeys = try KeyFiles.subjectKeys(subjectKeys)?.source
        if let address = SharedLogAddress(path) {
            self.path = try address.connection().name
            store = try address.open(options)
            file = nil
            return
        }
        self.path = path
        try StoreArguments(path: path).checkIsThere()
        store = try Store.open(
            .directory(URL(filePath: path, directoryHint: .isDirectory)), model: nil, options: options)
        file = PlaceIdentity(path + "/data.mdb")
    }

    /// Reads the counts of the log, on a thread of its own.
    func prepareTimeline(_ threads: WorkerThreads) {
        threads.submit { [self] in
            // A page that needs them meets the same error, and shows it.
            do { try pulse.withLock { try $0.update(store) {} } } catch {
                StoreLogger.warn("the timeline of \(path) could not be prepared: \(error)")
            }
        }
    }

    /// The past of a log of more events is read only when a page shows it.
    private static let mostPrepared: UInt64 = 3_000_000

    /// Reads the first state of the newest model once, on a thread of its own.
    ///
    /// An early state is made of all later events, in parts that moments share. Who sees a slider will move it there, and
    /// then finds the parts. The reading begins when the page with the slider is drawn, so that it does not delay that.
    func preparePast(_ threads: WorkerThreads) {
        let isFirst = isPrepared.withLock { isPrepared in
            defer { isPrepared = true }
            return !isPrepared
        }
        guard isFirst else { return }
        Task {
            try await Task.sleep(for: Self.pause)
            threads.submit { self.readFirstStateOrWarn() }
        }
    }

    private static let pause = Duration.milliseconds(500)

    private func readFirstStateOrWarn() {
        do { try readFirstState() } catch {
            // A page that needs the state meets the same error, and shows it.
            StoreLogger.warn("an early state of \(store.path) could not be prepared: \(error)")
        }
    }

    private func readFirstState() throws {
        let version = store.schema.version
        let head = try store.head()
        var low = (try store.baseline()?.transaction ?? .zero).rawValue + 1
        var high = try store.lastTransaction(upTo: head).rawValue
        while low < high {
            let middle = (low + high) / 2
            guard let record = try store.transaction(TransactionNumber(rawValue: middle)) else { return }
            if record.modelVersion < version { low = middle + 1 } else { high = middle }
        }
        guard let first = try store.transaction(TransactionNumber(rawValue: low))?.lastEvent, first < head,
            head.rawValue - first.rawValue <= Self.mostPrepared
        else { return }
        try store.read(at: first) { _ in }
    }

    /// Whether the store is no longer at its path: it was moved, deleted or replaced while it was open.
    var isGone: Bool { file.map { $0 != PlaceIdentity(path + "/data.mdb") } ?? false }
}

/// One request: a store at a moment, with the bounds of what the request may read.
struct StudioReading {
    let source: StudioStore
    let query: [String: String]
    let moment: StoreMoment
    let names: RecordedNames
    let propertyNames: MomentNames
    let links: LinkNames
    let monitor: QueryMonitor

    /// A hundred million steps take seconds, not minutes; a page has no use for more.
    static let budget = RequestBudget(steps: 100_000_000, memoryInBytes: 256 << 20)

    var store: Store { source.store }

    /// Reads the moment from `at`: the number of a transaction, a tag or a date; the newest state without it.
    init(_ source: StudioStore, _ query: [String: String], _ monitor: QueryMonitor) throws {
        self.source = source
        self.query = query
        self.monitor = monitor
        moment = try Self.moment(query["at"], "at", in: source.store)
        names = try source.store.recordedNames()
        propertyNames = try MomentNames(moment.schema, of: source.store)
        links = moment.linkNames(names, in: source.store, usesTitles: true)
    }

    /// - Parameter field: the parameter that has the text, for errors.
    static func moment(_ text: String?, _ field: String, in store: Store) throws -> StoreMoment {
        try StudioProblem.of(field) {
            guard let text, !text.isEmpty else { return try StoreMoment(nil, in: store) }
            guard let number = UInt64(text) else {
                do {
                    return try StoreMoment(text, in: store)
                } catch let error as UsageError {
                    throw UsageError(error.message.replacing(Moment.numbers, with: "a transaction (12)"))
                }
            }
            guard number > 0 else { throw UsageError("The first transaction is 1.") }
            return try StoreMoment("t\(number)", in: store)
        }
    }

    func read<R>(at other: StoreMoment? = nil, _ body: (Snapshot) throws -> R) throws -> R {
        let moment = other ?? self.moment
        return try store.read(
            at: moment.eventNumber, through: moment.schema, monitor: monitor, budget: Self.budget, body)
    }

    /// The address of a page of this store at the same moment.
    func address(_ path: [String]) -> String {
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        let moment = query["at"].map { "?at=\(encoded($0))" } ?? ""
        return "/" + ([source.name] + path).map(encoded).joined(separator: "/") + moment
    }

    func checkCancellation() throws { if monitor.isCancelled { throw CancellationError() } }

    /// A whole number of a parameter within bounds.
    func number(_ name: String, _ range: ClosedRange<Int>, default usual: Int) throws -> Int {
        guard let text = query[name], !text.isEmpty else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw StudioProblem(
                400, "\(name) is a number from \(range.lowerBound) to \(range.upperBound).", field: name)
        }
        return number
    }

    /// A parameter that is not empty.
    func text(_ name: String) throws -> String? {
        guard let text = query[name], !text.isEmpty else { return nil }
        guard text.utf8.count <= 10_000 else { throw StudioProblem(400, "\(name) is too long.", field: name) }
        return text
    }
}

/// The moment that a page shows.
struct StudioMoment: Encodable, Equatable {
    /// The transaction after which the state is shown; 0 before the first.
    let transaction: UInt64
    let event: UInt64
    let time: String?
    let author: String?
    /// Its beginning, if it is long.
    let reason: String?
    let tags: [String]
    /// The last transaction of the store.
    let newest: UInt64
    /// Whether the page shows the newest state because no other was asked for.
    let follows: Bool
    /// Whether the store can be changed.
    let isWritable: Bool
    /// Whether the store is no longer at its path. What was open is shown and cannot be changed.
    let isGone: Bool

    init(_ reading: StudioReading) throws {
        let record = try reading.store.transaction(containing: reading.moment.eventNumber)
        transaction = try reading.store.lastTransaction(upTo: reading.moment.eventNumber).rawValue
        event = reading.moment.eventNumber.rawValue
        time = record.map { ValueText.moment($0.date) }
        author = record?.author
        reason = record?.reason.map { ValueText.beginning($0) }
        tags = try reading.store.tags().filter { $0.value == reading.moment.eventNumber }.keys.sorted()
        newest = try reading.store.lastTransaction(upTo: try reading.store.head()).rawValue
        isGone = reading.source.isGone
        isWritable = reading.source.isWritable && !isGone
        follows = (reading.query["at"] ?? "").isEmpty
    }
}
