import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataPostgres

/// A role whose password the server asks for (SCRAM), as `Scripts/test-shared.sh` sets it up.
@Suite(.enabled(if: TestLog.passwordRole != nil, needsServer)) struct PasswordTests {
    @Test func aPasswordComesFromAFileAndIsInNoMessage() throws {
        let (address, role) = (try #require(TestLog.address), try #require(TestLog.passwordRole))
        try PostgresSetup.makeTables(at: address, access: .roles)
        let server = try PostgresConnection(address, deadline: .now + .seconds(10))
        for statement in ["create role \(role) login password 'a secret'", "grant strata_append to \(role)"] {
            _ = try server.run(statement, deadline: .now + .seconds(10))
        }
        let limited = address.replacing("user=strata", with: "user=\(role)")
        func open(_ settings: String) throws -> PersistentContainer {
            try RaceWorld.container(
                at: .inMemory, log: .postgres(limited + settings, lineage: "passwords", timeout: .milliseconds(200)))
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "strata-passwords-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let place = file.path(percentEncoded: false)
        for settings in ["&password=wrong-secret", "&passfile=\(place)"] {
            let error = #expect(throws: StrataError.self) { try open(settings).close() }
            #expect(error?.code == .logUnavailable && error?.message.contains("password") == true, "\(settings)")
            #expect(error.map { "\($0)".contains("wrong-secret") } == false)
        }
        // localhost stands for sockets.
        try Data("localhost:*:*:\(role):a secret\n*:*:*:\(role):a secret\n".utf8).write(to: file)
        #expect(chmod(place, 0o600) == 0)
        let container = try open("&passfile=\(place)")
        try container.saveNote("by a role with a password")
        container.close()
    }
}
