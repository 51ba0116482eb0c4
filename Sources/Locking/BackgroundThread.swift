#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Threads of the operating system that run one body each.
///
/// Foundation's `Thread` does not say when the system has no thread to give: whoever waits for its work then waits for
/// ever.
package enum BackgroundThread {
    /// The system gave no thread: too many run, or memory or address space is used up.
    package struct Unavailable: Error, Equatable, CustomStringConvertible {
        /// The operating system's error number.
        package let number: Int32

        package var description: String { "no thread can be started (\(String(cString: strerror(number))))" }
    }

    /// Runs a body on a new thread, which ends with it.
    ///
    /// - Parameter name: what debuggers and `ps` show; Linux keeps 15 bytes of it.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Unavailable) {
        let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
        work.initialize(to: Work(name: name, body: body))
        let result = start(work)
        if result == 0 { return }
        work.deinitialize(count: 1)
        work.deallocate()
        throw Unavailable(number: result)
    }

    /// - Returns: the operating system's error number, or 0.
    private static func start(_ work: UnsafeMutablePointer<Work>) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        return pthread_create(&thread, &attributes, threadBody, work)
    }

    /// A name and a body on their way to their thread.
    fileprivate struct Work: Sendable {
        let name: String
        let body: @Sendable () -> Void
    }

    fileprivate static func run(_ pointer: UnsafeMutableRawPointer) {
        let place = pointer.assumingMemoryBound(to: Work.self)
        let work = place.move()
        place.deallocate()
        #if canImport(Darwin)
            pthread_setname_np(work.name)
        #else
            _ = setName?(pthread_self(), String(work.name.prefix(15)))
        #endif
        work.body()
    }

    #if !canImport(Darwin)
        /// `pthread_setname_np`, which the headers show to GNU's own programs only.
        private static let setName = dlsym(nil, "pthread_setname_np").map {
            unsafeBitCast($0, to: (@convention(c) (pthread_t, UnsafePointer<CChar>) -> Int32).self)
        }
    #endif
}

// Swift 6.3 cannot compile this as a closure where it is used.
#if canImport(Darwin)
    private func threadBody(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        BackgroundThread.run(work)
        return nil
    }
#else
    private func threadBody(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work { BackgroundThread.run(work) }
        return nil
    }
#endif
