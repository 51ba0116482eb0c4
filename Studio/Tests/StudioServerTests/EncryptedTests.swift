import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTLS
import HummingbirdTesting
import Logging
import NIOCore
import NIOSSL
import StrataInspector
import Testing

@testable import StudioServer

/// Studio with a certificate.
@Suite struct EncryptedTests {
    private let store: SmallStore

    init() throws { store = try SmallStore() }

    /// A certificate for localhost that signs itself, with its key; both are good for nothing but this test.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBfzCCASWgAwIBAgIUTpeWIj4dgEexqmq+oTlKqbBFAswwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNjAxMTMxNVoYDzIxMjYxMTAy
        MDExMzE1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAARxkBKslv6qthKS+LkM99yBWE4+sCEkCFL9t3kmvWl+dMOGJfDl9ozJ
        fcWGQZk1gxOhE55G5xuHp/ybFYecgTIGo1MwUTAdBgNVHQ4EFgQUg63FrJIj86Jt
        AHU56nw6mQRILtYwHwYDVR0jBBgwFoAUg63FrJIj86JtAHU56nw6mQRILtYwDwYD
        VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA+47Sf0m7GZmSj7uK5C30
        aXEvBirczFDGE0FhHTx9fssCICKrCAdYk5T/18HWP8y/WmhhDq61W5Qm1zkp/xW9
        P+yt
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg86VXtSe8Khfe7CIH
        3C8+uSkJWWLb0+6hTn8QIv3lFwShRANCAARxkBKslv6qthKS+LkM99yBWE4+sCEk
        CFL9t3kmvWl+dMOGJfDl9ozJfcWGQZk1gxOhE55G5xuHp/ybFYecgTIG
        -----END PRIVATE KEY-----
        """

    private func file(_ name: String, _ text: String) throws -> String {
        let path = URL(filePath: store.path).deletingLastPathComponent().appending(component: name)
        try Data(text.utf8).write(to: path)
        return path.path(percentEncoded: false)
    }

    @Test func pagesComeOverTLSWithACookieThatIsNeverSentInTheClear() async throws {
        let certificate = try StudioCertificate(
            certificate: try file("cert.pem", Self.certificate), key: try file("key.pem", Self.key))
        let gate = StudioGate(isSecure: true)
        #expect(gate.scheme == "https")
        let studio = try Studio(paths: [store.path])
        defer { studio.close() }
        var logger = Logger(label: "studio-tests")
        logger.logLevel = .critical
        let application = Application(
            responder: try StudioResponder(studio, gate),
            server: try .tls(tlsConfiguration: certificate.configuration), logger: logger)
        let token = try #require(gate.unusedToken)
        try await application.test(.live) { client in
            let port = try #require(client.port)
            var trusting = TLSConfiguration.makeClientConfiguration()
            trusting.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(Self.certificate.utf8)))
            trusting.certificateVerification = .noHostnameVerification
            let settings = TestClient.Configuration(tlsConfiguration: trusting, serverName: "localhost")
            func get(_ path: String, _ headers: HTTPFields = [:]) async throws -> TestClient.Response {
                try await TestClient.withClient(host: "localhost", port: port, configuration: settings) { client in
                    try await client.execute(.init(path, method: .get, authority: "localhost", headers: headers))
                }
            }
            let entry = try await get("/?token=\(token)")
            let cookie = try #require(entry.headers[.setCookie])
            #expect(entry.status == .seeOther && cookie.hasSuffix("; Secure"))
            let session = String(cookie.prefix { $0 != ";" })
            #expect(try await get("/Small/model.json", [.cookie: session]).status == .ok)
            let own: HTTPFields = [.cookie: session, .origin: "https://localhost"]
            #expect(try await get("/Small/model.json", own).status == .ok)
            let other: HTTPFields = [.cookie: session, .origin: "http://localhost"]
            #expect(try await get("/Small/model.json", other).status == .forbidden)
        }
    }

    @Test func whatIsNoCertificateIsAnError() throws {
        let certificate = try file("cert.pem", Self.certificate)
        #expect(throws: (any Error).self) { try StudioCertificate(certificate: certificate, key: certificate) }
        #expect(throws: (any Error).self) { try StudioCertificate(certificate: "/nowhere", key: "/nowhere") }
    }
}
