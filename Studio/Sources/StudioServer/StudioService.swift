import Foundation
public import ServiceLifecycle

/// Runs a server. When it is told to end and a client keeps its connection open, the process ends after a short time.
public struct StudioService: Service {
    private let server: any Service
    private let patience: Double
    private let end: @Sendable () -> Void

    /// - Parameters:
    ///   - patience: how many seconds the server has to end by itself.
    ///   - end: ends the process, on a thread of its own.
    public init(_ server: any Service, patience: Double = 1.5, end: @escaping @Sendable () -> Void) {
        self.server = server
        self.patience = patience
        self.end = end
    }

    public func run() async throws {
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: { [patience, end] in
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: patience)
                end()
            }
        }
    }
}
