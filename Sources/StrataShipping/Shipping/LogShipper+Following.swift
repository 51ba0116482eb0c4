package import StrataModel
package import StrataStore

extension LogShipper {
    /// Ships what is saved, by any process, until `pace` is stopped; then ships the rest and returns.
    ///
    /// What is saved is gathered for a moment first. While the target is away or full, shipping is tried again and again.
    ///
    /// - Parameter report: is called after each time that something was shipped, and after each failure that may pass.
    /// - Throws: as `ship`, except for failures that may pass.
    package func follow(
        _ pace: Pace, progress: ProgressHandler? = nil, _ report: (Result<ShippingReport, StrataError>) throws -> Void
    ) throws {
        let observation = try store.observeHead(onClose: { pace.stop() }) { _ in pace.notify() }
        defer { observation.cancel() }
        listSeldom()
        var patience = Patience()
        while true {
            let isLast = pace.isStopped
            // What is there at the end counts, not what is known of it.
            if isLast { forget() }
            do {
                let shipped = try ship(progress: progress)
                patience.afterSuccess()
                if shipped.byteCount > 0 || shipped.removedCount > 0 { try report(.success(shipped)) }
                if isLast { return }
                pace.waitForNews()
                pace.pause(options.gathering)
            } catch let error as StrataError where error.code == .storeClosed && isLast {
                return
            } catch let error as StrataError where Patience.mayPass(error) && !isLast {
                try report(.failure(error))
                pace.pause(patience.afterFailure())
            }
        }
    }
}
