#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Synchronization

/// The result of `Environment.wipe()`.
package struct WipeReport: Sendable, Equatable {
    /// The number of pages in use that were read.
    package var pageCount = 0
    /// The number of them that had bytes that were overwritten.
    package var changedPageCount = 0
    /// The number of free pages that were overwritten.
    package var freePageCount = 0
    /// The number of free pages that transactions which began earlier may still read. They were left as they are.
    package var waitingPageCount = 0
}

extension Environment {
    /// Overwrites all bytes of the data file that belong to no record of the newest commit, and has them on the disk
    /// when it returns. Readers and their snapshots are not affected; other writers wait.
    ///
    /// LMDB keeps the memory of pages that it has written and writes other pages from it. So the environment is opened
    /// again first, which waits for the open transactions of this process.
    ///
    /// - Throws: `busy` when transactions or other writers do not end in time; `corrupted`; `noSpaceOrIO`.
    /// - Complexity: a read of every page in use, and of every free one.
    package func wipe() throws(LMDBError) -> WipeReport {
        if options.residence == .named { try reopen() }
        try sync()
        let transaction = try beginWrite()
        do throws(LMDBError) {
            // Other processes forget their pages before they write again.
            if sums.isUsed {
                sums.noteWipe()
                knownWipeCount.store(sums.wipeCount, ordering: .relaxed)
            }
            let report = try wipe(commit: transaction.number - 1)
            transaction.abort()
            try wipeJournal()
            return report
        } catch {
            if transaction.isOpen { transaction.abort() }
            throw error
        }
    }

    private func wipe(commit: UInt64) throws(LMDBError) -> WipeReport {
        let (_, pageSize) = Self.shape(of: try activeHandle("overwrite unused bytes"))
        let oldest = try readers().compactMap(\.transaction).min() ?? commit
        let file = PageCopies(descriptor: descriptor, pageSize: pageSize)
        guard let copy = file.page(commit & 1, slot: 0), MetaPage(copy).transaction == commit else {
            throw failure(.corrupted, "overwrite unused bytes", detail: "meta page \(commit & 1)")
        }
        let head = [UInt8](copy)
        let found: FileWipe
        do throws(PageDamage) {
            found = try Self.found(descriptor, pageSize, head, oldestReader: min(oldest, commit))
        } catch {
            throw failure(
                .corrupted, "overwrite unused bytes", detail: "page \(error.page): \(error.sentence)")
        }
        try write(found, commit, head)
        return WipeReport(
            pageCount: found.pageCount, changedPageCount: found.changedPages.count,
            freePageCount: found.freePages.count, waitingPageCount: found.waitingPageCount)
    }

    private static func found(
        _ descriptor: Int32, _ pageSize: Int, _ head: [UInt8], oldestReader: UInt64
    ) throws(PageDamage) -> FileWipe {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: head.count, alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: head)
        return try FileWipe(
            descriptor, pageSize: pageSize, head: UnsafeRawBufferPointer(copy), oldestReader: oldestReader)
    }

    /// Writes, and enters the sums of the pages that have changed. A process that ends on the way leaves a file without
    /// a seal, whose sums the next writer computes again.
    private func write(_ found: FileWipe, _ commit: UInt64, _ head: [UInt8]) throws(LMDBError) {
        guard !found.patches.isEmpty else { return }
        let seal = sums.isUsed ? sums.trusted : nil
        if sums.isUsed {
            sums.unseal()
            // After a power cut the old seal would call pages damaged that were overwritten.
            let result = sums.synchronize()
            guard result == 0 else { throw SystemError.lmdb(result, "overwrite unused bytes", path) }
        }
        let result = found.write()
        guard result == 0 else { throw SystemError.lmdb(result, "overwrite unused bytes", path) }
        guard fsync(descriptor) == 0 else { throw SystemError.current("overwrite unused bytes", path) }
        guard let seal, seal.commit == commit else { return }
        var content = seal.content
        for number in found.changedPages {
            guard let sum = found.sum(of: number) else { return }
            sums.set(
                number, PageEntry(sum: sum, number: number, isFree: false, salt: sums.salt), &content)
        }
        for number in found.freePages {
            sums.set(number, PageEntry(sum: 0, number: number, isFree: true, salt: sums.salt), &content)
        }
        head.withUnsafeBytes { sums.seal(commit, head: $0, content, isRelaxed: seal.isRelaxed) }
    }
}
