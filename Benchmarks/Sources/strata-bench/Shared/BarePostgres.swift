import Foundation

/// The appends of a shared log by hand: one prepared statement over libpq, and nothing else.
final class BarePostgres {
    private typealias Connect = @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    private typealias Status = @convention(c) (OpaquePointer?) -> Int32
    private typealias Text = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
    private typealias Execute =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> OpaquePointer?
    private typealias Prepare =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?
        ) -> OpaquePointer?
    private typealias ExecutePrepared =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?, Int32
        ) -> OpaquePointer?
    private typealias Value = @convention(c) (OpaquePointer?, Int32, Int32) -> UnsafePointer<CChar>?
    private typealias End = @convention(c) (OpaquePointer?) -> Void

    private let library: UnsafeMutableRawPointer
    private let connection: OpaquePointer?
    private let executePrepared: ExecutePrepared
    private let resultStatus: Status
    private let value: Value
    private let clear: End

    init(_ address: String) throws {
        let names = ["libpq.so.5", "libpq.5.dylib"]
        guard let library = names.lazy.compactMap({ (name: String) in dlopen(name, RTLD_NOW) }).first else {
            throw BenchError("libpq is not installed.")
        }
        self.library = library
        executePrepared = try Self.function("PQexecPrepared", library)
        resultStatus = try Self.function("PQresultStatus", library)
        value = try Self.function("PQgetvalue", library)
        clear = try Self.function("PQclear", library)
        let connect: Connect = try Self.function("PQconnectdb", library)
        connection = connect(address)
        let prepare: Prepare = try Self.function("PQprepare", library)
        for (name, statement) in Self.statements {
            let result = prepare(connection, name, statement, 0, nil)
            defer { clear(result) }
            guard resultStatus(result) == 1 else { throw failure() }
        }
    }

    deinit {
        if let finish: End = try? Self.function("PQfinish", library) { finish(connection) }
    }

    private static let statements = [
        (
            "begin",
            "select number from strata.begin($1, gen_random_uuid(), gen_random_uuid(), 0, decode(repeat('00', 32), 'hex'))"
        ),
        (
            "append",
            """
            select outcome from strata.append($1, $2, $4, array[gen_random_uuid()], array[$2::bigint + 1],
                array[1::bigint], array[decode(repeat('07', 32), 'hex')], array[$3::bytea], '{}')
            """
        ),
        ("size", "select avg(octet_length(bytes))::bigint from strata.transactions where lineage = $1"),
    ]

    private static func function<Function>(_ name: String, _ library: UnsafeMutableRawPointer) throws -> Function {
        guard let symbol = dlsym(library, name) else { throw BenchError("libpq has no \(name).") }
        return unsafeBitCast(symbol, to: Function.self)
    }

    private func failure() -> BenchError {
        let message: Text? = try? Self.function("PQerrorMessage", library)
        return BenchError(message.flatMap { $0(connection) }.map { String(cString: $0) } ?? "PostgreSQL failed.")
    }

    /// The mean size of a log's transactions, in bytes.
    func transactionSize(in log: String) throws -> Int { try run("size", [.text(log)]) }

    func begin(_ log: String) throws { _ = try run("begin", [.text(log)]) }

    /// Appends one transaction after the one with a number.
    func append(_ bytes: [UInt8], to log: String, after number: Int) throws {
        let digest = [UInt8](repeating: number == 0 ? 0 : 7, count: 32)
        guard try run("append", [.text(log), .text("\(number)"), .bytes(bytes), .bytes(digest)]) == 0 else {
            throw BenchError("The append by hand was overtaken.")
        }
    }

    private enum Parameter {
        case text(String)
        case bytes([UInt8])
    }

    /// - Returns: the first value, a number.
    private func run(_ name: String, _ parameters: [Parameter]) throws -> Int {
        var (lengths, formats): ([Int32], [Int32]) = ([], [])
        let buffers = parameters.map { parameter in
            let bytes: [UInt8]
            switch parameter {
            case .text(let text): (bytes, _) = (Array(text.utf8) + [0], formats.append(0))
            case .bytes(let value): (bytes, _) = (value, formats.append(1))
            }
            lengths.append(Int32(bytes.count))
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
            buffer.copyBytes(from: bytes)
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        let pointers = buffers.map { $0.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) } }
        let result = executePrepared(connection, name, Int32(parameters.count), pointers, lengths, formats, 0)
        defer { clear(result) }
        guard resultStatus(result) == 2, let text = value(result, 0, 0), let number = Int(String(cString: text)) else {
            throw failure()
        }
        return number
    }
}
