/// Bytes of a page that no reader looks at, and that may still hold what was removed from it.
///
/// LMDB moves the entries of a page together when one goes, and does not clear what they leave. It also writes whole
/// pages from memory that held other pages before. So the gap of any page may hold a record that is long gone.
struct UnusedBytes: Equatable {
    /// Offsets in the page.
    let range: Range<Int>
    /// The byte that overwrites them.
    let filler: UInt8
}

extension Page {
    /// The gap between the list of entries and the entries; nil where there is none.
    var gap: UnusedBytes? {
        let start = Self.headerSize + 2 * count
        guard start < upper, upper <= size else { return nil }
        return UnusedBytes(range: start..<upper, filler: 0)
    }

    /// The part of a branch page's key that may be overwritten, because the record that it was copied from is gone.
    ///
    /// A branch page keeps the key of a record as the border between two pages after the record is deleted. Each key
    /// above `last` and not above `first` serves as well. The new one has the same length, and every mixture of the old
    /// and the new bytes is such a key, too. So it can be written while others read the page.
    ///
    /// - Parameters:
    ///   - last: the last key on the pages before the border.
    ///   - first: the first key on the pages after it.
    /// - Returns: nil where the key is that of a record, or has nothing to be overwritten.
    func outdatedPart(
        ofKey index: Int, between last: UnsafeRawBufferPointer, and first: UnsafeRawBufferPointer
    ) -> UnusedBytes? {
        guard let entry = entry(index), let key = key(index), key.compare(with: first) < 0,
            key.compare(with: last) > 0
        else { return nil }
        var shared = 0
        while shared < min(last.count, first.count), last[shared] == first[shared] { shared += 1 }
        guard shared + 1 < key.count else { return nil }
        // At this byte the key differs from one of the two. So the bytes after it may take their least or greatest value.
        let isAtLast = shared < last.count && key[shared] == last[shared]
        let start = entry.keyOffset + shared + 1
        return UnusedBytes(range: start..<entry.valueOffset, filler: isAtLast ? 0xFF : 0)
    }
}
