import Foundation
import StrataModel
package import StrataStore

/// A shared log in the memory of this process: what the contract of a log asks for, in few lines.
///
/// `state` is guarded by `condition`.
package final class MemoryLog: @unchecked Sendable {
    struct State {
        var identity: SharedLogIdentity?
        var transactions: [SharedTransaction] = []
        var blobs: [Data: Data] = [:]
        var nextRow: UInt64 = 1
        var leases: [String: (lease: SharedLease, until: ContinuousClock.Instant)] = [:]
        /// By how much the log's clock is ahead.
        var ahead = Duration.zero
        /// The last transaction that is gone, or about to be.
        var cut = SharedLogEnd.start
        var snapshot: SharedSnapshot?
        /// The parts of snapshots, also of those that are not published.
        var pieces: [UUID: [Int: Data]] = [:]
        var end: SharedLogEnd { transactions.last?.end ?? cut }

        /// - Throws: `refused` for what was cut off.
        func transactions(after number: TransactionNumber) throws(SharedLogFailure) -> ArraySlice<SharedTransaction> {
            guard number >= cut.transaction else {
                throw .refused(.behindCut("the log begins after transaction \(cut.transaction)"))
            }
            return transactions.drop { $0.number <= number }
        }

        /// - Throws: as `transactions(after:)`.
        func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? {
            if number == cut.transaction, number > .zero { return cut.digest }
            guard number > .zero else { return nil }
            return try transactions(after: TransactionNumber(rawValue: number.rawValue - 1)).first
                .flatMap { $0.number == number ? $0.digest : nil }
        }
    }

    private let condition = NSCondition()
    private var state = State()

    package init() {}

    func withState<R>(_ body: (inout State) throws -> R) rethrows -> R {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return try body(&state)
    }

    /// Waits until `isMet`, or until `end`.
    func wait(until end: Date, _ isMet: (State) -> Bool) -> State {
        condition.lock()
        defer { condition.unlock() }
        while !isMet(state) { if !condition.wait(until: end) { break } }
        return state
    }

    func wakeAll() { withState { _ in } }

    /// Everything in the log, in order.
    package var transactions: [SharedTransaction] { withState { $0.transactions } }

    /// Forgets the newest transactions, as a server does that is restored to an earlier state.
    package func forget(_ count: Int) { withState { $0.transactions.removeLast(count) } }

    /// Moves the clock of the log, by which leases run out.
    package func passTime(_ duration: Duration) { withState { $0.ahead += duration } }

    /// A client.
    package func client() -> any SharedLog { MemoryLogClient(self) }

    package func connection(timeout: Duration = .seconds(5)) -> SharedLogConnection {
        SharedLogConnection(name: "memory", timeout: timeout) { self.client() }
    }
}

/// One client of a log in memory. `isClosed` is guarded by the log.
private final class MemoryLogClient: SharedLog, @unchecked Sendable {
    private let server: MemoryLog
    private var isClosed = false

    init(_ server: MemoryLog) { self.server = server }

    private func ask<R>(
        _ body: (inout MemoryLog.State) throws(SharedLogFailure) -> R
    ) throws(SharedLogFailure) -> R {
        let result: Result<R, SharedLogFailure> = server.withState { state in
            guard !isClosed else { return .failure(.unreachable("the client is closed")) }
            return Result { () throws(SharedLogFailure) in try body(&state) }
        }
        return try result.get()
    }

