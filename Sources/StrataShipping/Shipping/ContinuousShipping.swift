import Dispatch
import Locking
import StrataModel
import StrataStore

/// Ships a store while it is in use, on a thread of its own.
public final class ContinuousShipping: Sendable {
    private let pace = Pace()
    private let ended = DispatchGroup()

    init(
        _ store: Store, _ target: any ShippingTarget, _ options: ShippingOptions,
        _ onReport: @escaping @Sendable (Result<ShippingReport, StrataError>) -> Void
    ) throws {
        try store.checkOpen()
        ended.enter()
        do {
            try BackgroundThread.start("strata.ship") { [pace, ended] in
                defer { ended.leave() }
                do {
                    try LogShipper(store, target, options).follow(pace) { onReport($0) }
                } catch {
                    onReport(.failure(error as? StrataError ?? Self.wrapped(error, target)))
                }
            }
        } catch {
            ended.leave()
            throw Self.wrapped(error, target)
        }
    }

    private static func wrapped(_ error: any Error, _ target: any ShippingTarget) -> StrataError {
        StrataError(
            .persistentStoreOperation, "Shipping failed: \(error).", context: .init(path: target.label), cause: error)
    }

    /// Ships the rest, and waits until that is done.
    public func stop() {
        pace.stop()
        ended.wait()
    }

    deinit { pace.stop() }
}
