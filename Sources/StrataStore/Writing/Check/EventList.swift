#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Locking
import StrataModel

/// The encoded events of one save, in one buffer; `seal` completes them for the log.
struct EventList: ~Copyable {
    private struct Span {
        let offset: Int
        let size: Int
        /// The image of the row that the event changes or removes, in the map.
        let before: UnsafeRawBufferPointer?
    }

    private var arena: Arena
    private var spans: [Span] = []
    /// Whether views can be made of all events on rows without reading rows other than `rowBefore`.
    private(set) var hasRowsBefore = true
    private let transaction: TransactionNumber

    /// - Parameter sizeInBytes: about the size of the payloads of `count` events; a list that outgrows it is copied.
    init(transaction: TransactionNumber, count: Int = 0, sizeInBytes: Int = 0) {
        self.transaction = transaction
        arena = Arena(capacity: max(1 << 12, sizeInBytes + count * EventHeader.size))
        spans.reserveCapacity(count)
    }

    var count: Int { spans.count }
    var sizeInBytes: Int { arena.count }

    func event(_ index: Int) -> UnsafeRawBufferPointer {
        arena.bytes(at: spans[index].offset, count: spans[index].size)
    }

    /// The row before an event if the check has read it; valid until the transaction writes.
    func rowBefore(_ index: Int) -> UnsafeRawBufferPointer? { spans[index].before }

    /// Encodes an event without its salt, digest and checksum.
    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventNumber, flags: EventFlags = .none,
        _ payload: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer? = nil
    ) {
        let payloadSize = payload.count
        let room = arena.allocate(EventHeader.size + payloadSize)
        guard let base = room.bytes.baseAddress else { return }
        EventHeader(
            kind: kind, flags: flags, object: object, transaction: transaction, previous: previous,
            payloadSize: payloadSize
        ).encode(into: base)
        UnsafeMutableRawBufferPointer(rebasing: room.bytes[EventHeader.size...]).copyMemory(from: payload)
        spans.append(Span(offset: room.offset, size: room.bytes.count, before: before))
        switch kind {
        case .inserted: break
        case .updated, .deleted: if before == nil { hasRowsBefore = false }
        default: hasRowsBefore = false
        }
    }

    /// Writes salt, digest and checksum of a stretch of unsealed events, taken from one end. Each event is sealed once,
    /// after the last was appended and before the log has it.
    ///
    /// - Returns: the sealed events; nil if none are left.
    func seal(_ end: SealingWork.End, of work: SealingWork) -> Range<Int>? {
        guard let range = work.take(end) else { return nil }
        seal(range)
        return range
    }

    /// Two threads may seal two ranges at once.
    private func seal(_ range: Range<Int>) {
        var salts = SaltSource(expected: range.count)
        for span in spans[range] {
            let event = arena.mutableBytes(at: span.offset, count: span.size)
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

/// The unsealed events of a list; two threads take them from both ends.
struct SealingWork: Sendable {
    enum End { case first, last }

    /// How many events a thread takes at a time.
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

/// Random salts, fetched in the largest amount that one system call gives.
struct SaltSource {
    static let size = 16
    /// The most that `getentropy` gives.
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
        // The standard library handles systems without that call.
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            bytes.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
        }
    }
}
