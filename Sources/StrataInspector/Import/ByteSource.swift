import Foundation

/// The bytes of a file, or of standard input, as they come: a file may be larger than memory.
final class ByteSource {
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    private var place = 0
    /// Bytes that were handed out before the buffer.
    private var passed = 0
    /// nil when it is not known, as of a pipe.
    let size: Int?
    private static let chunk = 1 << 18
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameter path: `-` is standard input.
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

    /// Spreadsheets and some editors begin a file with a mark that says UTF-8; it belongs to no form.
    private func passMark() throws {
        while buffer.count < Self.mark.count, let more = try handle.read(upToCount: Self.chunk), !more.isEmpty {
            buffer += more
        }
        if buffer.starts(with: Self.mark) { place = Self.mark.count }
    }

    /// Bytes handed out so far.
    var position: Int { passed + place }

    /// Bytes of the file in memory.
    var heldCount: Int { buffer.count }

    /// nil at the end.
    func next() throws -> UInt8? {
        if place == buffer.count, try !refill() { return nil }
        defer { place += 1 }
        return buffer[place]
    }

    func peek() throws -> UInt8? {
        if place == buffer.count, try !refill() { return nil }
        return buffer[place]
    }

    /// The bytes up to the next line feed, which is passed over; nil at the end.
    func line() throws -> [UInt8]? {
        guard try peek() != nil else { return nil }
        var line: [UInt8] = []
        while try peek() != nil {
            guard let end = buffer[place...].firstIndex(of: 0x0A) else {
                line += buffer[place...]
                place = buffer.count
                continue
            }
            line += buffer[place..<end]
            place = end + 1
            break
        }
        return line
    }

    /// Takes the bytes up to the first that ends them, which stays, or to the end.
    func collect(into bytes: inout [UInt8], until ends: (UInt8) -> Bool) throws {
        while try peek() != nil {
            guard let end = buffer[place...].firstIndex(where: ends) else {
                bytes += buffer[place...]
                place = buffer.count
                continue
            }
            bytes += buffer[place..<end]
            place = end
            return
        }
    }

    func rest() throws -> [UInt8] {
        var bytes = Array(buffer[place...])
        place = buffer.count
        while try refill() {
            bytes += buffer
            place = buffer.count
        }
        return bytes
    }

    private func refill() throws -> Bool {
        passed += buffer.count
        place = 0
        buffer = Array(try handle.read(upToCount: Self.chunk) ?? Data())
        return !buffer.isEmpty
    }
}
