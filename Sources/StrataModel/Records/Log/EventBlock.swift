// A block of consecutive events in the table `events`. Key: the number of its first event, UInt64 big-endian. A block
// stands for its events, which have no records of their own. Value, at most 2022 bytes, all integers little-endian:
//
//   offset  width  field
//   0       1      codec version, 2
//   1       1      1 if the salts of its events follow from the secret
//   2       2      number of events
//   4       4      checksum: low half of XXH64 (seed: bytes 0..<4) over everything from offset 8
//   8       1      number of groups, 1...16
//   9       1      0
//   10      s      the secret: 16 random bytes if the salts follow from it, else nothing
//   10+s    n      with several groups: for each event the index of its group
//           ...    the groups
//           ...    for each event the bytes that differ in its group
//
// A group holds the bytes that the heads of its events share. The head of an event is its record (EventRecord.swift) up
// to an offset that all events of the group reach; in it the checksum is 0. Unless the group is verbatim, the length
// and the digest of the payload are 0 in it, and the salt if it follows from the secret: they can be computed.
//
//   0       2      size of the head, at least 72
//   2       1      width of the lengths of the rest of the events: 0 if they have none, 1 or 2
//   3       1      1 if the group is verbatim, as events with an erased payload are
//   4       1      step of the object id
//   5       1      step of the number of the previous event
//   6       ...    a bit for each byte of the head, byte i in byte i/8 at 1 << i%8: set if it differs among the events
//           ...    a bit for each byte that does not differ, in the same way: set if it is not 0
//           ...    the bytes that neither differ nor are 0
//
//   of an event   the length of the rest in the width of its group; the bytes of the head that differ; the rest
//
// An event's object id and the number of its previous event are written less i times the group's step, modulo 2^64,
// where i is the number of events of the group before it. The salt of the event at index k is the first half of
// SHA-256(secret, UInt16 k). The salt of an event whose payload is erased must not follow from anything, so an erasure
// writes the block again with the salts of the others.

