import StrataXcode

/// Unpacks a deflate stream without header, as RFC 1951 describes it, up to a size.
///
/// The model cache of Core Data is such a stream of some kilobytes, so this is written to be short, and checks every
/// length and distance. It follows the decoder that the RFC describes: codes by their lengths, bit by bit.
struct Inflate {
    private let input: [UInt8]
    private var position = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private let limit: Int
    private var output: [UInt8] = []

    /// - Throws: `ArchiveError` for a stream that is damaged, cut short, or larger than `limit`.
    static func unpack(_ input: [UInt8], limit: Int) throws(ArchiveError) -> [UInt8] {
        var inflate = Inflate(input, limit)
        try inflate.run()
        return inflate.output
    }

    private init(_ input: [UInt8], _ limit: Int) {
        self.input = input
        self.limit = limit
    }

    private static let damaged = ArchiveError("it is packed in a way that cannot be unpacked")

    private mutating func run() throws(ArchiveError) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try copyStored()
            case 1: try copyPacked(Self.fixedLengths, Self.fixedDistances)
            case 2:
                let (lengths, distances) = try readCodes()
                try copyPacked(lengths, distances)
            default: throw Self.damaged
            }
        }
    }

    /// The next bits, the lowest first.
    private mutating func take(_ count: Int) throws(ArchiveError) -> Int {
        while bitCount < count {
            guard position < input.count else { throw Self.damaged }
            bits |= UInt32(input[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        let value = bits & ((1 << UInt32(count)) - 1)
        bits >>= UInt32(count)
        bitCount -= count
        return Int(value)
    }

    private func checkRoom(_ count: Int) throws(ArchiveError) {
        guard output.count <= limit - count else { throw ArchiveError("it is larger than \(limit) bytes") }
    }

    private mutating func copyStored() throws(ArchiveError) {
        (bits, bitCount) = (0, 0)
        guard position + 4 <= input.count else { throw Self.damaged }
        let count = Int(input[position]) | Int(input[position + 1]) << 8
        let complement = Int(input[position + 2]) | Int(input[position + 3]) << 8
        position += 4
        guard count == ~complement & 0xFFFF, position + count <= input.count else { throw Self.damaged }
        try checkRoom(count)
        output += input[position..<position + count]
        position += count
    }

    /// The codes of a kind by their lengths: how many have each length, and the symbols in the order of their codes.
    private struct Codes {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(lengths: ArraySlice<UInt8>) {
            for length in lengths { counts[Int(length)] += 1 }
            for length in 1...15 {
                symbols += lengths.indices.lazy.filter { lengths[$0] == length }.map { $0 - lengths.startIndex }
            }
            counts[0] = 0
        }

        /// Whether no code begins another. Fewer codes than there could be are allowed.
        var isSound: Bool {
            var left = 1
            for count in counts.dropFirst() {
                left = left << 1 - count
                if left < 0 { return false }
            }
            return true
        }
    }

    private static let fixedLengths = Codes(
        lengths: ([UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112)
            + [UInt8](repeating: 7, count: 24) + [UInt8](repeating: 8, count: 8))[...])
    private static let fixedDistances = Codes(lengths: [UInt8](repeating: 5, count: 30)[...])

    private mutating func symbol(_ codes: Codes) throws(ArchiveError) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            code |= try take(1)
            let count = codes.counts[length]
            if code - count < first { return codes.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Self.damaged
    }

    /// The order in which the lengths of the codes of lengths are written.
    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func readCodes() throws(ArchiveError) -> (lengths: Codes, distances: Codes) {
        let lengthCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let codeCount = try take(4) + 4
        guard lengthCount <= 286, distanceCount <= 30 else { throw Self.damaged }
        var lengths = [UInt8](repeating: 0, count: 19)
        for index in 0..<codeCount { lengths[Self.lengthOrder[index]] = UInt8(try take(3)) }
        let codes = Codes(lengths: lengths[...])
        guard codes.isSound else { throw Self.damaged }
        lengths = []
        while lengths.count < lengthCount + distanceCount {
            switch try symbol(codes) {
            case let length where length < 16: lengths.append(UInt8(length))
            case 16:
                guard let last = lengths.last else { throw Self.damaged }
                lengths += [UInt8](repeating: last, count: try take(2) + 3)
            case 17: lengths += [UInt8](repeating: 0, count: try take(3) + 3)
            default: lengths += [UInt8](repeating: 0, count: try take(7) + 11)
            }
        }
        guard lengths.count == lengthCount + distanceCount, lengths[256] != 0 else { throw Self.damaged }
        let result = (Codes(lengths: lengths[..<lengthCount]), Codes(lengths: lengths[lengthCount...]))
        guard result.0.isSound, result.1.isSound else { throw Self.damaged }
        return result
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385, 24577,
    ]

    private mutating func copyPacked(_ lengths: Codes, _ distances: Codes) throws(ArchiveError) {
        while true {
            let code = try symbol(lengths)
            if code == 256 { return }
            guard code > 256 else {
                try checkRoom(1)
                output.append(UInt8(code))
                continue
            }
            guard code - 257 < Self.lengthBases.count else { throw Self.damaged }
            let length = Self.lengthBases[code - 257] + (try take(Self.lengthBits[code - 257]))
            let far = try symbol(distances)
            guard far < Self.distanceBases.count else { throw Self.damaged }
            let distance = Self.distanceBases[far] + (try take(max(0, far / 2 - 1)))
            guard distance <= output.count else { throw Self.damaged }
            try checkRoom(length)
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }
}
