/// Packs consecutive events into a block (EventBlock.swift).
///
/// The bytes of the events must stay until the block is finished.
package struct EventBlockBuilder: ~Copyable {
    private let saltsFollow: Bool
    /// The groups in use, then others of earlier blocks.
    private var groups: [EventGroup] = []
    private var groupCount = 0
    private var events: [(bytes: UnsafeRawBufferPointer, group: Int)] = []
    /// The bytes of the groups with their events.
    private var groupSize = 0

    /// - Parameter saltsFollow: whether the salts are computed from the block's secret; the events have none yet.
    package init(saltsFollow: Bool) { self.saltsFollow = saltsFollow }

    /// The number of events so far.
    package var count: Int { events.count }

    /// The bytes of a block besides those of its groups.
    private func outerSize(groups: Int, events: Int) -> Int {
        EventBlock.headerSize + (saltsFollow ? EventBlock.secretSize : 0) + (groups > 1 ? events : 0)
    }

    // MARK: Adding

    /// Adds an event if it fits.
    ///
    /// - Returns: false if it does not; the block is then as it was.
    package mutating func add(_ event: UnsafeRawBufferPointer) -> Bool {
        guard EventHeader.size...EventBlock.largestEvent ~= event.count, events.count < EventBlock.mostEvents,
            event[0] == EventHeader.codecVersion
        else { return false }
        let flags = EventFlags(rawValue: UInt16(littleEndian: event.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        let key = Self.key(of: event)
        guard let index = (0..<groupCount).first(where: { groups[$0].key == key }) else {
            return begin(event, key, isVerbatim: flags.isReduced)
        }
        guard extend(index, event) else { return false }
        events.append((event, index))
        return true
    }

    /// Version, kind, flags and entity; and the beginning of the payload, which tells models and properties apart.
    private static func key(of event: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        let start = UInt64(UInt32(littleEndian: event.loadUnaligned(as: UInt32.self)))
        let entity = UInt64(UInt16(littleEndian: event.loadUnaligned(fromByteOffset: 14, as: UInt16.self)))
        var payload: UInt64 = 0
        for offset in EventHeader.size..<min(event.count, EventHeader.size + 6) {
            payload = payload << 8 | UInt64(event[offset])
        }
        return (start << 16 | entity, payload)
    }

    private mutating func begin(
        _ event: UnsafeRawBufferPointer, _ key: (UInt64, UInt64), isVerbatim: Bool
    ) -> Bool {
        guard groupCount < EventBlock.mostGroups else { return false }
        if groupCount == groups.count { groups.append(EventGroup(saltsFollow: saltsFollow)) }
        let group = groups[groupCount]
        group.begin(key, event, isVerbatim: isVerbatim)
        let size = outerSize(groups: groupCount + 1, events: events.count + 1) + groupSize + group.size
        guard size <= EventBlock.largestSize else { return false }
        events.append((event, groupCount))
        groupCount += 1
        groupSize += group.size
        return true
    }

    /// Adds an event to a group if the block is not too large then.
    private mutating func extend(_ index: Int, _ event: UnsafeRawBufferPointer) -> Bool {
        let group = groups[index]
        let others = groupSize - group.size
        let most = EventBlock.largestSize - outerSize(groups: groupCount, events: events.count + 1) - others
        guard group.add(event, atMost: most) else { return false }
        groupSize = others + group.size
        return true
    }

    // MARK: Finishing

    /// Forgets the events.
    package mutating func removeAll() {
        (groupCount, groupSize) = (0, 0)
        events.removeAll(keepingCapacity: true)
    }

    /// The block; the builder is empty then.
    ///
    /// - Parameter secret: 16 bytes if the salts follow from it.
    package mutating func finish(secret: [UInt8] = []) -> [UInt8] {
        precondition(
            secret.count == (saltsFollow ? EventBlock.secretSize : 0), "A block whose salts follow needs a secret.")
        let size = outerSize(groups: groupCount, events: events.count) + groupSize
        let block = [UInt8](unsafeUninitializedCapacity: size) { buffer, written in
            var target = BlockTarget(UnsafeMutableRawBufferPointer(buffer))
            write(secret, to: &target)
            precondition(target.count == size, "The size of a block was counted wrongly.")
            written = size
        }
        removeAll()
        return block
    }

    private func write(_ secret: [UInt8], to target: inout BlockTarget) {
        target.append(EventBlock.codecVersion)
        target.append(saltsFollow ? EventBlock.saltsFollow : 0)
        target.append(UInt8(truncatingIfNeeded: events.count))
        target.append(UInt8(truncatingIfNeeded: events.count >> 8))
        for _ in 0..<4 { target.append(0) }
        target.append(UInt8(groupCount))
        target.append(0)
        secret.withUnsafeBytes { target.append($0) }
        if groupCount > 1 { for event in events { target.append(UInt8(event.group)) } }
        var runs: [[Range<Int>]] = []
        for group in groups[..<groupCount] { runs.append(write(group, to: &target)) }
        var ordinals = [UInt64](repeating: 0, count: groupCount)
        withUnsafeTemporaryAllocation(byteCount: EventHeader.size, alignment: 8) { header in
            for (event, index) in events {
                let group = groups[index]
                group.encodeHeader(of: event, ordinals[index], into: header)
                ordinals[index] += 1
                let rest = event.count - group.headSize
                if group.restWidth > 0 { target.append(UInt8(truncatingIfNeeded: rest)) }
                if group.restWidth > 1 { target.append(UInt8(truncatingIfNeeded: rest >> 8)) }
                for run in runs[index] {
                    let source = run.lowerBound < EventHeader.size ? UnsafeRawBufferPointer(header) : event
                    target.append(UnsafeRawBufferPointer(rebasing: source[run]))
                }
                target.append(UnsafeRawBufferPointer(rebasing: event[group.headSize...]))
            }
        }
        target.seal()
    }

    /// - Returns: the bytes of the head that differ; a run ends with the header.
    private func write(_ group: EventGroup, to target: inout BlockTarget) -> [Range<Int>] {
        target.append(UInt8(truncatingIfNeeded: group.headSize))
        target.append(UInt8(truncatingIfNeeded: group.headSize >> 8))
        target.append(UInt8(group.restWidth))
        target.append(group.isVerbatim ? EventBlock.verbatim : 0)
        target.append(group.stepsObject ? UInt8(group.objectStep) : 0)
        target.append(group.stepsPrevious ? UInt8(group.previousStep) : 0)
        var runs: [Range<Int>] = []
        var constants: [UInt8] = []
        for offset in 0..<group.headSize {
            let isDiffering = group.difference(offset / 8) >> UInt64(offset % 8 * 8) & 0xFF != 0
            target.appendBit(isDiffering, at: offset)
            guard isDiffering else {
                var byte = group.first[offset]
                if offset < EventHeader.size {
                    byte &= UInt8(truncatingIfNeeded: group.kept(offset / 8) >> UInt64(offset % 8 * 8))
                }
                constants.append(byte)
                continue
            }
            if let last = runs.last, last.upperBound == offset, offset != EventHeader.size {
                runs[runs.count - 1] = last.lowerBound..<offset + 1
            } else {
                runs.append(offset..<offset + 1)
            }
        }
        for (index, byte) in constants.enumerated() { target.appendBit(byte != 0, at: index) }
        for byte in constants where byte != 0 { target.append(byte) }
        return runs
    }
}

/// The bytes of a block while they are written.
private struct BlockTarget {
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    mutating func append(_ source: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: bytes[count..<count + source.count]).copyMemory(from: source)
        count += source.count
    }

    /// Appends a bit of a mask that begins with index 0.
    mutating func appendBit(_ bit: Bool, at index: Int) {
        if index % 8 == 0 { append(0) }
        if bit { bytes[count - 1] |= 1 << UInt8(index % 8) }
    }

    func seal() { EventHeader.seal(bytes) }
}
