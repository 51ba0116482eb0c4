import Foundation
import Locking
import StrataModel
import StrataStore

/// Waits for appends by other processes, and notifies other processes of this one's appends.
///
/// A notification is sent after the commit, at most one in `quiet`: inside the append it would make commits wait for
/// each other. A notification is lost if its sender ends before, so the end of the log is also read every `interval`.
///
/// `link` has a mutex of its own, which a thread holds while it waits; `orders` is short.
final class PostgresNews: Sendable {
    static let interval = Duration.milliseconds(250)
    static let quiet = Duration.milliseconds(5)

    private struct Link {
        var connection: PostgresConnection?
        var end = TransactionNumber.zero
        var asked = ContinuousClock.now
        var told = ContinuousClock.now
    }

    private struct Orders {
        /// The last transaction that the next notification is about.
        var news: TransactionNumber?
        var isClosed = false
    }

    private let address: String
    private let lineage: String
    private let timeout: Duration
    private let link = Locked(Link())
    private let orders = Locked(Orders())
    private let signal: WakeUp

    init(_ address: String, lineage: String, timeout: Duration) {
        self.address = address
        self.lineage = lineage
        self.timeout = timeout
        signal = WakeUp()
    }

    /// Has a notification sent soon.
    func tell(_ number: TransactionNumber) {
        let isFirst = orders.withLock { orders in
            defer { orders.news = max(orders.news ?? .zero, number) }
            return orders.news == nil
        }
        // While a notification is due, the thread wakes by itself.
        if isFirst { signal.raise() }
    }

    func close() {
        orders.withLock { $0.isClosed = true }
        signal.raise()
    }

    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber {
        try link.withLock { link throws(SharedLogFailure) in
            let end = ContinuousClock.now + timeout
            // A connection that was open may have been ended meanwhile.
            let wasOpen = link.connection != nil
            do throws(SharedLogFailure) {
                return try attempt(after: number, until: end, &link)
            } catch {
                if case .refused = error { throw error }
                guard wasOpen, !orders.withLock({ $0.isClosed }) else { throw error }
                return try attempt(after: number, until: end, &link)
            }
        }
    }

    private func attempt(
        after number: TransactionNumber, until end: ContinuousClock.Instant, _ link: inout Link
    ) throws(SharedLogFailure) -> TransactionNumber {
        do throws(SharedLogFailure) {
            return try wait(after: number, until: end, &link)
        } catch {
            link.connection = nil
            // Whatever was asked changes nothing.
            if case .answerLost(let reason) = error { throw .unreachable(reason) }
            throw error
        }
    }

    private func wait(
        after number: TransactionNumber, until end: ContinuousClock.Instant, _ link: inout Link
    ) throws(SharedLogFailure) -> TransactionNumber {
        while true {
            if orders.withLock({ $0.isClosed }) { throw .unreachable("the log is closed") }
            let connection = try connected(&link)
            let now = ContinuousClock.now
            if now >= link.asked + Self.interval || end <= now { try ask(connection, &link) }
            if link.end > number || end <= now { return link.end }
            var next = min(end, link.asked + Self.interval)
            if let news = orders.withLock({ $0.news }) {
                if now >= link.told + Self.quiet {
                    try tell(news, connection, &link)
                } else {
                    next = min(next, link.told + Self.quiet)
                }
            }
            if signal.wait(or: connection.socket, until: next) {
                for payload in try connection.takeNotifications() {
                    if let told = UInt64(payload) { link.end = max(link.end, TransactionNumber(rawValue: told)) }
                }
            }
        }
    }

    private func connected(_ link: inout Link) throws(SharedLogFailure) -> PostgresConnection {
        if let connection = link.connection { return connection }
        let deadline = ContinuousClock.now + timeout
        let made = try PostgresConnection(address, deadline: deadline)
        // A notification need not outlast the server, so it does not wait for the disk.
        let name =
            try made.run(
                "select \(Self.channel), set_config('synchronous_commit', 'off', false)", [.text(lineage)],
                deadline: deadline
            ).text(0, 0) ?? ""
        _ = try made.run("listen \(name)", deadline: deadline)
        link.connection = made
        // A log that was restored may end earlier than before.
        link.end = .zero
        try ask(made, &link)
        return made
    }

    /// The channel of a log, which needs no quotes.
    private static let channel = "'strata_' || md5($1)"

    private func ask(_ connection: PostgresConnection, _ link: inout Link) throws(SharedLogFailure) {
        let rows = try connection.run(
            "select number from strata.logs where lineage = $1", [.text(lineage)], deadline: .now + timeout)
        link.asked = .now
        guard rows.count > 0, let number = rows.integer(0, 0) else { return }
        link.end = TransactionNumber(rawValue: number)
    }

    private func tell(
        _ news: TransactionNumber, _ connection: PostgresConnection, _ link: inout Link
    ) throws(SharedLogFailure) {
        orders.withLock { if $0.news == news { $0.news = nil } }
        _ = try connection.run(
            "select pg_notify(\(Self.channel), $2)", [.text(lineage), .text("\(news.rawValue)")],
            deadline: .now + timeout)
        link.told = .now
    }
}

/// A pipe that wakes a thread which waits for a socket.
final class WakeUp: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe a waiting thread wakes at its deadline.
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        if reading >= 0 { Foundation.close(reading) }
        if writing >= 0 { Foundation.close(writing) }
    }

    func raise() {
        var byte: UInt8 = 1
        // A full pipe wakes as well.
        _ = write(writing, &byte, 1)
    }

    /// Waits until the socket can be read or `raise` was called.
    ///
    /// - Returns: whether the socket can be read.
    func wait(or socket: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        let left = deadline - .now
        guard left > .zero else { return false }
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&descriptors, 2, Int32(clamping: milliseconds + 1)) > 0 else { return false }
        if descriptors[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(reading, &bytes, 64) == 64 {}
        }
        return descriptors[0].revents != 0
    }
}
