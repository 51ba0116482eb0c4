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
        if work.packs { work.add(pack(range)) } else { seal(range) }
        return range
    }

    /// Two threads may seal two ranges at once.
    private func seal(_ range: Range<Int>) {
        var salts = SaltSource(expected: range.count)
        for index in range { seal(index) { salts.next(into: $0) } }
    }

    private func seal(_ index: Int, _ writeSalt: (UnsafeMutableRawPointer) -> Void) {
        let event = arena.mutableBytes(at: spans[index].offset, count: spans[index].size)
        guard let base = event.baseAddress else { return }
        writeSalt(base + EventHeader.saltOffset)
        EventDigest.write(
            saltAndPayload: UnsafeRawBufferPointer(rebasing: event[EventHeader.saltOffset...]),
            into: base + EventHeader.digestOffset)
        EventHeader.seal(event)
    }

    // MARK: Blocks

    /// Seals a range and packs it into blocks, whose secrets the salts follow from.
    private func pack(_ range: Range<Int>) -> [PackedEvents] {
        var packed: [PackedEvents] = []
        var salts = SaltSource(expected: range.count / 16)
        var builder = EventBlockBuilder(saltsFollow: true)
        var first = range.lowerBound
        func finish(_ end: Int) {
            defer { first = end }
            guard builder.count > 1 else {
                builder.removeAll()
                for index in first..<end { seal(index) { salts.next(into: $0) } }
                return
            }
            let secret = [UInt8](unsafeUninitializedCapacity: EventBlock.secretSize) { bytes, count in
                if let base = bytes.baseAddress { salts.next(into: base) }
                count = EventBlock.secretSize
            }
            secret.withUnsafeBytes { secret in
                for index in first..<end { seal(index) { EventDigest.writeSalt(secret, index - first, into: $0) } }
            }
            packed.append(PackedEvents(range: first..<end, block: builder.finish(secret: secret)))
        }
        for index in range where !builder.add(event(index)) {
            finish(index)
            if !builder.add(event(index)) { finish(index + 1) }
        }
        finish(range.upperBound)
        return packed
    }

    mutating func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventNumber, _ payload: borrowing ByteWriter,
        before: UnsafeRawBufferPointer? = nil
    ) {
        append(kind, object, previous: previous, payload.bytes, before: before)
    }
}

/// Events of a list that are in one block of the log.
struct PackedEvents: Sendable {
    let range: Range<Int>
    let block: [UInt8]
}

/// The unsealed events of a list; two threads take them from both ends.
struct SealingWork: Sendable {
    enum End { case first, last }

    /// The number of events that a thread takes at a time. A block does not go beyond them.
    private let stretch: Int
    private let left: Locked<Range<Int>>
    /// Whether the events go into blocks.
    let packs: Bool
    private let packed = Locked<[Int: PackedEvents]>([:])

    init(count: Int, packs: Bool) {
        left = Locked(0..<count)
        self.packs = packs
        stretch = packs ? 1024 : 256
    }

    fileprivate func add(_ blocks: [PackedEvents]) {
        packed.withLock { packed in for block in blocks { packed[block.range.lowerBound] = block } }
    }

    /// Takes the blocks that begin in a range of sealed events, by their first events.
    func takeBlocks(in range: Range<Int>) -> [Int: PackedEvents] {
        guard packs else { return [:] }
        return packed.withLock { packed in
            var blocks: [Int: PackedEvents] = [:]
            for index in range {
                if let block = packed.removeValue(forKey: index) { blocks[index] = block }
            }
            return blocks
        }
    }

    fileprivate func take(_ end: End) -> Range<Int>? {
        left.withLock { left in
            guard !left.isEmpty else { return nil }
            switch end {
            case .first:
                let taken = left.prefix(stretch)
                left = taken.upperBound..<left.upperBound
                return taken
            case .last:
                let taken = left.suffix(stretch)
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
