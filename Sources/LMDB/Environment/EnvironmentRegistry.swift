#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Locking

/// The environments of this process by the identity of their data file.
///
/// A file that is opened twice in a process loses, with the first close, the file locks that tell other processes about
/// its readers. So every opening goes through here, and the lock of `entries` is held while LMDB opens and closes
/// files.
final class EnvironmentRegistry: Sendable {
    static let shared = EnvironmentRegistry()

    /// A class because Swift 6.3 miscompiles `entries[key]?.object` for a struct with a weak reference.
    private final class Entry {
        weak var environment: Environment?
        /// Distinguishes the environment from a later one of the same file while the first is being released.
        let object: ObjectIdentifier
        var ownerCount = 1

        init(_ environment: Environment) {
            self.environment = environment
            object = ObjectIdentifier(environment)
        }
    }

    private enum Finding {
        case environment(Environment)
        /// The last reference is gone but the files are still being closed.
        case closing
        case conflict(Environment)
    }

    private let entries = Locked<[FileIdentity: Entry]>([:])

    /// The open environment of a file, with one owner more, or the one that `make` opens.
    func environment(
        for identity: FileIdentity, _ options: EnvironmentOptions,
        make: () throws(LMDBError) -> Environment
    ) throws(LMDBError) -> Environment {
        while true {
            // The finding leaves the lock before it can be released: releasing may close, which takes the lock.
            switch try find(identity, options, make) {
            case .environment(let environment): return environment
            case .closing: sched_yield()
            case .conflict(let environment): throw environment.failure(.conflictingOptions, "open the store again")
            }
        }
    }

    private func find(
        _ identity: FileIdentity, _ options: EnvironmentOptions, _ make: () throws(LMDBError) -> Environment
    ) throws(LMDBError) -> Finding {
        try entries.withLock { entries throws(LMDBError) in
            if let entry = entries[identity] {
                guard let found = entry.environment else { return .closing }
                if !found.forkGuard.isInChild {
                    guard found.options.serves(options) else { return .conflict(found) }
                    entry.ownerCount += 1
                    return .environment(found)
                }
            }
            let made = try make()
            made.isRegistered = true
            entries[identity] = Entry(made)
            return .environment(made)
        }
    }

    /// Removes one owner. For the last one it runs the closing body, while no thread can open the file.
    ///
    /// - Returns: false if the body could not close the environment, which then keeps that owner.
    func releaseOwner(_ identity: FileIdentity, _ object: ObjectIdentifier, _ close: () -> Bool) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[identity], entry.object == object else { return true }
            if entry.ownerCount > 1 {
                entry.ownerCount -= 1
                return true
            }
            guard close() else { return false }
            entries[identity] = nil
            return true
        }
    }

    /// Runs the closing body for an environment without references, and forgets it.
    func forget(_ identity: FileIdentity, _ object: ObjectIdentifier, _ close: () -> Void) {
        entries.withLock { entries in
            close()
            if let entry = entries[identity], entry.object == object { entries[identity] = nil }
        }
    }
}
