import CChecksum

/// Computes the sums of a whole file again, from pages read one by one: for a file without sums, one whose sums are of an
/// older commit, or one that a power cut has left.
///
/// Such pages have no sum to be compared with, so `FilePartition` checks all that can be checked without one.
enum WholeSeal {
    /// Reads every page in use and seals the file's newest commit. Under the writer's lock.
    ///
    /// - Parameters:
    ///   - head: the meta page of the newest commit, as a whole.
    ///   - isRight: whether a page may have a sum, as far as that is known from another source.
    /// - Returns: why the sums could not be written; nil if they were.
    /// - Complexity: two reads of every page in use.
    static func seal(
        _ head: UnsafeRawBufferPointer, in file: PageCopies, _ sums: PageSums, isRelaxed: Bool,
        isRight: (UInt64, UInt32) -> Bool
    ) throws(PageDamage) -> PageSums.SystemFailure? {
        let meta = MetaPage(head)
        let partition = FilePartition(head, meta.transaction & 1, in: file, frees: false)
        if let problem = partition.problems.first { throw problem }
        // 0 for the free ones.
        var found = Array(repeating: UInt32(0), count: Int(meta.lastPage) + 1)
        for index in found.indices.dropFirst(2) where !partition.free.contains(UInt64(index)) {
            let number = UInt64(index)
            guard let bytes = file.page(number, slot: 0), let sum = PageSums.sum(of: bytes, number) else {
                throw PageDamage(number, "it cannot be read")
            }
            guard isRight(number, sum) else { throw PageDamage(number, PageDamage.otherPage) }
            found[index] = sum
        }
        do throws(PageSums.SystemFailure) {
            try enter(found, head, sums, isRelaxed: isRelaxed)
            return nil
        } catch {
            return error
        }
    }

    private static func enter(
        _ found: [UInt32], _ head: UnsafeRawBufferPointer, _ sums: PageSums, isRelaxed: Bool
    ) throws(PageSums.SystemFailure) {
        let meta = MetaPage(head)
        try sums.grow(toPages: meta.lastPage + 1)
        // A process that ends on the way leaves a file without seals.
        sums.unseal()
        let salt = sums.salt
        var content = EntrySum(lastPage: meta.lastPage)
        for index in found.indices.dropFirst(2) {
            let (number, sum) = (UInt64(index), found[index])
            sums.set(number, PageEntry(sum: sum, number: number, isFree: sum == 0, salt: salt), &content)
        }
        sums.clear(from: meta.lastPage + 1)
        content = sums.computedContent(lastPage: meta.lastPage)
        sums.seal(meta.transaction, head: head, content, isRelaxed: isRelaxed)
    }
}
