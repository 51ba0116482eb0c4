/// The results of a request over everything that is saved, as they change: an asynchronous sequence without a context.
///
/// It follows the end of the log, whoever saves: any context, and any process. Its steps are values, so it may be read
/// anywhere; the first is the results as they are, and a slow reader gets one step for all that happened meanwhile.
/// When its task is cancelled it ends.
public struct ContainerResults<Object: ManagedObject>: AsyncSequence, Sendable {
    let container: PersistentContainer
    let request: FetchRequest<Object>
    let options: LiveResultsOptions

    public func makeAsyncIterator() -> LiveResultsIterator {
        LiveResultsIterator(ContainerResultsSource(binding: container.binding, fetchRequest: request), options)
    }
}

extension PersistentContainer {
    /// The results of a request over everything that is saved, as they change; see `ContainerResults`.
    ///
    /// - Parameters:
    ///   - coalescing: how long to gather changes before a step is made of them.
    ///   - keyPaths: what makes an object another, so that an update is told; nil is everything of its own.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, coalescing: Duration = .zero, keyPaths: [String]? = nil
    ) -> ContainerResults<Object> {
        results(for: request, options: LiveResultsOptions(coalescing: coalescing, keyPaths: keyPaths))
    }

    /// The results of a request over everything that is saved, as they change; see `ContainerResults`.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, options: LiveResultsOptions
    ) -> ContainerResults<Object> {
        ContainerResults(container: self, request: request, options: options)
    }
}