/// The constants that the writer and the reader of blocks of events share.
package enum EventBlock {
    package static let codecVersion: UInt8 = 2
    /// The largest value of which two fit on a page of LMDB.
    package static let largestSize = 2022
    /// No block is smaller.
    package static let smallestSize = 32
    package static let mostEvents = 512
    package static let secretSize = 16
    static let headerSize = 10
    static let groupHeaderSize = 6
    static let mostGroups = 16
    static let saltsFollow: UInt8 = 1
    static let verbatim: UInt8 = 1
    /// Larger events stay by themselves.
    static let largestEvent = 4096

    /// Whether a record of the log is a block, and not an event.
    package static func isBlock(_ record: UnsafeRawBufferPointer) -> Bool { record.first == codecVersion }

    static func checksum(_ block: UnsafeRawBufferPointer) -> UInt32 { EventHeader.checksum(block) }

    /// The numbers of the events in a block, without a look at them.
    ///
    /// - Throws: `CorruptRecord` where the block says that it has none.
    package static func count(_ block: UnsafeRawBufferPointer) throws(CorruptRecord) -> Int {
        guard block.count > headerSize else { throw CorruptRecord("block of events cut short", at: 0) }
        let count = Int(UInt16(littleEndian: block.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        guard count > 0 else { throw CorruptRecord("a block without events", at: 2) }
        return count
    }
}

/// Reads the events of a block from front to back; one reader serves many blocks.
///
/// It trusts nothing that it reads. The bytes of the block must stay until its last event is read.
package final class EventBlockReader {
    private struct Group {
        var template = 0
        var headSize = 0
        var restWidth = 0
        var isVerbatim = false
        var objectStep: UInt64 = 0
        var previousStep: UInt64 = 0
        var firstRun = 0
        var runCount = 0
        var differing = 0
        /// The number of events of the group that were read or passed over.
        var read: UInt64 = 0
    }

    /// Adjacent bytes that differ.
    private struct Run {
        var offset: UInt16
        var count: UInt16
    }

    // Bare memory, since each event uses all of it.
    private let groups = UnsafeMutablePointer<Group>.allocate(capacity: EventBlock.mostGroups)
    /// No block has more bits for bytes that differ.
    private let runs = UnsafeMutablePointer<Run>.allocate(capacity: EventBlock.largestSize * 4)
    /// The heads of the groups, with 0 where they differ.
    private let templates = UnsafeMutableRawPointer.allocate(
        byteCount: EventBlock.mostGroups * EventBlock.largestEvent, alignment: 8)
    private let buffer = UnsafeMutableRawPointer.allocate(
        byteCount: EventBlock.largestEvent + EventBlock.largestSize, alignment: 8)
    @exclusivity(unchecked) private var block = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) private var groupCount = 0
    @exclusivity(unchecked) private var runCount = 0
    @exclusivity(unchecked) private var templateSize = 0
    @exclusivity(unchecked) private var size = 0
    @exclusivity(unchecked) private var indexes = 0
    @exclusivity(unchecked) private var firstRecord = 0
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var saltsFollow = false
    /// The group of the event that was read last.
    @exclusivity(unchecked) private var current = 0

    /// The number of events in the block.
    @exclusivity(unchecked) package private(set) var count = 0
    /// The index of the next event.
    @exclusivity(unchecked) package private(set) var index = 0

    package init() {}

    deinit {
        groups.deallocate()
        runs.deallocate()
        templates.deallocate()
        buffer.deallocate()
    }

    /// Begins a block.
    package func open(_ block: UnsafeRawBufferPointer) throws(CorruptRecord) {
        close()
        let count = try EventBlock.count(block)
        guard block[0] == EventBlock.codecVersion, block.count <= EventBlock.largestSize else {
            throw CorruptRecord("no block of events", at: 0)
        }
        let sum = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        guard sum == EventBlock.checksum(block) else {
            throw CorruptRecord("checksum of a block of events does not match", at: 4)
        }
        guard block[1] & ~EventBlock.saltsFollow == 0, block[9] == 0 else {
            throw CorruptRecord("unknown flags of a block of events", at: 1)
        }
        let groupCount = Int(block[8])
        guard 1...EventBlock.mostGroups ~= groupCount, count <= EventBlock.mostEvents else {
            throw CorruptRecord("too many events or groups in a block", at: 8)
        }
        saltsFollow = block[1] & EventBlock.saltsFollow != 0
        indexes = EventBlock.headerSize + (saltsFollow ? EventBlock.secretSize : 0)
        position = indexes + (groupCount > 1 ? count : 0)
        self.block = block
        for _ in 0..<groupCount { try readGroup() }
        firstRecord = position
        self.count = count
    }

    /// Goes back to the first event.
    package func rewind() {
        (index, position) = (0, firstRecord)
        for number in 0..<groupCount { groups[number].read = 0 }
    }

    /// Forgets the block.
    package func close() {
        (count, index, size, position) = (0, 0, 0, 0)
        (groupCount, runCount, templateSize) = (0, 0, 0)
        block = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func take(_ count: Int) throws(CorruptRecord) -> Int {
        guard count <= block.count - position else { throw CorruptRecord("block of events cut short", at: position) }
        defer { position += count }
        return position
    }

    private func readGroup() throws(CorruptRecord) {
        let start = try take(EventBlock.groupHeaderSize)
        var group = Group()
        group.headSize = Int(UInt16(littleEndian: block.loadUnaligned(fromByteOffset: start, as: UInt16.self)))
        group.restWidth = Int(block[start + 2])
        group.isVerbatim = block[start + 3] == EventBlock.verbatim
        group.objectStep = UInt64(block[start + 4])
        group.previousStep = UInt64(block[start + 5])
        guard EventHeader.size...EventBlock.largestEvent ~= group.headSize, group.restWidth <= 2,
            block[start + 3] & ~EventBlock.verbatim == 0
        else { throw CorruptRecord("a group of events that cannot be", at: start) }
        let mask = try take((group.headSize + 7) / 8)
        group.firstRun = runCount
        for offset in 0..<group.headSize where block[mask + offset / 8] & 1 << UInt8(offset % 8) != 0 {
            group.differing += 1
            if runCount > group.firstRun, Int(runs[runCount - 1].offset + runs[runCount - 1].count) == offset {
                runs[runCount - 1].count += 1
            } else {
                runs[runCount] = Run(offset: UInt16(offset), count: 1)
                runCount += 1
            }
        }
        group.runCount = runCount - group.firstRun
        group.template = templateSize
        templateSize += group.headSize
        let template = UnsafeMutableRawBufferPointer(start: templates + group.template, count: group.headSize)
        template.initializeMemory(as: UInt8.self, repeating: 0)
        let zeros = try take((group.headSize - group.differing + 7) / 8)
        var same = 0
        for offset in 0..<group.headSize where block[mask + offset / 8] & 1 << UInt8(offset % 8) == 0 {
            if block[zeros + same / 8] & 1 << UInt8(same % 8) != 0 { template[offset] = block[try take(1)] }
            same += 1
        }
        groups[groupCount] = group
        groupCount += 1
    }

    /// Takes the next event's group and the size of its rest, and moves to the bytes of its head.
    private func begin() throws(CorruptRecord) -> (group: Int, rest: Int)? {
        guard index < count else { return nil }
        let group = groupCount > 1 ? Int(block[indexes + index]) : 0
        guard group < groupCount else { throw CorruptRecord("a group that a block does not have", at: indexes + index) }
        let width = groups[group].restWidth
        let length = try take(width)
        var rest = 0
        if width > 0 { rest = Int(block[length]) }
        if width > 1 { rest |= Int(block[length + 1]) << 8 }
        guard rest + groups[group].differing <= block.count - position else {
            throw CorruptRecord("block of events cut short", at: position)
        }
        return (group, rest)
    }

    /// Decodes the next event; fields that can be computed are still 0 in it.
    ///
    /// - Returns: false behind the last.
    package func next() throws(CorruptRecord) -> Bool {
        guard let (number, rest) = try begin(), let source = block.baseAddress else { return false }
        let (target, group) = (buffer, groups[number])
        target.copyMemory(from: templates + group.template, byteCount: group.headSize)
        var next = source + position
        let run = runs + group.firstRun
        for index in 0..<group.runCount {
            let count = Int(run[index].count)
            (target + Int(run[index].offset)).copyMemory(from: next, byteCount: count)
            next += count
        }
        (target + group.headSize).copyMemory(from: next, byteCount: rest)
        if group.objectStep != 0 { Self.add(group.objectStep &* group.read, to: target + 8) }
        if group.previousStep != 0 { Self.add(group.previousStep &* group.read, to: target + 24) }
        size = group.headSize + rest
        if !group.isVerbatim {
            target.storeBytes(of: UInt32(size - EventHeader.size).littleEndian, toByteOffset: 32, as: UInt32.self)
        }
        current = number
        end(number, rest)
        guard index < count || position == block.count else {
            throw CorruptRecord("bytes after the last event of a block", at: position)
        }
        return true
    }

    /// Passes over the next event.
    package func skip() throws(CorruptRecord) {
        guard let (number, rest) = try begin() else { return }
        end(number, rest)
    }

    private func end(_ group: Int, _ rest: Int) {
        position += groups[group].differing + rest
        groups[group].read += 1
        index += 1
    }

    private static func add(_ step: UInt64, to field: UnsafeMutableRawPointer) {
        let value = UInt64(littleEndian: field.loadUnaligned(as: UInt64.self)) &+ step
        field.storeBytes(of: value.littleEndian, as: UInt64.self)
    }

    /// The event that was read last, valid until the next one is. The caller may complete it there.
    package var record: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: buffer, count: size) }
    /// Whether the digest of that event is to be computed.
    package var needsDigest: Bool { !groups[current].isVerbatim }
    /// The secret that the event's salt is derived from; nil if the event has its own salt.
    package var secret: UnsafeRawBufferPointer? {
        guard saltsFollow, !groups[current].isVerbatim else { return nil }
        let start = EventBlock.headerSize
        return UnsafeRawBufferPointer(rebasing: block[start..<start + EventBlock.secretSize])
    }
}
