public import NIOSSL

/// The certificate under which other machines reach Studio.
public struct StudioCertificate: Sendable {
    /// Of a server with the certificate, for TLS 1.2 and newer.
    public let configuration: TLSConfiguration

    /// Reads a certificate with its chain, and its private key, from files of PEM.
    ///
    /// - Throws: an error of NIOSSL for a file that is not there or no PEM.
    public init(certificate: String, key: String) throws {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate)
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        self.configuration = configuration
    }
}
