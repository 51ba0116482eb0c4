/// The saved results of a request, as they change: an asynchronous sequence that needs no context.
///
/// It follows the saves of every context and process. Its elements are values and can be sent anywhere. The first
/// element is the present results. A slow reader gets one element for all changes since its last. The sequence ends
/// when its task is cancelled.
public struct ContainerResults<Object: ManagedObject>: AsyncSequence, Sendable {
    let container: PersistentContainer
    let request: FetchRequest<Object>
    let options: LiveResultsOptions

    /// Begins with the results as they are now.
    public func makeAsyncIterator() -> LiveResultsIterator {
        LiveResultsIterator(ContainerResultsSource(binding: container.binding, fetchRequest: request), options)
    }
}

extension PersistentContainer {
    /// Follows the saved results of a request.
    ///
    /// - Parameters:
    ///   - coalescing: how long changes are gathered before they are reported together.
    ///   - keyPaths: key paths whose changes count as an update of an object; nil for all of its own properties.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, coalescing: Duration = .zero, keyPaths: [String]? = nil
    ) -> ContainerResults<Object> {
        results(for: request, options: LiveResultsOptions(coalescing: coalescing, keyPaths: keyPaths))
    }

    /// Follows the saved results of a request, with options for sections and updates.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, options: LiveResultsOptions
    ) -> ContainerResults<Object> {
        ContainerResults(container: self, request: request, options: options)
    }
}
