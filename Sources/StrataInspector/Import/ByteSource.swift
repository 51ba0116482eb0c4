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
    /// The most bytes of one record.
    let recordLimit: Int
    /// The beginning of the present record.
    private var recordStart = 0
    private static let chunk = 1 << 18
    /// The limit that records have unless another is given.
    static let standardRecordLimit = 64 << 20
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The present record is longer than the limit.
    struct RecordTooLong: Error {
        let limit: Int

        /// Returns the error for a record, or for a file that is read whole, that is too long.
        func error(_ location: String) -> InputError {
            let size = ValueText.size(UInt64(limit))
            return InputError("\(location) is longer than \(size), which is the limit; --record-limit gives another.")
        }
    }

    /// A signal has come that ends the command.
    struct Interrupted: Error {}

    /// - Parameter path: `-` for standard input.
    /// - Throws: `UsageError`.
    init(_ path: String, recordLimit: Int = standardRecordLimit) throws {
        self.recordLimit = recordLimit
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

    /// Whether the source begins with the byte order mark of UTF-16.
    var isUTF16: Bool { passed == 0 && (buffer.starts(with: [0xFF, 0xFE]) || buffer.starts(with: [0xFE, 0xFF])) }

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

    // MARK: Records

    /// From here on the bytes that are read are those of one record.
    func beginRecord() { recordStart = position }

    /// - Throws: `RecordTooLong`.
    func checkRecord() throws {
        if position - recordStart > recordLimit { throw RecordTooLong(limit: recordLimit) }
    }

    /// The bytes up to the next line feed, which is skipped; nil at the end.
    ///
    /// - Throws: `RecordTooLong`.
    func line() throws -> [UInt8]? {
        guard try peek() != nil else { return nil }
        var line: [UInt8] = []
        try collect(into: &line) { $0 == 0x0A }
        _ = try next()
        return line
    }

    /// The bytes before the next separator or line end, if they are ASCII and in the buffer with what ends them;
    /// otherwise nil, and no byte is taken.
    func plainText(before separator: UInt8) -> String? {
        let start = offset
        let text: String? = buffer.withUnsafeBufferPointer { bytes in
            var end = start
            var all: UInt8 = 0
            while end < bytes.count {
                let byte = bytes[end]
                if byte == separator || byte == 0x0A || byte == 0x0D {
                    guard all < 0x80 else { return nil }
                    return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
                }
                all |= byte
                end += 1
            }
            return nil
        }
        offset = start + (text?.utf8.count ?? 0)
        return text
    }

    /// Appends the bytes before the first for which `ends` is true, or up to the end.
    ///
    /// - Throws: `RecordTooLong`.
    func collect(into bytes: inout [UInt8], until ends: (UInt8) -> Bool) throws {
        while try peek() != nil {
            let end = buffer[offset...].firstIndex(where: ends)
            try take(upTo: end ?? buffer.count, into: &bytes)
            if end != nil { return }
        }
    }

    /// The bytes up to the end.
    ///
    /// - Throws: `RecordTooLong`.
    func rest() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while try peek() != nil { try take(upTo: buffer.count, into: &bytes) }
        return bytes
    }

    private func take(upTo end: Int, into bytes: inout [UInt8]) throws {
        let count = bytes.count + end - offset
        if count > bytes.capacity {
            // Doubling would take more than twice the limit for the longest records, which get all their room early.
            let room = recordLimit + Self.chunk
            bytes.reserveCapacity(max(count, 4 * count < room ? 2 * count : room))
        }
        bytes += buffer[offset..<end]
        offset = end
        try checkRecord()
    }

    private func refill() throws -> Bool {
        if Interrupt.exitCode != nil { throw Interrupted() }
        passed += buffer.count
        offset = 0
        buffer = Array(try handle.read(upToCount: Self.chunk) ?? Data())
        return !buffer.isEmpty
    }
}
