package import StrataModel
package import StrataStore

extension LogShipper {
    /// Ships the saves of all processes until `pace` is stopped; then ships the rest and returns.
    ///
    /// Transactions are gathered for a moment first. While the target is away or full, shipping is tried again and
    /// again.
    ///
    /// - Parameters:
    ///   - makesSnapshot: whether the first shipment makes a snapshot even if none is due.
    ///   - reportsFirst: whether the first shipment is reported even if nothing was left to ship.
    ///   - report: is called after each time that something was shipped, and after each failure that may pass.
    /// - Throws: as `ship`, except for failures that may pass; `persistentStoreOperation` if the store is moved away.
    package func follow(
        _ pace: Pace, makesSnapshot: Bool = false, reportsFirst: Bool = false, progress: ProgressHandler? = nil,
        _ report: (Result<ShippingReport, StrataError>) throws -> Void
    ) throws {
        let place = store.path + "/data.mdb"
        let file = PlaceIdentity(place)
        var isFirst = true
        var observation: HeadObservation?
        defer { observation?.cancel() }
        listSeldom()
        var patience = Patience()
        while true {
            let isLast = pace.isStopped
            // At the end the target is listed again instead of trusting what is known of it.
            if isLast { forget() }
            do {
                if observation == nil {
                    observation = try store.observeHead(onClose: { pace.stop() }) { _ in pace.notify() }
                }
                let shipped = try ship(makesSnapshot: makesSnapshot && isFirst, progress: progress)
                patience.afterSuccess()
                let isNews = shipped.byteCount > 0 || shipped.removedCount > 0 || shipped.rewrittenCount > 0
                if isNews || isFirst && reportsFirst { try report(.success(shipped)) }
                isFirst = false
                if isLast { return }
                repeat {
                    guard PlaceIdentity(place) == file else { throw Self.moved(store.path) }
                } while !pace.waitForNews(atMost: .seconds(2))
                pace.pause(options.gathering)
            } catch let error as StrataError where error.code == .storeClosed && isLast {
                return
            } catch let error as StrataError where Patience.mayPass(error) && !isLast {
                try report(.failure(error))
                pace.pause(patience.afterFailure())
            }
        }
    }

    private static func moved(_ path: String) -> StrataError {
        StrataError(
            .persistentStoreOperation,
            "The store was moved away or replaced while it was shipped. Ship the store that is to be followed again.",
            context: .init(path: path))
    }
}
