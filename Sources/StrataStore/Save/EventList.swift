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
    private struct Place {
        let offset: Int
        let size: Int
        /// The image of the row that the event changes or removes, where it lies in the map.
        let before: UnsafeRawBufferPointer?
    }

    private var arena: Arena
    private var places: [Place] = []
    /// Whether all that the events say of rows can be turned into views without reading more than `rowBefore`.
    private(set) var hasRowsBefore = true
    private var salts: SaltSource
    private let transaction: TransactionSequence

    /// - Parameter sizeInBytes: what the payloads of `count` events will take about; a list that grows is copied.
    init(transaction: TransactionSequence, count: Int = 0, sizeInBytes: Int = 0) {
        self.transaction = transaction
        arena = Arena(capacity: max(1 << 12, sizeInBytes + count * EventHeader.size))
        places.reserveCapacity(count)
        salts = SaltSource(expected: count)
    }

    var count: Int { places.count }
    var sizeInBytes: Int { arena.count }

    func event(_ index: Int) -> UnsafeRawBufferPointer {
        arena.bytes(at: places[index].offset, count: places[index].size)
    }

    /// The row before an event, if it was read when the event was made: valid until the transaction writes.
    func rowBefore(_ index: Int) -> UnsafeRawBufferPointer? { places[index].before }

    /// Encodes an event.
    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventSequence, flags: EventFlags = .none,
        _ payload: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer? = nil
    ) {
        let payloadSize = payload.count
        let place = arena.allocate(EventHeader.size + payloadSize)
        guard let base = place.bytes.baseAddress else { return }
        EventHeader(
            kind: kind, flags: flags, object: object, transaction: transaction, previous: previous,
            payloadSize: payloadSize
        ).encode(into: base)
        salts.next(into: base + EventHeader.saltOffset)
        UnsafeMutableRawBufferPointer(rebasing: place.bytes[EventHeader.size...]).copyMemory(from: payload)
        EventDigest.write(
            saltAndPayload: UnsafeRawBufferPointer(rebasing: place.bytes[EventHeader.saltOffset...]),
            into: base + EventHeader.digestOffset)
        EventHeader.seal(place.bytes)
        places.append(Place(offset: place.offset, size: place.bytes.count, before: before))
        switch kind {
        case .inserted: break
        case .updated, .deleted: if before == nil { hasRowsBefore = false }
        default: hasRowsBefore = false
        }
    }

    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventSequence, _ payload: borrowing ByteWriter,
        before: UnsafeRawBufferPointer? = nil
    ) {
        append(kind, object, previous: previous, payload.bytes, before: before)
    }
}

/// Random salts, fetched from the system together: up to 4 KiB at a time, for 256 events.
struct SaltSource {
    private static let mostBytes = 4096
    /// From here on one read of the device is cheaper than a system call for every eight bytes.
    private static let deviceBytes = 128
    private var pool: [UInt8]
    private var next: Int

    /// - Parameter expected: about how many salts will be taken; 0 when nobody knows.
    init(expected: Int) {
        let salts = expected == 0 ? Self.mostBytes / 16 : min(expected, Self.mostBytes / 16)
        pool = [UInt8](repeating: 0, count: 16 * salts)
        next = pool.count
    }

    mutating func next(into target: UnsafeMutableRawPointer) {
        if next == pool.count {
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
        var generator = SystemRandomNumberGenerator()
        guard bytes.count >= deviceBytes else {
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                bytes.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
            }
            return
        }
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
        while filled < bytes.count {
            bytes[filled] = UInt8(truncatingIfNeeded: generator.next())
            filled += 1
        }
    }
}
