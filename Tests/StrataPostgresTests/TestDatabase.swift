import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataPostgres

/// A database of its own in the server of the tests, for tests of the tables themselves.
struct TestDatabase {
    let name: String
    let address: String
    /// A connection to another database of the server.
    let server: PostgresConnection

    init(_ prefix: String) throws {
        let address = try #require(TestLog.address)
        server = try PostgresConnection(address, deadline: .now + .seconds(10))
        name = "\(prefix)_\(UUID().uuidString.prefix(8).lowercased())"
        _ = try server.run("create database \(name) template template0", deadline: .now + .seconds(20))
        self.address = address.replacing("/postgres?", with: "/\(name)?")
    }

    func connect() throws -> PostgresConnection { try PostgresConnection(address, deadline: .now + .seconds(10)) }

    func drop() throws {
        _ = try server.run("drop database \(name) with (force)", deadline: .now + .seconds(20))
    }

    /// Makes the tables as an earlier version did, from `Tables/version-….sql`. The roles must be there.
    func makeTables(ofVersion version: Int) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Tables/version-\(version).sql")
        let connection = try connect()
        _ = try connection.run("set client_min_messages = warning", deadline: .now + .seconds(10))
        for statement in try String(contentsOf: file, encoding: .utf8).split(separator: ";\n\n") {
            _ = try connection.run(String(statement), deadline: .now + .seconds(10))
        }
    }
}

/// What a store with tables of version 3 asks of them. For one thread at a time.
final class OlderClient: @unchecked Sendable {
    private let connection: PostgresConnection
    private let lineage: String

    init(_ database: TestDatabase, lineage: String) throws {
        connection = try database.connect()
        self.lineage = lineage
    }

    private func run(_ statement: String, as name: String, _ values: [PostgresValue]) throws -> PostgresRows {
        try connection.run(statement, preparedAs: name, [.text(lineage)] + values, deadline: .now + .seconds(20))
    }

    func begin(_ identity: SharedLogIdentity) throws {
        _ = try run(
            "select * from strata.begin($1, $2, $3, $4, $5)", as: "begin",
            [
                .uuid(identity.identifier), .uuid(identity.lineage), .integer(identity.createdMicroseconds),
                .bytes(SharedLogEnd.start.digest),
            ])
    }

    /// - Returns: the outcome, 0 for one that was appended.
    func append(_ transaction: SharedTransaction, after end: SharedLogEnd) throws -> UInt64? {
        try run(
            "select * from strata.append($1, $2, $3, $4, $5, $6, $7, $8)", as: "append",
            [
                .integer(end.transaction.rawValue), .bytes(end.digest), .uuids([transaction.id]),
                .integers([transaction.firstEvent.rawValue]), .integers([UInt64(transaction.eventCount)]),
                .byteArrays([transaction.digest]), .byteArrays([transaction.bytes]),
            ]
        ).integer(0, 0)
    }

    /// - Returns: the numbers of all transactions.
    func readAll() throws -> [UInt64] {
        let rows = try run(
            "select * from strata.read_after($1, $2, $3)", as: "read", [.integer(UInt64(0)), .integer(UInt64(1 << 30))])
        return (0..<rows.count).compactMap { rows.integer($0, 0) }
    }

    func leaseRows(_ count: UInt64) throws {
        _ = try run("select strata.lease_rows($1, $2)", as: "lease", [.integer(count)])
    }

    func put(_ blob: Data, digest: Data) throws {
        _ = try run("select strata.put_blob($1, $2, $3)", as: "put", [.bytes(digest), .bytes(blob)])
    }

    func takeLease(_ name: String, for holder: UUID, noting position: UInt64) throws {
        _ = try run(
            "select * from strata.take_lease($1, $2, $3, $4)", as: "take",
            [.text(name), .uuid(holder), .integer(UInt64(60_000_000))])
        _ = try run(
            "select strata.note_lease($1, $2, $3, $4, $5)", as: "note",
            [.text(name), .uuid(holder), .integer(UInt64(1)), .integer(position)])
    }
}
