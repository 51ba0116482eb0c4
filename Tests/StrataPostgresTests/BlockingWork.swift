import Foundation

/// Work that waits for the server, on a thread of its own.
///
/// There are as many threads of tasks as processors. Two tests whose tasks wait for what the tests do next would take all of
/// them, and neither test could go on.
struct BlockingWork<Value: Sendable>: Sendable {
    private let results: AsyncStream<Result<Value, any Error>>

    init(_ work: @escaping @Sendable () throws -> Value) {
        let (results, finished) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
        self.results = results
        Thread.detachNewThread {
            finished.yield(Result { try work() })
            finished.finish()
        }
    }

    /// The result, once the work is done. May be asked for once.
    var value: Value {
        get async throws {
            for await result in results { return try result.get() }
            throw CancellationError()
        }
    }
}
