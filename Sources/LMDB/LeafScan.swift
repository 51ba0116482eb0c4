#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Goes through the entries of all leaf pages of a data file, whatever tree they stand in or stood in, with plain reads
/// only: for files whose trees cannot be followed, because pages are lost or the file has been cut short.
///
/// Entries come in the order of the file. One may come several times, since LMDB writes a page that changes to another
/// place and leaves the old one as it was. The layout is that of `FreeListScan`.
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

    private static let pageHeaderSize = 16
    private static let nodeHeaderSize = 8
    private static let leafFlag: UInt16 = 0x02
    /// Bits of what a page is, without those of its life in memory.
    private static let kindBits: UInt16 = 0x6F
    private static let bigDataFlag: UInt16 = 0x01
    private static let usualPageSize = 4096

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
        let isSize = count == 4 && bytes >= 512 && bytes <= 32_768 && bytes.nonzeroBitCount == 1
        pageSize = isSize ? Int(bytes) : Self.usualPageSize
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
        func number(_ offset: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
        let lower = number(12)
        guard bytes.loadUnaligned(as: UInt64.self) == UInt64(page), UInt16(number(10)) & Self.kindBits == Self.leafFlag,
            lower >= Self.pageHeaderSize, lower <= pageSize
        else { return }
        for slot in stride(from: Self.pageHeaderSize, to: lower - 1, by: 2) {
            let node = number(slot)
            guard node >= lower, node + Self.nodeHeaderSize <= pageSize else { return }
            let size = number(node) | number(node + 2) << 16
            let flags = UInt16(number(node + 4))
            let keyStart = node + Self.nodeHeaderSize
            let start = keyStart + number(node + 6)
            // Other flags are those of tables in tables.
            guard flags & ~Self.bigDataFlag == 0, start + (flags == 0 ? size : 8) <= pageSize else { continue }
            var offset = page * pageSize + start
            if flags != 0 {
                let first = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                guard first < UInt64(fileSize / pageSize) else { continue }
                offset = Int(first) * pageSize + Self.pageHeaderSize
            }
            guard offset + size <= fileSize else { continue }
            try body(
                UnsafeRawBufferPointer(rebasing: bytes[keyStart..<start]), Place(offset: offset, count: size))
        }
    }
}
