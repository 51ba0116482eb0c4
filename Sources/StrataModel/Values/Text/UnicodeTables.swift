import Foundation

/// The properties of each scalar that normalisation and folding need, decoded once from `UnicodeData`.
///
/// A flat table maps each scalar to its record; memory pages of it without entries are never touched.
final class UnicodeTables: Sendable {
    /// Built when the first non-ASCII text is folded, in about a third of a millisecond.
    static let shared = UnicodeTables()

    struct Record {
        var combiningClass: UInt8 = 0
        /// Whether the scalar is a nonspacing mark, which `[d]` removes.
        var isMark = false
        /// Whether the scalar composes with some scalar before it.
        var composesWithPrevious = false
        var decompositionCount: UInt8 = 0
        var foldingCount: UInt8 = 0
        /// Index in `pool` of the full canonical decomposition.
        var decompositionStart: UInt16 = 0
        /// Index in `pool` of the full case folding, not decomposed.
        var foldingStart: UInt16 = 0
    }

    /// Scalars from here on have no properties, except the variation selectors, which are marks.
    static let limit: UInt32 = 0x3_0000
    static let variationSelectors: ClosedRange<UInt32> = 0xE_0100...0xE_01EF

    // Only `init` writes them, before the tables are shared.
    nonisolated(unsafe) private let indexes: UnsafePointer<UInt16>
    nonisolated(unsafe) private let records: UnsafePointer<Record>
    nonisolated(unsafe) let pool: UnsafePointer<UInt32>
    /// Composing pairs as first << 32 | second, ascending; `composites` has the result of each.
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

    /// Copies a table into memory that is never freed: the tables live as long as the process.
    private static func permanent<T>(_ array: [T]) -> UnsafePointer<T> {
        let copy = UnsafeMutablePointer<T>.allocate(capacity: array.count)
        copy.initialize(from: array, count: array.count)
        return UnsafePointer(copy)
    }

    /// The properties of a scalar.
    func record(_ scalar: UInt32) -> Record {
        if scalar < Self.limit { return records[Int(indexes[Int(scalar)])] }
        return Record(isMark: Self.variationSelectors.contains(scalar))
    }

    /// The composite of two neighbouring scalars; nil if they do not compose.
    func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if let syllable = Hangul.composite(first, second) { return syllable }
        let wanted = UInt64(first) << 32 | UInt64(second)
        let index = pairs.partitionPoint { $0 < wanted }
        return index < pairs.count && pairs[index] == wanted ? composites[index] : nil
    }
}

/// Composes and decomposes Hangul syllables by arithmetic (The Unicode Standard, section 3.12).
enum Hangul {
    static let syllables: Range<UInt32> = 0xAC00..<0xD7A4
    private static let leading: UInt32 = 0x1100
    private static let vowel: UInt32 = 0x1161
    private static let trailing: UInt32 = 0x11A7

    /// Whether a scalar is a jamo that can compose with the syllable before it.
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
