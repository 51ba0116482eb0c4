/// Events of a block that have much in common, while the block is made.
/// One group serves one block after the other.
final class EventGroup {
    @exclusivity(unchecked) private(set) var key: (UInt64, UInt64) = (0, 0)
    @exclusivity(unchecked) private(set) var first = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) private(set) var isVerbatim = false
    private let saltsFollow: Bool
    @exclusivity(unchecked) private(set) var objectStep: UInt64 = 0
    @exclusivity(unchecked) private(set) var previousStep: UInt64 = 0
    @exclusivity(unchecked) private var state = State()
    /// The bits in which the heads differ, word by word, and the same before the last event.
    private let differences = UnsafeMutablePointer<UInt64>.allocate(capacity: EventBlock.largestEvent / 8)
    private let earlier = UnsafeMutablePointer<UInt64>.allocate(capacity: EventBlock.largestEvent / 8)
    /// The bytes that the group takes with its events.
    @exclusivity(unchecked) private(set) var size = 0

    /// The part of the group that adding an event changes.
    private struct State {
        var count = 1
        /// The bytes that all of the events have.
        var headSize = 0
        var largest = 0
        var sizeSum = 0
        /// The bits in which object ids and previous events differ, less the steps.
        var stepped: (object: UInt64, previous: UInt64) = (0, 0)
        /// Bytes that differ, and bytes that neither differ nor are 0.
        var differing = 0
        var constant = 0

        /// The width of the lengths of the rest.
        var restWidth: Int { largest == headSize ? 0 : largest - headSize < 256 ? 1 : 2 }

        var size: Int {
            EventBlock.groupHeaderSize + (headSize + 7) / 8 + (headSize - differing + 7) / 8 + constant
                + count * (restWidth + differing - headSize) + sizeSum
        }
    }

    init(saltsFollow: Bool) { self.saltsFollow = saltsFollow }

    deinit {
        differences.deallocate()
        earlier.deallocate()
    }

    /// Begins with the first event.
    func begin(_ key: (UInt64, UInt64), _ first: UnsafeRawBufferPointer, isVerbatim: Bool) {
        self.key = key
        self.first = first
        self.isVerbatim = isVerbatim
        (objectStep, previousStep) = (0, 0)
        state = State(headSize: first.count, largest: first.count, sizeSum: first.count)
        differences.update(repeating: 0, count: wordCount)
        countBytes()
        size = state.size
    }

    var headSize: Int { state.headSize }
    var restWidth: Int { state.restWidth }
    private var wordCount: Int { (state.headSize + 7) / 8 }

    /// Whether object ids, or numbers of previous events, are written less the steps.
    var stepsObject: Bool { Self.isShorter(state.stepped.object, differences[1]) }
    var stepsPrevious: Bool { Self.isShorter(state.stepped.previous, differences[3]) }

    // MARK: Adding

    /// Adds an event if the group does not take more than `most` bytes then.
    ///
    /// - Returns: false if it does; the group is then as it was.
    func add(_ event: UnsafeRawBufferPointer, atMost most: Int) -> Bool {
        let before = (state, objectStep, previousStep)
        let (object, previous) = (Self.word(1, event, EventHeader.size), Self.word(3, event, EventHeader.size))
        let (firstObject, firstPrevious) = (
            Self.word(1, first, EventHeader.size), Self.word(3, first, EventHeader.size)
        )
        if state.count == 1 {
            objectStep = object &- firstObject < 256 ? object &- firstObject : 0
            previousStep = previous &- firstPrevious < 256 ? previous &- firstPrevious : 0
        }
        let ordinal = UInt64(state.count)
        state.count += 1
        state.largest = max(state.largest, event.count)
        state.sizeSum += event.count
        state.stepped.object |= firstObject ^ (object &- objectStep &* ordinal)
        state.stepped.previous |= firstPrevious ^ (previous &- previousStep &* ordinal)
        let differs =
            event.count < state.headSize
            || Self.differing(state.stepped.object) != Self.differing(before.0.stepped.object)
            || Self.differing(state.stepped.previous) != Self.differing(before.0.stepped.previous)
            || !isCovered(event)
        if differs {
            earlier.update(from: differences, count: wordCount)
            state.headSize = min(state.headSize, event.count)
            widen(event)
            countBytes()
        }
        let size = state.size
        if size <= most {
            self.size = size
            return true
        }
        (state, objectStep, previousStep) = before
        if differs { differences.update(from: earlier, count: wordCount) }
        return false
    }

    /// Whether an event that is no shorter than the head differs only in bytes that are known to differ.
    private func isCovered(_ event: UnsafeRawBufferPointer) -> Bool {
        let (count, headSize, first) = (wordCount, state.headSize, first)
        var other: UInt64 = 0
        for index in 0..<count {
            var difference = Self.word(index, first, headSize) ^ Self.word(index, event, headSize)
            if index < Self.headerWords { difference &= kept(index) }
            other |= Self.differing(difference) & ~Self.differing(differences[index])
        }
        return other == 0
    }

    private func widen(_ event: UnsafeRawBufferPointer) {
        for index in 0..<wordCount {
            var difference =
                Self.word(index, first, state.headSize) ^ Self.word(index, event, state.headSize)
            if index < Self.headerWords { difference &= kept(index) }
            differences[index] |= difference
        }
    }

    // MARK: Words

    private static let headerWords = EventHeader.size / 8

    /// Eight bytes of a head; 0 behind its end.
    @inline(__always)
    private static func word(_ index: Int, _ event: UnsafeRawBufferPointer, _ headSize: Int) -> UInt64 {
        let offset = index * 8
        if offset + 8 <= headSize {
            return UInt64(littleEndian: event.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        for byte in offset..<headSize { word |= UInt64(event[byte]) << UInt64((byte - offset) * 8) }
        return word
    }

    /// The bits of a word of the header that are not computed.
    @inline(__always)
    func kept(_ index: Int) -> UInt64 {
        switch index {
        case 0: 0xFFFF_FFFF
        case 4: isVerbatim ? .max : 0xFFFF_FFFF_0000_0000
        case 5, 6: isVerbatim ? .max : 0
        case 7, 8: isVerbatim || !saltsFollow ? .max : 0
        default: .max
        }
    }

    /// A bit at the top of each byte that is not 0.
    @inline(__always)
    private static func differing(_ word: UInt64) -> UInt64 {
        let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ((word & low) &+ low | word) & ~low
    }

    private static func isShorter(_ stepped: UInt64, _ plain: UInt64) -> Bool {
        differing(stepped).nonzeroBitCount < differing(plain).nonzeroBitCount
    }

    /// The bits in which the heads differ in one word, as they are written.
    func difference(_ index: Int) -> UInt64 {
        switch index {
        case 1 where stepsObject: state.stepped.object
        case 3 where stepsPrevious: state.stepped.previous
        default: differences[index]
        }
    }

    /// Counts the bytes of the head that differ, and those that are written once.
    private func countBytes() {
        var (differing, constant) = (0, 0)
        let count = wordCount
        // Behind the end of the head nothing differs.
        if state.headSize % 8 != 0 { differences[count - 1] &= (1 << UInt64(state.headSize % 8 * 8)) - 1 }
        for index in 0..<count {
            let mask = Self.differing(difference(index))
            var word = Self.word(index, first, state.headSize)
            if index < Self.headerWords { word &= kept(index) }
            differing += mask.nonzeroBitCount
            constant += (Self.differing(word) & ~mask).nonzeroBitCount
        }
        (state.differing, state.constant) = (differing, constant)
    }

    /// The header of an event as the block has it.
    func encodeHeader(
        of event: UnsafeRawBufferPointer, _ ordinal: UInt64, into header: UnsafeMutableRawBufferPointer
    ) {
        for index in 0..<Self.headerWords {
            var word = Self.word(index, event, EventHeader.size) & kept(index)
            if index == 1, stepsObject { word &-= objectStep &* ordinal }
            if index == 3, stepsPrevious { word &-= previousStep &* ordinal }
            header.storeBytes(of: word.littleEndian, toByteOffset: index * 8, as: UInt64.self)
        }
    }
}
