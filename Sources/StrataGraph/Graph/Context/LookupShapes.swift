import Locking
import StrataStore

/// The shapes of the requests that lookups of a container have made, by key path.
///
/// There are at most as many as a program has such key paths. The mutex guards the dictionary.
final class LookupShapes: Sendable {
    private let shapes = Locked<[AnyKeyPath: QueryShape]>([:])

    func shape(_ path: AnyKeyPath) -> QueryShape? { shapes.withLock { $0[path] } }
    func keep(_ shape: QueryShape, _ path: AnyKeyPath) { shapes.withLock { $0[path] = shape } }
}
