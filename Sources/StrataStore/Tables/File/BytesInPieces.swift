package import Foundation

/// Bytes that are read in pieces, because there may be more of them than memory should hold. They can be read again.
package struct BytesInPieces {
    /// The number of bytes.
    package let count: Int
    /// Calls a body with each piece, in order.
    package let forEach: (_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// The size of a piece of a file or a database.
    private static let pieceSize = 1 << 20

    package init(count: Int, forEach: @escaping (_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) {
        self.count = count
        self.forEach = forEach
    }

    /// - Parameter read: fills the buffer with the bytes from an offset on.
    package init(count: Int, read: @escaping (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int) throws -> Void) {
        self.init(count: count) { body in
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(1, min(count, Self.pieceSize)), alignment: 16)
            defer { buffer.deallocate() }
            for offset in stride(from: 0, to: count, by: Self.pieceSize) {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(Self.pieceSize, count - offset)])
                try read(piece, offset)
                try body(UnsafeRawBufferPointer(piece))
            }
        }
    }

    /// The bytes of an open file, which is closed with the last copy of this value; nil if it is no plain file.
    ///
    /// - Parameter path: for errors.
    package init?(file descriptor: Int32, path: String) {
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(count: Int(info.st_size)) { buffer, offset in
            var done = 0
            while done < buffer.count {
                let count = pread(
                    file.fileDescriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                    off_t(offset + done))
                if count > 0 {
                    done += count
                } else if count == 0 || errno != EINTR {
                    throw BlobFile.Failure(operation: "read", path: path, number: count == 0 ? EIO : errno)
                }
            }
        }
    }

    /// The bytes of a value in memory, in one piece.
    package init(_ data: Data) {
        self.init(count: data.count) { body in try data.withUnsafeBytes(body) }
    }

    /// All bytes, in memory.
    package func data() throws -> Data {
        var data = Data(capacity: count)
        try forEach { data.append(contentsOf: $0) }
        return data
    }
}
