public import StrataGraph

/// Reports the same work to several observers, such as metrics and traces.
public struct ObserverGroup: ContainerObserver {
    private let observers: [any ContainerObserver]

    /// Makes a group that calls its observers in their order.
    public init(_ observers: any ContainerObserver...) { self.observers = observers }

    /// Tells each observer of a save.
    public func saveEnded(_ save: SaveMeasurement) { for observer in observers { observer.saveEnded(save) } }

    /// Tells each observer of a fetch.
    public func fetchEnded(_ fetch: FetchMeasurement) { for observer in observers { observer.fetchEnded(fetch) } }

    /// Tells each observer of a view.
    public func viewMoved(_ view: ViewMeasurement) { for observer in observers { observer.viewMoved(view) } }

    /// Tells each observer of a read of faults.
    public func faultsEnded(count: Int, start: ContinuousClock.Instant, duration: Duration) {
        for observer in observers { observer.faultsEnded(count: count, start: start, duration: duration) }
    }
}
