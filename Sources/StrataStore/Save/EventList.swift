#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import StrataModel

/// The events of one save, encoded and sealed, in one buffer.
struct EventList: ~Copyable {
    private var arena: Arena
    private var places: [(offset: Int, size: Int)] = []
    private var salts = SaltSource()
    private let transaction: TransactionSequence

    /// - Parameter sizeInBytes: what the payloads of `count` events will take about; a list that grows is copied.
    init(transaction: TransactionSequence, count: Int = 0, sizeInBytes: Int = 0) {
        self.transaction = transaction
        arena = Arena(capacity: max(1 << 12, sizeInBytes + count * EventHeader.size))
        places.reserveCapacity(count)
    }

    var count: Int { places.count }
    var sizeInBytes: Int { arena.count }

    func event(_ index: Int) -> UnsafeRawBufferPointer {
        arena.bytes(at: places[index].offset, count: places[index].size)
    }

    /// Encodes an event whose payload is `parts` one after the other.
    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventSequence, flags: EventFlags = .none,
        _ lead: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer = .empty
    ) {
        let payloadSize = lead.count + rest.count
        let place = arena.allocate(EventHeader.size + payloadSize)
        guard let base = place.bytes.baseAddress else { return }
        EventHeader(
            kind: kind, flags: flags, object: object, transaction: transaction, previous: previous,
            payloadSize: payloadSize
        ).encode(into: base)
        salts.next(into: base + EventHeader.saltOffset)
        let payload = UnsafeMutableRawBufferPointer(rebasing: place.bytes[EventHeader.size...])
        payload.copyMemory(from: lead)
        if !rest.isEmpty { UnsafeMutableRawBufferPointer(rebasing: payload[lead.count...]).copyMemory(from: rest) }
        EventDigest.write(
            saltAndPayload: UnsafeRawBufferPointer(rebasing: place.bytes[EventHeader.saltOffset...]),
            into: base + EventHeader.digestOffset)
        EventHeader.seal(place.bytes)
        places.append((place.offset, place.bytes.count))
    }

    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventSequence, _ payload: borrowing ByteWriter
    ) {
        append(kind, object, previous: previous, payload.bytes)
    }
}

/// Random salts, fetched from the system 4 KiB at a time: one system call for 256 events.
struct SaltSource {
    private static let size = 4096
    private var pool = [UInt8](repeating: 0, count: size)
    private var next = size

    mutating func next(into target: UnsafeMutableRawPointer) {
        if next == Self.size {
            pool.withUnsafeMutableBytes(Self.fill)
            next = 0
        }
        pool.withUnsafeBytes { bytes in
            let salt = UnsafeRawBufferPointer(rebasing: bytes[next..<next + 16])
            UnsafeMutableRawBufferPointer(start: target, count: 16).copyMemory(from: salt)
        }
        next += 16
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        var filled = 0
        let descriptor = open("/dev/urandom", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 {
            defer { close(descriptor) }
            while filled < bytes.count {
                let count = read(descriptor, bytes.baseAddress.map { $0 + filled }, bytes.count - filled)
                if count > 0 { filled += count } else if errno != EINTR { break }
            }
        }
        // Without the device, one system call for each byte that is still missing.
        var generator = SystemRandomNumberGenerator()
        while filled < bytes.count {
            bytes[filled] = UInt8(truncatingIfNeeded: generator.next())
            filled += 1
        }
    }
}
