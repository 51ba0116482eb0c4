import LMDB
import StrataModel

// Conditions that compare the bytes of a value with constants: membership, ranges, searches in text, patterns.

/// The slot of a value in a row, and the form in which its bytes are compared.
struct BytesSource: Sendable {
    let slot: Int
    /// The normalisation and folding of text; nil for values that are compared as bytes (UUID, data, URL).
    let folding: StringFolding?

    var cost: ConditionCost { folding == nil ? .scalar : .text }

    /// Whether the bytes of a row meet a test; those of nil meet none.
    @inline(__always)
    func holds(
        _ row: RowReader, _ evaluation: Evaluation, _ test: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        if row.isNull(slot) { return false }
        let entry = row.entry(slot)
        if entry.kind == .uuid {
            return try test(UnsafeRawBufferPointer(start: row.base + Int(entry.offset), count: 16))
        }
        guard let bytes = try row.bytes(slot) else { return false }
        if entry.kind == .encrypted {
            guard let blind = EncryptedValue.blind(of: bytes) else {
                throw CorruptRecord("encrypted value cut short", at: Int(entry.offset))
            }
            return try test(blind)
        }
        guard let folding else { return try test(bytes) }
        return try evaluation.withForm(of: bytes, folding, test)
    }
}

/// Whether the bytes equal one of some constants, or none.
final class BytesMembershipCondition: RowCondition {
    private let source: BytesSource
    /// Sorted by bytes.
    private let members: [[UInt8]]
    private let isMember: Bool

    init(_ source: BytesSource, _ members: [[UInt8]], isMember: Bool) {
        self.source = source
        self.members = members.sorted { $0.lexicographicallyPrecedes($1) }
        self.isMember = isMember
    }

    var cost: ConditionCost { source.cost }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try source.holds(row, evaluation) { contains($0) == isMember }
    }

    private func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if members.count == 1 { return members[0].isEqual(to: bytes) }
        let index = members.partitionPoint { member in member.withUnsafeBytes { $0.compare(with: bytes) < 0 } }
        return index < members.count && members[index].isEqual(to: bytes)
    }
}

/// Whether the bytes are between bounds; for text this is the order of its scalars.
final class BytesRangeCondition: RowCondition {
    /// One end of a range.
    struct Bound: Sendable {
        let bytes: [UInt8]
        let isIncluded: Bool
    }

    private let source: BytesSource
    private let lower: Bound?
    private let upper: Bound?

    init(_ source: BytesSource, lower: Bound?, upper: Bound?) {
        self.source = source
        self.lower = lower
        self.upper = upper
    }

    var cost: ConditionCost { source.cost }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try source.holds(row, evaluation) { bytes in
            if let lower {
                let order = lower.bytes.withUnsafeBytes { bytes.compare(with: $0) }
                if order < 0 || order == 0 && !lower.isIncluded { return false }
            }
            if let upper {
                let order = upper.bytes.withUnsafeBytes { bytes.compare(with: $0) }
                if order > 0 || order == 0 && !upper.isIncluded { return false }
            }
            return true
        }
    }
}

/// Whether the text begins with, ends with or contains a constant.
final class TextSearchCondition: RowCondition {
    /// The place of the constant in the text.
    enum Anchor: Sendable { case start, end, anywhere }

    private let source: BytesSource
    private let part: [UInt8]
    private let anchor: Anchor
    /// The search for ASCII text that ignores case.
    private let caseless: CaselessSearch?

    /// - Parameter part: folded as the source is.
    init(_ source: BytesSource, _ part: [UInt8], _ anchor: Anchor) {
        self.source = source
        self.part = part
        self.anchor = anchor
        let isCaseless = anchor == .anywhere && source.folding?.contains(.caseInsensitive) == true
        caseless = isCaseless ? CaselessSearch(part) : nil
    }

    var cost: ConditionCost { .text }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        if let caseless {
            guard let bytes = try row.bytes(source.slot) else { return false }
            try evaluation.spend(onText: bytes.count)
            if bytes.isASCII, let isFound = caseless.isFound(in: bytes) { return isFound }
        }
        return try source.holds(row, evaluation) { bytes in
            try evaluation.spend(onText: bytes.count)
            return part.withUnsafeBytes { part in
                switch anchor {
                case .start: bytes.hasPrefix(part)
                case .end: bytes.hasSuffix(part)
                case .anywhere: bytes.contains(part)
                }
            }
        }
    }
}

/// Whether the whole text matches a pattern: one with wildcards (`LIKE`), or a regular expression (`MATCHES`).
final class PatternCondition: RowCondition {
    private let source: BytesSource
    /// Adds its cost to the work.
    private let matches: @Sendable (_ text: UnsafeRawBufferPointer, _ work: inout Int) throws -> Bool

    /// - Parameter like: the pattern as it is written.
    init(_ source: BytesSource, like spelling: String) {
        self.source = source
        let pattern = WildcardPattern(spelling, source.folding ?? [])
        matches = { try pattern.matches($0, spelling: spelling, work: &$1) }
    }

    init(_ source: BytesSource, _ matcher: PatternMatcher) {
        self.source = source
        matches = { try matcher.matches(String(decoding: $0, as: UTF8.self), work: &$1) }
    }

    var cost: ConditionCost { .value }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try source.holds(row, evaluation) { bytes in
            var work = PredicateWork.ofText(bytes.count)
            let holds = try matches(bytes, &work)
            try evaluation.spend(work)
            return holds
        }
    }
}
