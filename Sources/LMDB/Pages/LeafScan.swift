#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Goes through the entries of all leaf pages of a data file, whatever tree they stand in or stood in, with plain reads
/// only: for files whose trees cannot be followed, because pages are lost or the file has been cut short.
///
/// Entries come in the order of the file. One may come several times, since LMDB writes a page that changes to another
/// place and leaves the old one as it was.
package final class LeafScan {
    /// Where in the file a value stands.
    package struct Place: Sendable, Hashable {
        package let offset: Int
        package let count: Int

        package init(offset: Int, count: Int) {
            self.offset = offset
            self.count = count
        }
    }

    private let descriptor: Int32
    private let fileSize: Int
    private let pageSize: Int

    /// - Throws: when the file cannot be read.
    package init(path: String) throws(LMDBError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError.current("open the data file", path) }
        descriptor = file
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let error = SystemError.current("look at the data file", path)
            close(file)
            throw error
        }
        fileSize = Int(status.st_size)
        // The first page says how large pages are, where it is still there.
        var bytes: UInt32 = 0
        let count = withUnsafeMutableBytes(of: &bytes) { pread(file, $0.baseAddress, 4, 40) }
        pageSize = count == 4 && PageLayout.isPageSize(bytes) ? Int(bytes) : PageLayout.usualPageSize
    }

    deinit { close(descriptor) }

    /// The bytes of a value; nil where the file ends before.
    package func bytes(at place: Place) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: place.count) { buffer, size in
            size = max(0, pread(descriptor, buffer.baseAddress, place.count, off_t(place.offset)))
        }
        return bytes.count == place.count ? bytes : nil
    }

    /// Calls `body` with the key of each entry and where its value stands.
    package func forEachEntry(_ body: (UnsafeRawBufferPointer, Place) throws -> Void) rethrows {
        for page in 0..<fileSize / pageSize {
            guard let bytes = bytes(at: Place(offset: page * pageSize, count: pageSize)) else { return }
            try bytes.withUnsafeBytes { try forEachEntry(of: page, $0, body) }
        }
    }

    private func forEachEntry(
        of page: Int, _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Place) throws -> Void
    ) rethrows {
        func number(_ offset: Int) -> Int { Int(bytes.number(UInt16.self, at: offset)) }
        guard bytes.number(UInt64.self, at: 0) == UInt64(page), let leaf = LeafPage(bytes) else { return }
        for index in 0..<leaf.count {
            let node = leaf.place(index)
            guard node >= number(PageLayout.lowerPlace), node + PageLayout.entryHeaderSize <= pageSize else { return }
            let size = number(node) | number(node + 2) << 16
            let flags = UInt16(number(node + PageLayout.entryFlagsPlace))
            let keyStart = node + PageLayout.entryHeaderSize
            let start = keyStart + number(node + PageLayout.keySizePlace)
            // Other flags are those of tables in tables.
            guard flags & ~PageLayout.bigDataFlag == 0, start + (flags == 0 ? size : 8) <= pageSize else { continue }
            var offset = page * pageSize + start
            if flags != 0 {
                let first = bytes.number(UInt64.self, at: start)
                guard first < UInt64(fileSize / pageSize) else { continue }
                offset = Int(first) * pageSize + PageLayout.headerSize
            }
            guard offset + size <= fileSize else { continue }
            try body(
                UnsafeRawBufferPointer(rebasing: bytes[keyStart..<start]), Place(offset: offset, count: size))
        }
    }
}
