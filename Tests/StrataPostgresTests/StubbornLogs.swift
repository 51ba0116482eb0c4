import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// A log that does what it is asked and whose answers get lost.
final class Deaf: SharedLog, @unchecked Sendable {
    private let log: any SharedLog
    private let lock = NSLock()
    private var isDeaf = false

    init(_ log: any SharedLog) { self.log = log }

    func setDeaf(_ isDeaf: Bool) { lock.withLock { self.isDeaf = isDeaf } }

    private func answer<R>(_ result: R) throws(SharedLogFailure) -> R {
        if lock.withLock({ isDeaf }) { throw .answerLost("it is deaf") }
        return result
    }

    func open(founder: SharedLogIdentity?) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd)
    {
        try log.open(founder: founder)
    }
    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer { try answer(try log.append(transactions, after: end)) }
    func read(after number: TransactionNumber, limitInBytes: Int) throws(SharedLogFailure) -> [SharedTransaction] {
        try answer(try log.read(after: number, limitInBytes: limitInBytes))
    }
    func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? { try log.digest(of: number) }
    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber {
        try answer(try log.wait(after: number, timeout: timeout))
    }
    func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64> { try log.leaseRows(count) }
    func put(blob: Data, digest: Data) throws(SharedLogFailure) { try log.put(blob: blob, digest: digest) }
    func blob(digest: Data) throws(SharedLogFailure) -> Data? { try log.blob(digest: digest) }
    func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure) { try log.rewrite(transactions) }
    var leases: any SharedLeases { log.leases }
    var upkeep: any SharedLogUpkeep { log.upkeep }
    func close() { log.close() }
}

/// A log whose news do not come.
final class Asleep: SharedLog {
    private let log: any SharedLog

    init(_ log: any SharedLog) { self.log = log }

    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber {
        Thread.sleep(forTimeInterval: 0.01)
        return number
    }
    func open(founder: SharedLogIdentity?) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd)
    {
        try log.open(founder: founder)
    }
    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer { try log.append(transactions, after: end) }
    func read(after number: TransactionNumber, limitInBytes: Int) throws(SharedLogFailure) -> [SharedTransaction] {
        try log.read(after: number, limitInBytes: limitInBytes)
    }
    func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? { try log.digest(of: number) }
    func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64> { try log.leaseRows(count) }
    func put(blob: Data, digest: Data) throws(SharedLogFailure) { try log.put(blob: blob, digest: digest) }
    func blob(digest: Data) throws(SharedLogFailure) -> Data? { try log.blob(digest: digest) }
    func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure) { try log.rewrite(transactions) }
    var leases: any SharedLeases { log.leases }
    var upkeep: any SharedLogUpkeep { log.upkeep }
    func close() { log.close() }
}

/// A log before whose next append something else happens.
final class Interposed: SharedLog, @unchecked Sendable {
    private let log: any SharedLog
    private let lock = NSLock()
    private var before: (@Sendable () throws -> Void)?
    private var upkeepLeft = Int.max

    init(_ log: any SharedLog) { self.log = log }

    func beforeNextAppend(_ body: @escaping @Sendable () throws -> Void) { lock.withLock { before = body } }

    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        let body = lock.withLock {
            defer { before = nil }
            return before
        }
        do { try body?() } catch { throw .unreachable("\(error)") }
        return try log.append(transactions, after: end)
    }
    func open(founder: SharedLogIdentity?) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd)
    {
        try log.open(founder: founder)
    }
    func read(after number: TransactionNumber, limitInBytes: Int) throws(SharedLogFailure) -> [SharedTransaction] {
        try log.read(after: number, limitInBytes: limitInBytes)
    }
    func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? { try log.digest(of: number) }
    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber {
        try log.wait(after: number, timeout: timeout)
    }
    func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64> { try log.leaseRows(count) }
    func put(blob: Data, digest: Data) throws(SharedLogFailure) { try log.put(blob: blob, digest: digest) }
    func blob(digest: Data) throws(SharedLogFailure) -> Data? { try log.blob(digest: digest) }
    func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure) { try log.rewrite(transactions) }
    var leases: any SharedLeases { log.leases }

    /// From then on, questions about upkeep get nowhere.
    func failUpkeep(after count: Int) { lock.withLock { upkeepLeft = count } }

    var upkeep: any SharedLogUpkeep {
        lock.withLock {
            if upkeepLeft != .max { upkeepLeft -= 1 }
            return upkeepLeft < 0 ? CutUpkeep() : log.upkeep
        }
    }
    func close() { log.close() }
}
