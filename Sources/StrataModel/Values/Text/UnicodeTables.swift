import Foundation

/// What normalisation and folding need to know of each scalar, read once from `UnicodeData`.
///
/// A flat table leads from the scalar to its record; pages of it that hold nothing are never touched.
final class UnicodeTables: Sendable {
    /// Built when the first text beyond ASCII is folded, in about a third of a millisecond.
    static let shared = UnicodeTables()

    struct Record {
        var combiningClass: UInt8 = 0
        /// A nonspacing mark: what `[d]` drops.
        var isMark = false
        /// Whether some scalar before it may take it in when composing.
        var composesWithPrevious = false
        var decompositionCount: UInt8 = 0
        var foldingCount: UInt8 = 0
        /// In `pool`; the full canonical decomposition in NFD.
        var decompositionStart: UInt16 = 0
        /// In `pool`; the full case folding, not decomposed.
        var foldingStart: UInt16 = 0
    }

    /// Scalars from here on have no properties, but for the variation selectors, which are marks.
    static let limit: UInt32 = 0x3_0000
    static let variationSelectors: ClosedRange<UInt32> = 0xE_0100...0xE_01EF

    // Written only by `init`, before anybody else can see them.
    nonisolated(unsafe) private let indexes: UnsafePointer<UInt16>
    nonisolated(unsafe) private let records: UnsafePointer<Record>
    nonisolated(unsafe) let pool: UnsafePointer<UInt32>
    /// Pairs that compose, first << 32 | second, ascending; and what each makes.
    private let pairs: [UInt64]
    private let composites: [UInt32]

    private init() {
        let (table, pairs) = UnicodeTableBuilder.build()
        self.pairs = pairs.map(\.0)
        composites = pairs.map(\.1)
        indexes = Self.permanent(table.indexes)
        records = Self.permanent(table.records)
        pool = Self.permanent(table.pool)
    }

    /// The tables are made once and live as long as the process.
    private static func permanent<T>(_ array: [T]) -> UnsafePointer<T> {
        let copy = UnsafeMutablePointer<T>.allocate(capacity: array.count)
        copy.initialize(from: array, count: array.count)
        return UnsafePointer(copy)
    }

    /// What is known of a scalar.
    func record(_ scalar: UInt32) -> Record {
        if scalar < Self.limit { return records[Int(indexes[Int(scalar)])] }
        return Record(isMark: Self.variationSelectors.contains(scalar))
    }

    /// The scalar that two neighbours make, if they compose.
    func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if let syllable = Hangul.composite(first, second) { return syllable }
        let wanted = UInt64(first) << 32 | UInt64(second)
        var low = 0
        var high = pairs.count
        while low < high {
            let middle = (low + high) / 2
            if pairs[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low < pairs.count && pairs[low] == wanted ? composites[low] : nil
    }
}

/// Hangul syllables by arithmetic: The Unicode Standard, section 3.12.
enum Hangul {
    static let syllables: Range<UInt32> = 0xAC00..<0xD7A4
    private static let leading: UInt32 = 0x1100
    private static let vowel: UInt32 = 0x1161
    private static let trailing: UInt32 = 0x11A7

    /// Whether a jamo may join a syllable before it.
    static func composesWithPrevious(_ scalar: UInt32) -> Bool {
        vowel..<(vowel + 21) ~= scalar || (trailing + 1)..<(trailing + 28) ~= scalar
    }

    static func decompose(_ syllable: UInt32, _ emit: (UInt32) -> Void) {
        let index = syllable - syllables.lowerBound
        emit(leading + index / 588)
        emit(vowel + index % 588 / 28)
        if index % 28 != 0 { emit(trailing + index % 28) }
    }

    static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if leading..<(leading + 19) ~= first, vowel..<(vowel + 21) ~= second {
            return syllables.lowerBound + (first - leading) * 588 + (second - vowel) * 28
        }
        let isOpen = syllables.contains(first) && (first - syllables.lowerBound) % 28 == 0
        return isOpen && (trailing + 1)..<(trailing + 28) ~= second ? first + second - trailing : nil
    }
}
