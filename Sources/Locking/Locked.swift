#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#else
    package import Darwin
#endif

/// A value that one thread at a time can use: it is behind a mutex of the operating system, so the class is `Sendable`.
///
/// On Linux the thread sanitizer does not know Synchronization's `Mutex`, and reports every use of it as a race. It
/// takes a value without a size, such as `()`, for the mutex, and reports that, too.
package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline @exclusivity(unchecked) var value: Value

    /// Puts a value behind a new mutex.
    package init(_ value: sending Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs the body with the value, one thread at a time. Not recursive.
    @inlinable
    package func withLock<Success, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Success
    ) throws(Failure) -> Success {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
