package import Foundation
import Locking
package import StrataModel
package import StrataStore

/// What goes wrong between a store and its log, and how often: each a part of a thousand.
package struct LogFaults: Sendable {
    /// The question does not get there.
    package var unreachable = 0
    /// The question is carried out, and the answer is lost.
    package var lostAnswer = 0
    /// The answer is lost, and the question is carried out later, when others have been.
    package var late = 0
    /// The question is carried out twice.
    package var doubled = 0
    /// The question or its answer takes a while.
    package var delayed = 0

    package init() {}

    /// All of them, often.
    package static var wild: LogFaults {
        var faults = LogFaults()
        faults.unreachable = 30
        faults.lostAnswer = 60
        faults.late = 60
        faults.doubled = 60
        faults.delayed = 100
        return faults
    }
}

/// A log whose connection fails, delays, doubles and reorders what is asked, as a seed says.
package final class FaultyLog: SharedLog {
    private let log: any SharedLog
    private let faults: LogFaults
    private let generator: Locked<SeededGenerator>
    private let isCut = Locked(false)
    private let isUpkeepCut = Locked(false)

    package init(_ log: any SharedLog, _ faults: LogFaults, seed: UInt64) {
        self.log = log
        self.faults = faults
        generator = Locked(SeededGenerator(seed: seed))
    }

    /// Whether nothing gets through.
    package func setCut(_ isCut: Bool) { self.isCut.withLock { $0 = isCut } }

    /// Whether upkeep does not get through.
    package func setUpkeepCut(_ isCut: Bool) { isUpkeepCut.withLock { $0 = isCut } }

    private func happens(_ chance: Int) -> Bool {
        chance > 0 && generator.withLock { Int.random(in: 0..<1000, using: &$0) } < chance
    }

    private func pause() {
        let microseconds = generator.withLock { UInt32.random(in: 50...5_000, using: &$0) }
        usleep(microseconds)
    }

    private func ask<R: Sendable>(
        _ question: @escaping @Sendable () throws(SharedLogFailure) -> R
    ) throws(SharedLogFailure) -> R {
        if isCut.withLock({ $0 }) || happens(faults.unreachable) { throw .unreachable("the seed says so") }
        if happens(faults.delayed) { pause() }
        if happens(faults.late) {
            let delay = generator.withLock { UInt64.random(in: 0...20_000_000, using: &$0) }
            do {
                try BackgroundThread.start("late") {
                    usleep(UInt32(delay / 1_000))
                    // Nobody hears what becomes of it.
                    _ = Result { () throws(SharedLogFailure) in try question() }
                }
            } catch { throw .unreachable("\(error)") }
            throw .answerLost("the seed says so")
        }
        let answer = try question()
        if happens(faults.doubled) {
            let again = try question()
            if happens(500) { return again }
        }
        if happens(faults.delayed) { pause() }
        if happens(faults.lostAnswer) { throw .answerLost("the seed says so") }
        return answer
    }

    package func open(
        founder: SharedLogIdentity?
    ) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd) {
        let log = log
        return try ask { () throws(SharedLogFailure) in try log.open(founder: founder) }
    }

    package func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        let log = log
        return try ask { () throws(SharedLogFailure) in try log.append(transactions, after: end) }
    }

    package func read(
        after number: TransactionNumber, limitInBytes: Int
    ) throws(SharedLogFailure) -> [SharedTransaction] {
        let log = log
        return try ask { () throws(SharedLogFailure) in try log.read(after: number, limitInBytes: limitInBytes) }
    }

    package func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? {
        let log = log
        return try ask { () throws(SharedLogFailure) in try log.digest(of: number) }
    }

    package func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber
    {
        let (log, timeout) = (log, min(timeout, .milliseconds(50)))
        return try ask { () throws(SharedLogFailure) in try log.wait(after: number, timeout: timeout) }
    }

    package func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64> {
        let log = log
        return try ask { () throws(SharedLogFailure) in try log.leaseRows(count) }
    }

    package func put(blob: Data, digest: Data) throws(SharedLogFailure) {
        let log = log
        try ask { () throws(SharedLogFailure) in try log.put(blob: blob, digest: digest) }
    }

    package func blob(digest: Data) throws(SharedLogFailure) -> Data? {
        let log = log
        return try ask { () throws(SharedLogFailure) in try log.blob(digest: digest) }
    }

    package func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure) {
        let log = log
        try ask { () throws(SharedLogFailure) in try log.rewrite(transactions) }
    }

    /// Leases have a connection without faults, unless it is cut.
    package var leases: any SharedLeases {
        if isCut.withLock({ $0 }) { return CutLeases() }
        return log.leases
    }

    /// Upkeep has a connection without faults, unless it is cut.
    package var upkeep: any SharedLogUpkeep {
        isCut.withLock { $0 } || isUpkeepCut.withLock { $0 } ? CutUpkeep() : log.upkeep
    }

    package func close() { log.close() }
}

/// Leases that cannot be reached.
private struct CutLeases: SharedLeases {
    private var failure: SharedLogFailure { .unreachable("the log is cut off") }

    func take(_ name: String, for holder: UUID, during time: Duration) throws(SharedLogFailure) -> SharedLease {
        throw failure
    }
    func note(_ position: UInt64, under lease: SharedLease) throws(SharedLogFailure) -> Bool { throw failure }
    func end(_ lease: SharedLease) throws(SharedLogFailure) { throw failure }
    func all(startingWith prefix: String) throws(SharedLogFailure) -> [SharedLease] { throw failure }
    func remove(_ name: String) throws(SharedLogFailure) -> Bool { throw failure }
}

/// Upkeep that cannot be reached.
package struct CutUpkeep: SharedLogUpkeep {
    package init() {}

    private var failure: SharedLogFailure { .unreachable("the log is cut off") }

    package func blobDigests(after digest: Data?, limit: Int) throws(SharedLogFailure) -> [Data] { throw failure }
    package func remove(blobs: [Data], at end: TransactionNumber) throws(SharedLogFailure) -> Bool { throw failure }
    package func beginning() throws(SharedLogFailure) -> SharedLogBeginning { throw failure }
    package func piece(_ index: Int, of snapshot: UUID) throws(SharedLogFailure) -> Data? { throw failure }
    package func put(piece: Data, at index: Int, of snapshot: UUID) throws(SharedLogFailure) { throw failure }
    package func publish(_ snapshot: SharedSnapshot) throws(SharedLogFailure) -> Bool { throw failure }
    package func cut(through end: SharedLogEnd) throws(SharedLogFailure) { throw failure }
    package func dropCut(limit: Int) throws(SharedLogFailure) -> Int { throw failure }
}
