import Foundation

/// Reads the bytes of a file or of standard input in blocks, because a file may be larger than memory.
final class ByteSource {
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    private var offset = 0
    /// The number of bytes before the buffer.
    private var passed = 0
    /// The size of the file; nil if unknown, as for a pipe.
    let size: Int?
    private static let chunk = 1 << 18
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameter path: `-` for standard input.
    /// - Throws: `UsageError`.
    init(_ path: String) throws {
        do {
            if path == "-" {
                handle = .standardInput
                size = nil
            } else {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
                var status = stat()
                size = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
            }
            try passMark()
        } catch {
            throw UsageError("\(path) cannot be read: \(error.systemReason)")
        }
    }

    /// Skips the byte order mark with which some programs begin a UTF-8 file.
    private func passMark() throws {
        while buffer.count < Self.mark.count, let more = try handle.read(upToCount: Self.chunk), !more.isEmpty {
            buffer += more
        }
        if buffer.starts(with: Self.mark) { offset = Self.mark.count }
    }

    /// The number of bytes read so far.
    var position: Int { passed + offset }

    /// The size of a block.
    var heldCount: Int { buffer.count }

    /// The next byte; nil at the end.
    func next() throws -> UInt8? {
        if offset == buffer.count, try !refill() { return nil }
        defer { offset += 1 }
        return buffer[offset]
    }

    func peek() throws -> UInt8? {
        if offset == buffer.count, try !refill() { return nil }
        return buffer[offset]
    }

    /// The bytes up to the next line feed, which is skipped; nil at the end.
    func line() throws -> [UInt8]? {
        guard try peek() != nil else { return nil }
        var line: [UInt8] = []
        while try peek() != nil {
            guard let end = buffer[offset...].firstIndex(of: 0x0A) else {
                line += buffer[offset...]
                offset = buffer.count
                continue
            }
            line += buffer[offset..<end]
            offset = end + 1
            break
        }
        return line
    }

    /// Appends the bytes before the first for which `ends` is true, or up to the end.
    func collect(into bytes: inout [UInt8], until ends: (UInt8) -> Bool) throws {
        while try peek() != nil {
            guard let end = buffer[offset...].firstIndex(where: ends) else {
                bytes += buffer[offset...]
                offset = buffer.count
                continue
            }
            bytes += buffer[offset..<end]
            offset = end
            return
        }
    }

    func rest() throws -> [UInt8] {
        var bytes = Array(buffer[offset...])
        offset = buffer.count
        while try refill() {
            bytes += buffer
            offset = buffer.count
        }
        return bytes
    }

    private func refill() throws -> Bool {
        passed += buffer.count
        offset = 0
        buffer = Array(try handle.read(upToCount: Self.chunk) ?? Data())
        return !buffer.isEmpty
    }
}
