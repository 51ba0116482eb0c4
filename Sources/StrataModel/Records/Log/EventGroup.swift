/// Events of a block that have much in common, while the block is made.
struct EventGroup {
    let key: (UInt64, UInt64)
    let first: UnsafeRawBufferPointer
    let isVerbatim: Bool
    let saltsFollow: Bool
    private(set) var count = 1
    /// The bytes that all of the events have.
    private(set) var headSize: Int
    private var largest: Int
    private var sizeSum: Int
    private(set) var objectStep: UInt64 = 0
    private(set) var previousStep: UInt64 = 0
    /// The bits in which the heads differ, word by word.
    private var differences: [UInt64]
    /// The same of object id and previous event, less the steps.
    private var stepped: (object: UInt64, previous: UInt64) = (0, 0)
    /// Bytes that differ, and bytes that neither differ nor are 0.
    private var differing = 0
    private var constant = 0

    init(_ key: (UInt64, UInt64), _ first: UnsafeRawBufferPointer, isVerbatim: Bool, saltsFollow: Bool) {
        self.key = key
        self.first = first
        self.isVerbatim = isVerbatim
        self.saltsFollow = saltsFollow
        headSize = first.count
        largest = first.count
        sizeSum = first.count
        differences = [UInt64](repeating: 0, count: (first.count + 7) / 8)
        countBytes()
    }

    /// The width of the lengths of the rest.
    var restWidth: Int { largest == headSize ? 0 : largest - headSize < 256 ? 1 : 2 }

    /// The bytes that the group takes with its events.
    var size: Int {
        EventBlock.groupHeaderSize + (headSize + 7) / 8 + (headSize - differing + 7) / 8 + constant
            + count * (restWidth + differing - headSize) + sizeSum
    }

    /// Whether object ids, or numbers of previous events, are written less the steps.
    var stepsObject: Bool { Self.isShorter(stepped.object, differences[1]) }
    var stepsPrevious: Bool { Self.isShorter(stepped.previous, differences[3]) }

    /// What `add` changes.
    struct State {
        fileprivate var count = 0
        fileprivate var headSize = 0
        fileprivate var largest = 0
        fileprivate var sizeSum = 0
        fileprivate var steps: (UInt64, UInt64) = (0, 0)
        fileprivate var stepped: (object: UInt64, previous: UInt64) = (0, 0)
        fileprivate var counted = (0, 0)
        fileprivate var differences: [UInt64] = []
    }

    /// Keeps the state for `restore`.
    func save(to state: inout State) {
        state.count = count
        state.headSize = headSize
        state.largest = largest
        state.sizeSum = sizeSum
        state.steps = (objectStep, previousStep)
        state.stepped = stepped
        state.counted = (differing, constant)
        state.differences.removeAll(keepingCapacity: true)
        state.differences.append(contentsOf: differences)
    }

    mutating func restore(_ state: State) {
        (count, headSize, largest, sizeSum) = (state.count, state.headSize, state.largest, state.sizeSum)
        (objectStep, previousStep) = state.steps
        stepped = state.stepped
        (differing, constant) = state.counted
        differences.removeAll(keepingCapacity: true)
        differences.append(contentsOf: state.differences)
    }

    // MARK: Adding

    mutating func add(_ event: UnsafeRawBufferPointer) {
        var isChanged = false
        if event.count < headSize {
            headSize = event.count
            differences.removeSubrange(((event.count + 7) / 8)...)
            isChanged = true
        }
        let (object, previous) = (Self.word(1, event, headSize), Self.word(3, event, headSize))
        let (firstObject, firstPrevious) = (Self.word(1, first, headSize), Self.word(3, first, headSize))
        if count == 1 {
            objectStep = object &- firstObject < 256 ? object &- firstObject : 0
            previousStep = previous &- firstPrevious < 256 ? previous &- firstPrevious : 0
        }
        let ordinal = UInt64(count)
        count += 1
        largest = max(largest, event.count)
        sizeSum += event.count
        isChanged = Self.widen(&stepped.object, firstObject ^ (object &- objectStep &* ordinal)) || isChanged
        isChanged = Self.widen(&stepped.previous, firstPrevious ^ (previous &- previousStep &* ordinal)) || isChanged
        for index in differences.indices {
            var difference = Self.word(index, first, headSize) ^ Self.word(index, event, headSize)
            if index < Self.headerWords { difference &= kept(index) }
            if difference != 0 { isChanged = Self.widen(&differences[index], difference) || isChanged }
        }
        if isChanged { countBytes() }
    }

    /// - Returns: whether other bytes differ now.
    @inline(__always)
    private static func widen(_ known: inout UInt64, _ difference: UInt64) -> Bool {
        let before = differing(known)
        known |= difference
        return differing(known) != before
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
        case 1 where stepsObject: stepped.object
        case 3 where stepsPrevious: stepped.previous
        default: differences[index]
        }
    }

    /// Counts the bytes of the head that differ, and those that are written once.
    private mutating func countBytes() {
        (differing, constant) = (0, 0)
        // Behind the end of the head both are 0.
        let last = headSize % 8 == 0 ? UInt64.max : (1 << UInt64(headSize % 8 * 8)) - 1
        differences[differences.count - 1] &= last
        for index in differences.indices {
            let differing = Self.differing(difference(index))
            var word = Self.word(index, first, headSize)
            if index < Self.headerWords { word &= kept(index) }
            self.differing += differing.nonzeroBitCount
            constant += (Self.differing(word) & ~differing).nonzeroBitCount
        }
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
