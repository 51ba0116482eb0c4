/// Decodes `UnicodeData` into the tables of `UnicodeTables`.
struct UnicodeTableBuilder {
    private(set) var indexes = [UInt16](repeating: 0, count: Int(UnicodeTables.limit))
    private(set) var records = [UnicodeTables.Record()]
    private(set) var pool: [UInt32] = []
    private var numbers = GeneratedNumbers(UnicodeData.base64)

    private init() {}

    /// The tables, and the composing pairs in ascending order with their composites.
    static func build() -> (UnicodeTableBuilder, [(UInt64, UInt32)]) {
        var builder = UnicodeTableBuilder()
        builder.readCombiningClasses()
        builder.readMarks()
        let pairs = builder.readDecompositions()
        builder.readFoldings()
        return (builder, pairs)
    }

    private mutating func number() -> Int { numbers.next() }

    private mutating func scalars(_ count: Int, near scalar: Int) -> [UInt32] {
        (0..<count).map { _ in
            let zigzag = number()
            return UInt32(scalar + (zigzag >> 1 ^ -(zigzag & 1)))
        }
    }

    private mutating func change(_ scalar: UInt32, _ body: (inout UnicodeTables.Record) -> Void) {
        guard scalar < UnicodeTables.limit else { return }
        if indexes[Int(scalar)] == 0 {
            indexes[Int(scalar)] = UInt16(records.count)
            records.append(UnicodeTables.Record())
        }
        body(&records[Int(indexes[Int(scalar)])])
    }

    private mutating func readCombiningClasses() {
        var first = 0
        for _ in 0..<number() {
            first += number()
            let length = number() + 1
            let value = UInt8(number())
            for scalar in first..<(first + length) { change(UInt32(scalar)) { $0.combiningClass = value } }
            first += length
        }
    }

    private mutating func readMarks() {
        var first = 0
        for _ in 0..<number() {
            first += number()
            let length = number() + 1
            for scalar in first..<(first + length) { change(UInt32(scalar)) { $0.isMark = true } }
            first += length
        }
    }

    private mutating func readDecompositions() -> [(UInt64, UInt32)] {
        var steps: [UInt32: [UInt32]] = [:]
        var pairs: [(UInt64, UInt32)] = []
        var scalar = 0
        for _ in 0..<number() {
            scalar += number()
            let count = number()
            let parts = scalars(count & 3, near: scalar)
            steps[UInt32(scalar)] = parts
            if count & 4 != 0, parts.count == 2 {
                pairs.append((UInt64(parts[0]) << 32 | UInt64(parts[1]), UInt32(scalar)))
                change(parts[1]) { $0.composesWithPrevious = true }
            }
        }
        for scalar in steps.keys.sorted() {
            let start = UInt16(pool.count)
            expand(scalar, steps)
            let count = UInt8(pool.count - Int(start))
            change(scalar) { ($0.decompositionStart, $0.decompositionCount) = (start, count) }
        }
        return pairs.sorted { $0.0 < $1.0 }
    }

    private mutating func expand(_ scalar: UInt32, _ steps: [UInt32: [UInt32]]) {
        guard let parts = steps[scalar] else { return pool.append(scalar) }
        for part in parts { expand(part, steps) }
    }

    private mutating func readFoldings() {
        var scalar = 0
        for _ in 0..<number() {
            scalar += number()
            let parts = scalars(number(), near: scalar)
            let start = UInt16(pool.count)
            pool += parts
            change(UInt32(scalar)) { ($0.foldingStart, $0.foldingCount) = (start, UInt8(parts.count)) }
        }
    }
}
