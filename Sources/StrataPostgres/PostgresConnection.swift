import Foundation
import StrataModel
import StrataStore

/// One connection to a PostgreSQL server, made when it is first used and again after it broke.
///
/// Not for several threads at a time. Every statement has a deadline; one that is not answered by then breaks the
/// connection, and the server may carry it out later.
final class PostgresConnection {
    private let library: PostgresLibrary
    private let handle: OpaquePointer
    /// The SQLSTATE of the last statement that the server has refused.
    private(set) var lastRefusal: String?
    /// The statements that the server has prepared, by name; nil if something between does not let it keep them.
    private var prepared: Set<String>? = []

    /// - Parameter address: a connection string or URI as libpq has them, with service files and its environment.
    /// - Throws: `unreachable`.
    init(_ address: String, deadline: ContinuousClock.Instant) throws(SharedLogFailure) {
        switch PostgresLibrary.shared {
        case .success(let library): self.library = library
        case .failure(let error): throw .refused(error)
        }
        // Settings in the address override these.
        let settings: [(String, String)] = [
            ("application_name", "strata"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("tcp_user_timeout", "20000"), ("dbname", address),
        ]
        guard let handle = Self.start(settings, library) else { throw .unreachable("no memory for a connection") }
        self.handle = handle
        var isDone = false
        while !isDone {
            switch library.connectPoll(handle) {
            case 1: try Self.wait(library.socket(handle), for: Int16(POLLIN), until: deadline)
            case 2: try Self.wait(library.socket(handle), for: Int16(POLLOUT), until: deadline)
            case 3: isDone = true
            default: throw .unreachable(message)
            }
        }
        _ = library.setNonblocking(handle, 1)
    }

    deinit { library.finish(handle) }

    private static func start(_ settings: [(String, String)], _ library: PostgresLibrary) -> OpaquePointer? {
        var names = settings.map { UnsafePointer<CChar>(strdup($0.0)) }
        var values = settings.map { UnsafePointer<CChar>(strdup($0.1)) }
        names.append(nil)
        values.append(nil)
        defer { for text in names + values { free(UnsafeMutablePointer(mutating: text)) } }
        return library.connectStartParams(names, values, 1)
    }

    /// The last failure in libpq's words, in one line.
    private var message: String {
        let text = library.errorMessage(handle).map { String(cString: $0) } ?? ""
        let line = text.split(separator: "\n").joined(separator: " ").trimmingCharacters(in: .whitespaces)
        return line.isEmpty ? "the connection failed" : line
    }

    /// The socket, to wait for notifications.
    var socket: Int32 { library.socket(handle) }

    // MARK: Statements

    /// Runs one statement, in one round trip.
    ///
    /// - Throws: `answerLost` if it may have been carried out, `unreachable` if it was not, `refused`. The connection
    ///   is broken after the first two.
    func run(
        _ statement: String, _ values: [PostgresValue] = [], deadline: ContinuousClock.Instant
    ) throws(SharedLogFailure) -> PostgresRows {
        let isSent = withPointers(values) { pointers, lengths, formats in
            library.sendQueryParams(
                handle, statement, Int32(values.count), values.map(\.type), pointers, lengths, formats, 1) == 1
        }
        return try answer(isSent, deadline)
    }

    /// The same for a statement that is run often: the server parses and plans it once for each connection.
    ///
    /// - Parameter meanwhile: is called when the statement was sent, unless the server has to be asked in another way.
    func run(
        _ statement: String, preparedAs name: String, _ values: [PostgresValue], deadline: ContinuousClock.Instant,
        meanwhile: () -> Void = {}
    ) throws(SharedLogFailure) -> PostgresRows {
        guard let known = prepared else { return try run(statement, values, deadline: deadline) }
        if !known.contains(name) {
            let types = values.map(\.type)
            do throws(SharedLogFailure) {
                _ = try answer(
                    library.sendPrepare(handle, name, statement, Int32(types.count), types) == 1, deadline)
            } catch {
                // Nothing but a statement was to be remembered.
                if case .answerLost(let reason) = error { throw .unreachable(reason) }
                throw error
            }
            prepared?.insert(name)
        }
        do throws(SharedLogFailure) {
            let isSent = withPointers(values) { pointers, lengths, formats in
                library.sendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1) == 1
            }
            return try answer(isSent, deadline, meanwhile)
        } catch {
            // A pooler has changed the server's process, or the tables were brought up to date. Nothing was done.
            guard case .refused = error, let code = lastRefusal, ["26000", "0A000"].contains(code) else { throw error }
            prepared = nil
            return try run(statement, values, deadline: deadline)
        }
    }

