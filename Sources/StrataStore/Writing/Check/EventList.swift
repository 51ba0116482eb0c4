#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Locking
import StrataModel

/// The events of one save, encoded, in one buffer; `seal` makes them what the log holds.
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
    private let transaction: TransactionNumber

    /// - Parameter sizeInBytes: what the payloads of `count` events will take about; a list that grows is copied.
    init(transaction: TransactionNumber, count: Int = 0, sizeInBytes: Int = 0) {
        self.transaction = transaction
        arena = Arena(capacity: max(1 << 12, sizeInBytes + count * EventHeader.size))
        places.reserveCapacity(count)
    }

    var count: Int { places.count }
    var sizeInBytes: Int { arena.count }

    func event(_ index: Int) -> UnsafeRawBufferPointer {
        arena.bytes(at: places[index].offset, count: places[index].size)
    }

    /// The row before an event, if it was read when the event was made: valid until the transaction writes.
    func rowBefore(_ index: Int) -> UnsafeRawBufferPointer? { places[index].before }

    /// Encodes an event, all but its salt, digest and checksum.
    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventNumber, flags: EventFlags = .none,
        _ payload: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer? = nil
    ) {
        let payloadSize = payload.count
        let place = arena.allocate(EventHeader.size + payloadSize)
        guard let base = place.bytes.baseAddress else { return }
        EventHeader(
            kind: kind, flags: flags, object: object, transaction: transaction, previous: previous,
            payloadSize: payloadSize
        ).encode(into: base)
        UnsafeMutableRawBufferPointer(rebasing: place.bytes[EventHeader.size...]).copyMemory(from: payload)
        places.append(Place(offset: place.offset, size: place.bytes.count, before: before))
        switch kind {
        case .inserted: break
        case .updated, .deleted: if before == nil { hasRowsBefore = false }
        default: hasRowsBefore = false
        }
    }

    /// Puts a salt, the digest and the checksum into a stretch of those events that are left, at one of their ends: into
    /// each once, when all are there and before the log has it.
    ///
    /// - Returns: what it has sealed; nil when nothing is left.
    func seal(_ end: SealingWork.End, of work: SealingWork) -> Range<Int>? {
        guard let range = work.take(end) else { return nil }
        seal(range)
        return range
    }

    /// Events of two ranges may be sealed at once.
    private func seal(_ range: Range<Int>) {
        var salts = SaltSource(expected: range.count)
        for place in places[range] {
            let event = arena.mutableBytes(at: place.offset, count: place.size)
            guard let base = event.baseAddress else { continue }
            salts.next(into: base + EventHeader.saltOffset)
            EventDigest.write(
                saltAndPayload: UnsafeRawBufferPointer(rebasing: event[EventHeader.saltOffset...]),
                into: base + EventHeader.digestOffset)
            EventHeader.seal(event)
        }
    }

    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventNumber, _ payload: borrowing ByteWriter,
        before: UnsafeRawBufferPointer? = nil
    ) {
        append(kind, object, previous: previous, payload.bytes, before: before)
    }
}

/// The events of a list that are not sealed yet: two threads take them from both ends.
struct SealingWork: Sendable {
    enum End { case first, last }

    /// Events that are taken together.
    private static let stretch = 256
    private let left: Locked<Range<Int>>

    init(count: Int) { left = Locked(0..<count) }

    fileprivate func take(_ end: End) -> Range<Int>? {
        left.withLock { left in
            guard !left.isEmpty else { return nil }
            switch end {
            case .first:
                let taken = left.prefix(Self.stretch)
                left = taken.upperBound..<left.upperBound
                return taken
            case .last:
                let taken = left.suffix(Self.stretch)
                left = left.lowerBound..<taken.lowerBound
                return taken
            }
        }
    }
}

/// Random salts, fetched from the system as many at a time as one call gives.
struct SaltSource {
    static let size = 16
    /// What `getentropy` gives at most.
    private static let mostBytes = 256
    private var pool: [UInt8]
    private var next: Int

    /// - Parameter expected: how many salts will be taken.
    init(expected: Int) {
        pool = [UInt8](repeating: 0, count: min(max(1, expected) * Self.size, Self.mostBytes))
        next = pool.count
    }

    mutating func next(into target: UnsafeMutableRawPointer) {
        if next == pool.count {
            pool.withUnsafeMutableBytes(Self.fill)
            next = 0
        }
        pool.withUnsafeBytes { bytes in
            let salt = UnsafeRawBufferPointer(rebasing: bytes[next..<next + Self.size])
            UnsafeMutableRawBufferPointer(start: target, count: Self.size).copyMemory(from: salt)
        }
        next += Self.size
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        if let start = bytes.baseAddress, getentropy(start, bytes.count) == 0 { return }
        // The library's own way round a system without that call.
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            bytes.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
        }
    }
}