    func open(
        founder: SharedLogIdentity?
    ) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd) {
        try ask { state throws(SharedLogFailure) in
            guard let identity = state.identity ?? founder else { throw .refused(.missingLog("memory")) }
            state.identity = identity
            return (identity, state.end)
        }
    }

    /// Does the other work when the transactions are in the log, and before it answers.
    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd, meanwhile: () -> Void
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        let answer = try append(transactions, after: end)
        meanwhile()
        return answer
    }

    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        try ask { state throws(SharedLogFailure) in
            let here = state.end
            if here == end {
                let lacking = transactions.flatMap(\.blobs).filter { state.blobs[$0] == nil }
                if !lacking.isEmpty { return .lacking(lacking) }
                let ids = Set(state.transactions.map(\.id))
                if let known = transactions.first(where: { ids.contains($0.id) }) {
                    throw .refused(StrataError(.divergedLog, "Another transaction has the id \(known.id)."))
                }
                state.transactions += transactions.map { transaction in
                    var kept = transaction
                    kept.blobs = []
                    return kept
                }
                return .appended
            }
            if let last = transactions.last, state.transactions.contains(where: { $0.digest == last.digest }) {
                return .appended
            }
            let missing = Array(try state.transactions(after: end.transaction))
            let digest = end.transaction == .zero ? SharedLogEnd.start.digest : try state.digest(of: end.transaction)
            guard digest == end.digest else { throw .refused(.diverged(at: end)) }
            return .overtaken(missing)
        }
    }

    func read(after number: TransactionNumber, limitInBytes: Int) throws(SharedLogFailure) -> [SharedTransaction] {
        try ask { state throws(SharedLogFailure) in
            var size = 0
            return Array(
                try state.transactions(after: number).prefix { transaction in
                    defer { size += transaction.bytes.count }
                    return size < limitInBytes
                })
        }
    }

    func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? {
        try ask { state throws(SharedLogFailure) in try state.digest(of: number) }
    }

    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber {
        let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) / 1e18
        let state = server.wait(until: Date(timeIntervalSinceNow: seconds)) {
            isClosed || $0.end.transaction > number
        }
        return try ask { _ in state.end.transaction }
    }

    func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64> {
        try ask { state in
            defer { state.nextRow += count }
            return state.nextRow..<state.nextRow + count
        }
    }

    func put(blob: Data, digest: Data) throws(SharedLogFailure) { try ask { $0.blobs[digest] = blob } }

    func blob(digest: Data) throws(SharedLogFailure) -> Data? { try ask { $0.blobs[digest] } }

    func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure) {
        try ask { state in
            for transaction in transactions {
                for index in state.transactions.indices
                where state.transactions[index].number == transaction.number
                    && state.transactions[index].digest == transaction.digest
                {
                    state.transactions[index].bytes = transaction.bytes
                }
            }
        }
    }

    var leases: any SharedLeases { MemoryLeases(server) }
    var upkeep: any SharedLogUpkeep { MemoryUpkeep(server) }

    func close() { server.withState { _ in isClosed = true } }
}

/// The leases of a log in memory.
private struct MemoryLeases: SharedLeases {
    private let server: MemoryLog

    init(_ server: MemoryLog) { self.server = server }

    func take(_ name: String, for holder: UUID, during time: Duration) throws(SharedLogFailure) -> SharedLease {
        server.withState { state in
            let now = ContinuousClock.now + state.ahead
            var known = state.leases[name] ?? (lease: SharedLease(name, holder), until: now)
            if known.lease.holder == holder || known.until <= now {
                if known.lease.holder != holder { known.lease.fence += 1 }
                known.lease.holder = holder
                known.until = now + time
            }
            known.lease.remaining = known.until - now
            state.leases[name] = known
            return known.lease
        }
    }

    func note(_ position: UInt64, under lease: SharedLease) throws(SharedLogFailure) -> Bool {
        server.withState { state in
            guard let known = state.leases[lease.name]?.lease,
                (known.holder, known.fence) == (lease.holder, lease.fence)
            else { return false }
            state.leases[lease.name]?.lease.position = max(known.position ?? 0, position)
            return true
        }
    }

    func end(_ lease: SharedLease) throws(SharedLogFailure) {
        server.withState { state in
            guard let known = state.leases[lease.name]?.lease,
                (known.holder, known.fence) == (lease.holder, lease.fence)
            else { return }
            let now = ContinuousClock.now + state.ahead
            state.leases[lease.name]?.until = now
        }
    }

    func all(startingWith prefix: String) throws(SharedLogFailure) -> [SharedLease] {
        server.withState { state in
            let now = ContinuousClock.now + state.ahead
            return state.leases.values.map { known in
                var lease = known.lease
                lease.remaining = known.until - now
                return lease
            }.filter { $0.name.hasPrefix(prefix) }.sorted { $0.name < $1.name }
        }
    }

    func remove(_ name: String) throws(SharedLogFailure) -> Bool {
        server.withState { $0.leases.removeValue(forKey: name) != nil }
    }
}

extension SharedLease {
    /// A new one.
    fileprivate init(_ name: String, _ holder: UUID) {
        self.init(name: name, holder: holder, fence: 1, position: nil, remaining: .zero)
    }
}