    private func withPointers<R>(
        _ values: [PostgresValue], _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> R
    ) -> R {
        // An empty array has no address, which libpq would take for null.
        let buffers = values.map { value in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, value.bytes.count), alignment: 1)
            buffer.copyBytes(from: value.bytes)
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        let pointers = buffers.map { buffer in
            buffer.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
        }
        return body(pointers, values.map { Int32($0.bytes.count) }, [Int32](repeating: 1, count: values.count))
    }

    /// Sends what libpq has taken over, and waits for the answer.
    private func answer(
        _ isSent: Bool, _ deadline: ContinuousClock.Instant, _ meanwhile: () -> Void = {}
    ) throws(SharedLogFailure) -> PostgresRows {
        lastRefusal = nil
        guard isSent else { throw .unreachable(message) }
        while true {
            switch library.flush(handle) {
            case 0:
                meanwhile()
                return try answer(deadline)
            case 1: try waitForAnswer(Int16(POLLIN | POLLOUT), deadline)
            default: throw .answerLost(message)
            }
            guard library.consumeInput(handle) == 1 else { throw .answerLost(message) }
        }
    }

    private func answer(_ deadline: ContinuousClock.Instant) throws(SharedLogFailure) -> PostgresRows {
        var rows: PostgresRows?
        var failure: SharedLogFailure?
        while true {
            while library.isBusy(handle) == 1 {
                try waitForAnswer(Int16(POLLIN), deadline)
                guard library.consumeInput(handle) == 1 else { throw .answerLost(message) }
            }
            guard let result = library.getResult(handle) else { break }
            switch library.resultStatus(result) {
            // Of several statements the last one counts. PGRES_COMMAND_OK and PGRES_TUPLES_OK.
            case 1, 2: rows = PostgresRows(library, result)
            default:
                lastRefusal = text(result, "C")
                failure = Self.failure(
                    code: lastRefusal, message: text(result, "M") ?? message, hint: text(result, "H"))
                library.clear(result)
            }
        }
        if let failure { throw failure }
        guard let rows else { throw .answerLost(message) }
        return rows
    }

    private func text(_ result: OpaquePointer, _ field: Character) -> String? {
        field.asciiValue.flatMap { library.resultErrorField(result, Int32($0)) }.map { String(cString: $0) }
    }

    /// Once a statement was sent, a failure to wait for its answer leaves it open.
    private func waitForAnswer(_ events: Int16, _ deadline: ContinuousClock.Instant) throws(SharedLogFailure) {
        do throws(SharedLogFailure) {
            try Self.wait(socket, for: events, until: deadline)
        } catch {
            throw .answerLost(error.description)
        }
    }

    /// The codes of PostgreSQL for tables, functions and columns that do not exist: the tables have another version, or
    /// there are none.
    static let missing: Set = ["42P01", "42883", "3F000", "42703"]

    /// Translates an error of the server; `code` is its SQLSTATE.
    static func failure(code: String?, message: String, hint: String?) -> SharedLogFailure {
        let code = code ?? ""
        let reason = hint.map { "\(message) (\($0))" } ?? message
        switch code {
        // The server ends, or has ended the connection, and may have committed before.
        case "57P01", "57P02", "57P05", "": return .answerLost(reason)
        case _ where missing.contains(code):
            return .refused(
                StrataError(
                    .logUnavailable,
                    "The database has no tables for a shared log, or older ones (\(message)). Make them with "
                        + "'strata shared init'."))
        case "42501":
            return .refused(
                StrataError(.logUnavailable, "The role may not use the shared log: \(message). Grant it the rights."))
        case "ST001": return .refused(.behindCut(message))
        case "ST002": return .refused(StrataError(.divergedLog, "The shared log refuses: \(message)."))
        case "ST003": return .refused(StrataError(.logUnavailable, "The shared log refuses: \(message)."))
        case "23505":
            return .refused(
                StrataError(
                    .divergedLog, "The shared log has another transaction with the same number or id: \(message)."))
        // Nothing was done, and later it may be: connections, resources, conflicts, a replica, a shutdown.
        case "25006", "57014", "57P03": return .unreachable(reason)
        case "55P03": return .unreachable("another connection, such as a backup, uses the tables (\(reason))")
        case _ where ["08", "40", "53", "58"].contains(code.prefix(2)): return .unreachable(reason)
        default:
            return .refused(StrataError(.logUnavailable, "PostgreSQL refuses (\(code)): \(reason)"))
        }
    }

    // MARK: Waiting

    /// - Throws: `unreachable` at the deadline.
    private static func wait(
        _ socket: Int32, for events: Int16, until deadline: ContinuousClock.Instant
    ) throws(SharedLogFailure) {
        while true {
            let left = deadline - .now
            guard left > .zero else { throw .unreachable("no answer within the time") }
            var descriptor = pollfd(fd: socket, events: events, revents: 0)
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            let result = poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            if result > 0 { return }
            if result < 0, errno != EINTR { throw .unreachable(String(cString: strerror(errno))) }
        }
    }

    /// Takes in what the server has sent, and returns the payloads of its notifications.
    ///
    /// - Throws: `unreachable` if the connection is broken.
    func takeNotifications() throws(SharedLogFailure) -> [String] {
        guard library.consumeInput(handle) == 1 else { throw .unreachable(message) }
        var payloads: [String] = []
        while let notification = library.notifies(handle) {
            let known = notification.load(as: PostgresLibrary.Notification.self)
            if let payload = known.payload { payloads.append(String(cString: payload)) }
            library.freemem(notification)
        }
        return payloads
    }
}
