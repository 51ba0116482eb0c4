// The rows of a declared view as an asynchronous sequence (`LiveViewRows`).

public import StrataModel
import StrataStore

/// The difference of two states of a view's rows. Rows are the same if their keys are.
public struct ViewRowsDifference: Sendable, Hashable {
    /// Rows that are new, as indices among the rows after the change.
    public let inserted: [Int]
    /// Rows that stay but have other values, as indices among the rows after the change.
    public let changed: [Int]
    /// Rows that are gone, as indices among the rows before the change.
    public let removed: [Int]
    /// Whether rows that stay have another order.
    public let isReordered: Bool

    /// Whether the rows are as they were.
    public var isEmpty: Bool { inserted.isEmpty && changed.isEmpty && removed.isEmpty && !isReordered }

    init(from old: ResultRows, to new: ResultRows, keyCount: Int) {
        func keys(_ rows: ResultRows) -> [StoredValues] { rows.map { StoredValues(list: $0.prefix(keyCount)) } }
        let (oldKeys, newKeys) = (keys(old), keys(new))
        let before = Dictionary(uniqueKeysWithValues: zip(oldKeys, old.indices))
        var inserted: [Int] = []
        var changed: [Int] = []
        var stayed: [Int] = []
        for (index, key) in newKeys.enumerated() {
            guard let place = before[key] else {
                inserted.append(index)
                continue
            }
            stayed.append(place)
            if StoredValues(list: old[place]) != StoredValues(list: new[index]) { changed.append(index) }
        }
        let left = Set(stayed)
        removed = old.indices.filter { !left.contains($0) }
        isReordered = zip(stayed, stayed.dropFirst()).contains { $0 > $1 }
        self.inserted = inserted
        self.changed = changed
    }

    /// Values of a row, compared as they are stored: a number that is none is the same as itself.
    private struct StoredValues: Hashable {
        let list: ArraySlice<AttributeValue>

        static func == (left: StoredValues, right: StoredValues) -> Bool {
            left.list.elementsEqual(right.list) { $0.isIdentical(to: $1) }
        }

        func hash(into hasher: inout Hasher) { for value in list { hasher.combine(value) } }
    }
}

/// An element of the live rows of a view: the rows, and what has changed since the element before.
public struct LiveViewRowsUpdate: Sendable {
    /// The rows in the order of the request.
    public let rows: ResultRows
    /// The changes since the last element; nil in the first one.
    public let difference: ViewRowsDifference?
    /// The number of the last event that the rows include.
    public let eventNumber: EventNumber
}

/// The rows of a declared view in a context, as they change: an asynchronous sequence.
///
/// ```swift
/// let best = ViewFetchRequest("StudioSales").sorted(by: "gross", ascending: false).prefix(20)
/// for try await update in context.rows(for: best) {
///     print(update.rows, update.difference?.changed ?? [])
/// }
/// ```
///
/// The first element is the present rows. A slow reader gets one element for all changes since its last. Iterate in the
/// isolation of the context. With `automaticallyMergesChangesFromParent` the rows include what other contexts and
/// processes save; without it, only what this context changes and merges.
public struct LiveViewRows: AsyncSequence {
    let context: ManagedObjectContext
    let request: ViewFetchRequest
    let coalescing: Duration

    /// Begins with the rows as they are now.
    public func makeAsyncIterator() -> LiveViewRowsIterator { LiveViewRowsIterator(context, request, coalescing) }
}

/// One pass over the live rows of a view.
public struct LiveViewRowsIterator: AsyncIteratorProtocol {
    private let reader: ViewRowsReader

    init(_ context: ManagedObjectContext, _ request: ViewFetchRequest, _ coalescing: Duration) {
        reader = ViewRowsReader(context, request, coalescing)
    }

    /// Waits for the next change of the rows; nil when the task is cancelled. The first call returns at once.
    ///
    /// - Throws: as `ManagedObjectContext.fetchRows(_:)`; `storeClosed`; `CancellationError`.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveViewRowsUpdate? {
        try await reader.next(isolation: actor)
    }
}

/// Makes the elements of live rows. Belongs to the context's isolation.
private final class ViewRowsReader {
    private let context: ManagedObjectContext
    private let request: ViewFetchRequest
    private let coalescing: Duration
    private let signals = StateSignals()
    private var shown: (rows: ResultRows, state: StoreState, keyCount: Int)?

    init(_ context: ManagedObjectContext, _ request: ViewFetchRequest, _ coalescing: Duration) {
        self.context = context
        self.request = request
        self.coalescing = coalescing
    }

    private func state() throws -> StoreState {
        if context.automaticallyMergesChangesFromParent { try context.moveToHead() }
        return try context.state(includesPendingChanges: request.includesPendingChanges)
    }

    private func start() throws -> LiveViewRowsUpdate {
        // Observing begins before the first read, so that no change is missed between the two.
        context.followers.add(signals)
        try signals.observe(context.binding.store)
        let state = try state()
        let (rows, keyCount) = try context.binding.read(
            at: state.eventNumber, layers: state.layers, budget: request.budget ?? context.binding.requestBudget
        ) { snapshot in
            (try snapshot.rows(request.storeRequest), try snapshot.keyCount(ofView: request.viewName))
        }
        shown = (rows, state, keyCount)
        return LiveViewRowsUpdate(rows: rows, difference: nil, eventNumber: state.eventNumber)
    }

    /// - Parameter before: the rows at an earlier state, which may no longer be readable.
    private func rows(at next: StoreState, after earlier: StoreState, _ before: ResultRows) throws -> ResultRows {
        do {
            return try context.binding.store.compare(earlier, next, through: context.binding.schema) {
                _, new, difference in
                guard try new.isConcerned(view: request.viewName, by: difference) else { return before }
                return try new.rows(request.storeRequest)
            }
        } catch let error as StrataError where error.code == .historyDropped {
            return try context.binding.read(at: next.eventNumber, layers: next.layers) {
                try $0.rows(request.storeRequest)
            }
        }
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> LiveViewRowsUpdate? {
        guard var shown else { return try start() }
        while try await signals.next(coalescing: coalescing, isolation: actor) {
            try context.binding.store.checkOpen()
            let next = try state()
            guard !shown.state.isSame(as: next) else { continue }
            let rows = try rows(at: next, after: shown.state, shown.rows)
            let difference = ViewRowsDifference(from: shown.rows, to: rows, keyCount: shown.keyCount)
            shown = (rows, next, shown.keyCount)
            self.shown = shown
            if difference.isEmpty { continue }
            return LiveViewRowsUpdate(rows: rows, difference: difference, eventNumber: next.eventNumber)
        }
        return nil
    }
}

extension ManagedObjectContext {
    /// Follows the rows of a declared view in this context.
    ///
    /// - Parameter coalescing: how long changes are gathered before they are reported together.
    public func rows(for request: ViewFetchRequest, coalescing: Duration = .zero) -> LiveViewRows {
        LiveViewRows(context: self, request: request, coalescing: coalescing)
    }
}

extension ViewRows {
    /// The rows as they change, at most this many; 0 for all. `update.rows.values()` makes values of them.
    ///
    /// - Parameter coalescing: how long changes are gathered before they are reported together.
    public func updates(limit: Int = 0, coalescing: Duration = .zero) -> LiveViewRows {
        context.rows(for: with { $0.fetchLimit = limit }.request, coalescing: coalescing)
    }
}
