import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataPostgres

/// Addresses as libpq has them: encrypted connections and services, as `Scripts/test-shared.sh` sets them up.
@Suite(.enabled(if: TestLog.address != nil, needsServer)) struct ConnectionAddressTests {
    private static let encrypted = ProcessInfo.processInfo.environment["STRATA_POSTGRES_ENCRYPTED"]
    private static let certificate = ProcessInfo.processInfo.environment["STRATA_POSTGRES_CERTIFICATE"]

    private func open(_ address: String, lineage: String) throws -> PersistentContainer {
        try PostgresSetup.makeTables(at: try #require(TestLog.address))
        return try RaceWorld.container(
            at: .inMemory, log: .postgres(address, lineage: lineage, timeout: .seconds(2)))
    }

    @Test(.enabled(if: encrypted != nil, "openssl makes the server's certificate, and there is none"))
    func aStoreSavesOverAConnectionWhoseCertificateIsVerified() throws {
        let (address, root) = (try #require(Self.encrypted), try #require(Self.certificate))
        let verified = address + " sslmode=verify-full sslrootcert=\(root)"
        let container = try open(verified, lineage: "encrypted")
        defer { container.close() }
        try container.saveNote("by an encrypted connection")
        let connection = try PostgresConnection(verified, deadline: .now + .seconds(10))
        let isEncrypted = try connection.run(
            "select count(*) from pg_stat_ssl where pid = pg_backend_pid() and ssl", deadline: .now + .seconds(10))
        #expect(isEncrypted.integer(0, 0) == 1)
    }

    @Test(.enabled(if: encrypted != nil, "openssl makes the server's certificate, and there is none"))
    func aServerThatCannotProveWhoItIsIsRefused() throws {
        let address = try #require(Self.encrypted)
        let other = FileManager.default.temporaryDirectory.appending(path: "strata-root-\(UUID().uuidString).crt")
        defer { try? FileManager.default.removeItem(at: other) }
        try Data().write(to: other)
        let cases = [
            (" sslmode=verify-full sslrootcert=\(other.path(percentEncoded: false))", "certificate"),
            (" sslmode=disable", "no encryption"),
        ]
        for (settings, reason) in cases {
            let error = #expect(throws: StrataError.self) { try open(address + settings, lineage: "refused").close() }
            #expect(error?.code == .logUnavailable, "\(settings)")
            #expect(error?.message.contains(reason) == true, "\(settings): \(error?.message ?? "no error")")
        }
    }

    @Test func anAddressNamesAServiceOfLibpq() throws {
        try #require(ProcessInfo.processInfo.environment["PGSERVICEFILE"] != nil)
        let container = try open("service=strata-tests", lineage: "service")
        defer { container.close() }
        try container.saveNote("by a service")
        let error = #expect(throws: StrataError.self) { try open("service=no-such", lineage: "service").close() }
        #expect(error?.code == .logUnavailable && error?.message.contains("no-such") == true)
    }
}
