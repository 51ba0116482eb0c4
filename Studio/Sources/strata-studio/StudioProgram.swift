import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import StrataInspector
import StudioServer
import UnixSignals

/// `strata-studio`: shows stores in a browser, at any moment of their past.
@main struct StudioProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata-studio",
        abstract: "Shows stores in a browser, at any moment of their past.",
        discussion: """
            Prints an address with a token that is good once, and serves pages on this machine only, until it is \
            interrupted. Stores are read and never changed, unless --write is given: then a page shows what a change would \
            do, and saves it when you confirm that, with an author and a reason.

            --bind serves other machines too. Give it a certificate with --tls-cert and --tls-key; without one the \
            connection is not encrypted, so use it only in a network that you trust, or behind a tunnel.

            Encrypted values are shown with their key: --key-file, or STRATA_KEY_FILE. Who may read the pages may read them.

            Every page answers programs as JSON under the same address: with 'Accept: application/json', or with .json \
            after the path.

            Examples:
                strata-studio BowTies.strata
                strata-studio BowTies.strata Films.strata --port 8080 --open
                strata-studio BowTies.strata --write
                strata-studio postgresql://db.example.com/shop#orders
                strata-studio BowTies.strata --bind db.example.org --tls-cert chain.pem --tls-key key.pem
            """)

    @Argument(help: ArgumentHelp("The stores' directories, or addresses of shared logs.", valueName: "store"))
    var stores: [String]
    @Option(help: "The port; a free one by default.") var port = 0
    @Flag(help: "Open the address in the browser.") var open = false
    @Flag(help: "Let pages change the stores, each change after a confirmation.") var write = false
    @Option(
        help: ArgumentHelp("Serve other machines under this address or name of the machine.", valueName: "address"))
    var bind: String?
    @Option(help: ArgumentHelp("The certificate with its chain, as PEM, for TLS.", valueName: "file"))
    var tlsCert: String?
    @Option(help: ArgumentHelp("The certificate's private key, as PEM.", valueName: "file")) var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "A file that holds the key of encrypted attributes, 32 bytes or more. STRATA_KEY_FILE names one, too.",
            valueName: "file"))
    var keyFile: [String] = []
    @Option(
        help: ArgumentHelp(
            "The directory with the keys of subjects. STRATA_SUBJECT_KEYS names one, too.", valueName: "directory"))
    var subjectKeys: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key belong together.")
        }
        guard bind.map(StudioGate.isName) ?? true else {
            throw ValidationError(
                "--bind takes the name or the address under which browsers reach this machine, such as 192.168.1.5; for "
                    + "\(bind ?? "") Studio could not tell its own pages from those of other sites.")
        }
    }

    /// The server, encrypted if there is a certificate.
    private func server() throws -> HTTPServerBuilder {
        guard let tlsCert, let tlsKey else { return StudioConnections.server() }
        do {
            return try .tls(
                StudioConnections.server(),
                tlsConfiguration: try StudioCertificate(certificate: tlsCert, key: tlsKey).configuration)
        } catch {
            throw ValidationError("The certificate or its key cannot be read: \(error)")
        }
    }

    private func opened() throws -> Studio {
        do {
            return try Studio(paths: stores, isWritable: write, keyFiles: keyFile, subjectKeys: subjectKeys)
        } catch {
            FileHandle.standardError.write(Data("Error: \(Studio.text(of: error))\n".utf8))
            throw ExitCode.failure
        }
    }

    func run() async throws {
        let studio = try opened()
        studio.reportDamage()
        studio.prepare()
        let gate = StudioGate(isWritable: write, boundName: bind, isSecure: tlsCert != nil)
        let opens = open
        var logger = Logger(label: "strata-studio")
        logger.logLevel = .warning
        let application = Application(
            responder: try StudioResponder(studio, gate), server: try server(),
            configuration: StudioConnections.configuration(
                .hostname(bind ?? "127.0.0.1", port: port), logger: logger),
            onServerRunning: { [bind] channel in
                let host = bind.map(StudioGate.host) ?? "127.0.0.1"
                let address =
                    "\(gate.scheme)://\(host):\(channel.localAddress?.port ?? 0)/?token=\(gate.unusedToken ?? "")"
                if !StudioGate.isLoopback(host), !gate.isSecure {
                    FileHandle.standardError.write(
                        Data(
                            """
                            Warning: who can read this network can read what Studio shows, and its cookie. \
                            --tls-cert and --tls-key encrypt the connection.

                            """.utf8))
                }
                print(address)
                fflush(nil)
                if opens { Self.show(address) }
            }, logger: logger)
        // What is saved by then is whole: a transaction is in the store or is not.
        let service = StudioService(application) { _exit(0) }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: service, serviceName: "strata-studio")],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
        studio.close()
    }

    /// Opens an address in the browser, if the system has a command for that.
    private static func show(_ address: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        #if os(macOS)
            process.arguments = ["open", address]
        #else
            process.arguments = ["xdg-open", address]
        #endif
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { print("Open it in a browser: \(error.localizedDescription)") }
    }
}
