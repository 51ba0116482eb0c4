#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Starts threads of the operating system that run one body each.
///
/// Foundation's `Thread` does not report that the system has no thread to give, so a caller that waits for its work
/// would wait for ever.
package enum BackgroundThread {
    /// The error for a thread that cannot be started: too many run, or memory or address space is used up.
    package struct Unavailable: Error, Equatable, CustomStringConvertible {
        /// The operating system's error number.
        package let number: Int32

        /// A clause with the operating system's reason.
        package var description: String { "no thread can be started (\(String(cString: strerror(number))))" }
    }

    /// Runs a body on a new thread, which ends with it.
    ///
    /// - Parameter name: the name that debuggers and `ps` show; Linux keeps 15 bytes of it.
    /// - Throws: `Unavailable`; the body will not run.
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

    /// The name and the body of a thread that is being started.
    fileprivate struct Work: Sendable {
        let name: String
        let body: @Sendable () -> Void
    }

    fileprivate static func run(_ pointer: UnsafeMutableRawPointer) {
        let slot = pointer.assumingMemoryBound(to: Work.self)
        let work = slot.move()
        slot.deallocate()
        #if canImport(Darwin)
            pthread_setname_np(work.name)
        #else
            _ = setName?(pthread_self(), String(work.name.prefix(15)))
        #endif
        work.body()
    }

    #if !canImport(Darwin)
        /// `pthread_setname_np`, which the headers declare for GNU programs only.
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
