import ArgumentParser
import CoreMetrics
import Foundation
import Hummingbird
import LetsEatServer
import Logging
import NIOCore

/// `letseat-server`: serves reviews of restaurants until it gets SIGTERM or SIGINT.
@main struct ServerProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "letseat-server", abstract: "Serves reviews of restaurants over HTTP.",
        discussion: """
            It ends with SIGTERM or Ctrl-C, after the requests that it has begun. There is no check of who asks: put it \
            behind a proxy that does that, and that speaks TLS.
            """)

    @Option(help: "The store's directory; made when it is missing.") var store = "LetsEatServer.strata"
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0 for a free one.") var port = 8080
    @Option(help: "An address that gets a POST for every new review.") var webhook: String?
    @Option(help: "What is logged: debug, info, warning or error.") var logLevel = "warning"

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError("--log-level is debug, info, warning or error.")
        }
    }

    func run() async throws {
        var logger = Logger(label: "letseat")
        logger.logLevel = Logger.Level(rawValue: logLevel) ?? .warning
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let service = try LetsEatService(
            storeURL: URL(filePath: store, directoryHint: .isDirectory), webhook: webhook, metrics: metrics,
            logger: logger)
        let application = service.application(address: .hostname(host, port: port)) { [host] channel in
            print("Listening on http://\(host):\(channel.localAddress?.port ?? 0)")
            fflush(nil)
        }
        try await application.runService()
    }
}
