#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Synchronization

// Opens and creates the sums of the pages, and checks the head of the data file by them.

extension EnvironmentOptions {
    /// Whether the pages of such an environment have sums. Files without names and disposable ones have none: they need
    /// not outlive the process, or the start of the system.
    var hasSums: Bool {
        sums == .compared && residence == .named && (isReadOnly || durability != .disposable && locking == .shared)
    }
}

extension Environment {
    /// Opens the sums of the pages, if there are any, and checks the head of the data file by them.
    ///
    /// - Throws: `corrupted` for a damaged or older head; what opening a file throws.
    func openSums() throws(LMDBError) {
        guard sums.isUsed else { return }
        do throws(LMDBError) {
            _ = try attachSums()
        } catch {
            // The first writer makes them.
            guard error.code == .missing else { throw error }
        }
        knownWipeCount.store(sums.wipeCount, ordering: .relaxed)
        sums.verify()
        // A writer may be replacing one of the meta pages, so damage counts only when it is seen three times.
        for attempt in 1...3 {
            do throws(HeadState.Damage) {
                _ = try headState()
                return
            } catch {
                if attempt == 3 { throw headDamage(error, "open the environment") }
                usleep(1_000)
            }
        }
    }

    /// Opens the file, and uses it if it holds sums.
    ///
    /// - Returns: whether it holds sums.
    private func attachSums() throws(LMDBError) -> Bool {
        let opened = try openSumsFile(options.isReadOnly ? O_RDONLY : O_RDWR)
        do throws(PageSums.SystemFailure) {
            return try sums.attach(opened)
        } catch {
            throw sumsFailure(error)
        }
    }

    /// Creates the file, or replaces its content if it holds no sums. Under the writer's lock.
    func makeSums() throws(LMDBError) {
        let opened = try openSumsFile(O_RDWR | O_CREAT)
        do throws(PageSums.SystemFailure) {
            defer { EnvironmentDirectory.closeFile(opened) }
            try PageSums.initialize(opened, pageSize: sums.pageSize)
        } catch {
            throw sumsFailure(error)
        }
        guard try attachSums() else { throw sumsFailure(PageSums.SystemFailure(number: EIO)) }
    }

    private func openSumsFile(_ flags: Int32) throws(LMDBError) -> Int32 {
        try directory.openFile(PageSums.name, flags, ownership: options.ownership).descriptor
    }

    func sumsFailure(_ failure: PageSums.SystemFailure) -> LMDBError {
        SystemError.lmdb(failure.number, "write the sums of pages", directory.path(of: PageSums.name))
    }

    /// Compares the meta pages with the newest seal.
    func headState() throws(HeadState.Damage) -> HeadState {
        // The seals first: their commits have been made.
        let seals = sums.seals
        guard let map = sums.map, let newest = seals.newest else { return .unsealed }
        return try HeadState.of(
            (Self.metaPage(0, map, sums.pageSize), Self.metaPage(1, map, sums.pageSize)), newest: newest,
            before: seals.before, mayBeOlder: newest.isRelaxed && !sums.isOfThisSession(newest))
    }

    /// The meta page of commits with the last bit of a number.
    static func metaPage(_ commit: UInt64, _ map: UnsafeRawPointer, _ pageSize: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: map + Int(commit & 1) * pageSize, count: pageSize)
    }

    func headDamage(_ damage: HeadState.Damage, _ operation: String) -> LMDBError {
        LMDBError(
            .corrupted, operation: operation, path: directory.path(of: EnvironmentDirectory.dataName),
            detail: damage.sentence)
    }
}
