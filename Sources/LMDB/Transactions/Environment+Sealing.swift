#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Synchronization

extension Environment {
    /// Has the newest commit sealed before another one is made: what a writer writes on must be known to be free.
    ///
    /// Under the writer's lock, and after a write transaction has begun, so that the map holds the whole file.
    /// - Throws: `corrupted` for a damaged file, which nothing is written to then; `noSpaceOrIO`.
    /// - Complexity: O(1) where the newest commit is sealed, as after every commit of Strata's. Otherwise a read of every
    ///   page in use.
    func sealBeforeWriting() throws(LMDBError) {
        guard sums.isUsed, let map = sums.map, let commit = sums.newestCommit else { return }
        if let seal = sums.trusted, seal.commit == commit,
            HeadDigest(Self.metaPage(commit, map, sums.pageSize)) == seal.head
        {
            return
        }
        try sealSlowly(commit, map)
    }

    @inline(never)
    private func sealSlowly(_ commit: UInt64, _ map: UnsafeRawPointer) throws(LMDBError) {
        if !sums.isAttached { try makeSums() }
        sums.verify()
        let state: HeadState
        do throws(HeadState.Damage) {
            state = try headState()
        } catch {
            throw headDamage(error, "begin a write transaction")
        }
        let base = sums.trusted
        if state == .oneAhead, let base, try seal(after: base, map, isRepeated: true) != nil { return }
        try sealWhole(Self.metaPage(commit, map, sums.pageSize), isOneAhead: state == .oneAhead)
    }

    /// The number of times that the sums of all pages were computed again, since the environment was opened.
    package var wholeSealCount: Int { sums.wholeSealCount.load(ordering: .relaxed) }

    private func sealWhole(_ head: UnsafeRawBufferPointer, isOneAhead: Bool) throws(LMDBError) {
        let file = PageCopies(descriptor: descriptor, pageSize: sums.pageSize)
        sums.wholeSealCount.add(1, ordering: .relaxed)
        let failure: PageSums.SystemFailure?
        do throws(PageDamage) {
            // The pages that the newest commit has not written have sums already.
            let isHeldAgainst = isOneAhead && sums.trusted != nil
            failure = try WholeSeal.seal(head, in: file, sums, isRelaxed: isRelaxed) { number, sum in
                let entry = isHeldAgainst ? sums.entry(number) : .none
                return !entry.isInUse || entry.sum == sum || !entry.isSound(number: number, salt: sums.salt)
            }
        } catch {
            throw self.failure(
                .corrupted, "check the pages before the first change",
                detail: "page \(error.page): \(error.sentence)")
        }
        if let failure { throw sumsFailure(failure) }
    }

    private var isRelaxed: Bool { options.durability != .full }

    /// Seals a commit that has just been made, under the writer's lock.
    ///
    /// Where that fails the commit stays as it is, and the next writer finds out why.
    func sealCommit(_ commit: UInt64) {
        guard sums.isUsed, let map = sums.map, sums.newestCommit == commit, let base = sums.trusted,
            base.commit + 1 == commit
        else { return }
        do throws(LMDBError) {
            guard let freed = try seal(after: base, map, isRepeated: false) else { return sums.unseal() }
            if options.durability.hasCheckpoints { heldPages.hold(freed, ofPages: base.lastPage) }
        } catch {
            // The sums have no room, and the commit stays unsealed.
        }
    }

    /// - Returns: how many pages the commit has freed; nil where the pages are not those of a commit that follows the sealed one.
    private func seal(after base: Seal, _ map: UnsafeRawPointer, isRepeated: Bool) throws(LMDBError) -> Int? {
        guard let size = FileLength.of(descriptor) else {
            throw SystemError.current("look at the data file", path)
        }
        do throws(CommitSeal.Failure) {
            return try CommitSeal.seal(
                after: base, sums, map: map, fileSize: size, isRepeated: isRepeated,
                isRelaxed: isRelaxed)
        } catch {
            switch error {
            case .contradiction: return nil
            case .system(let failure): throw sumsFailure(failure)
            }
        }
    }
}
