import Foundation
import Logging
import ServiceLifecycle
import Strata
import StrataObservability

/// Deletes receipts that no client will ask for any more.
struct ReceiptSweeper: Service {
    let container: PersistentContainer
    let store: ContainerService
    let logger: Logger
    /// How long a client may go on repeating a request.
    var lifetime = Duration.seconds(24 * 60 * 60)
    var interval = Duration.seconds(60 * 60)

    func run() async throws {
        try await store.waitUntilReady()
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    let count = try await sweep(before: .now - lifetime / .seconds(1))
                    if count > 0 { logger.info("\(count) old receipts are gone") }
                } catch let error as StrataError {
                    logger.error("old receipts are still there: \(error)")
                }
                do { try await Task.sleep(for: interval) } catch { break }
            }
        }
    }

    /// - Returns: how many are gone.
    func sweep(before date: Date) async throws -> Int {
        try await container.performBackgroundTask { context in
            context.transactionAuthor = "sweeper"
            return try context.execute(BatchDeleteRequest<Receipt>().where { $0.date < date }).count
        }
    }
}
