#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads the entries of all leaf pages of a data file, whether or not a tree still leads to them: for files whose trees
/// cannot be followed, because pages are lost or the file has been cut short.
///
/// Entries come in the order of the file. An entry may come several times, since LMDB writes a changed page elsewhere
/// and leaves the old one as it was. It uses plain reads only.
package final class LeafScan {
    /// The location of a value in the file, in bytes.
    package struct Location: Sendable, Hashable {
        /// From the beginning of the file.
        package let offset: Int
        /// The length of the value.
        package let count: Int

        /// Makes a location from its parts.
        package init(offset: Int, count: Int) {
            self.offset = offset
            self.count = count
        }
    }

    private let descriptor: Int32
    private let fileSize: Int
    private let pageSize: Int

    /// Opens a data file.
    ///
    /// - Throws: when the file cannot be read.
    package init(path: String) throws(LMDBError) {
        // Opening a pipe would wait for its other end.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw SystemError.current("open the data file", path) }
        descriptor = file
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw LMDBError(.symbolicLink, operation: "open the data file", path: path)
        }
        fileSize = Int(status.st_size)
        // The first page says how large pages are, if it is still there.
        var bytes: UInt32 = 0
        let count = withUnsafeMutableBytes(of: &bytes) { pread(file, $0.baseAddress, 4, 40) }
        pageSize = count == 4 && Page.isSize(bytes) ? Int(bytes) : Page.usualSize
    }

    deinit { close(descriptor) }

    /// The bytes of a value; nil where the file ends before.
    package func bytes(at location: Location) -> [UInt8]? {
        [UInt8](descriptor, at: location.offset, count: location.count)
    }

    /// Calls `body` with the key of each entry and where its value lies.
    package func forEachEntry(_ body: (UnsafeRawBufferPointer, Location) throws -> Void) rethrows {
        for page in 0..<fileSize / pageSize {
            guard let bytes = bytes(at: Location(offset: page * pageSize, count: pageSize)) else { return }
            try bytes.withUnsafeBytes { try forEachEntry(of: page, $0, body) }
        }
    }

    private func forEachEntry(
        of number: Int, _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Location) throws -> Void
    ) rethrows {
        guard Page.number(of: bytes) == UInt64(number), let page = Page(bytes, .leaf) else { return }
        for index in 0..<page.count {
            guard let entry = page.entry(index), entry.offset >= Page.headerSize + 2 * page.count else { return }
            // Other flags are those of tables in tables.
            guard entry.flags & ~Page.Entry.longValueFlag == 0, entry.end <= pageSize else { continue }
            var offset = number * pageSize + entry.valueOffset
            if entry.hasLongValue {
                let first = page.firstPage(ofLongValue: entry)
                guard first < UInt64(fileSize / pageSize) else { continue }
                offset = Int(first) * pageSize + Page.headerSize
            }
            guard offset + entry.valueSize <= fileSize else { continue }
            try body(
                page.bytes(at: entry.keyOffset, count: entry.keySize), Location(offset: offset, count: entry.valueSize))
        }
    }
}
