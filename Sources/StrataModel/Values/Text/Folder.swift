/// Folds non-ASCII text piece by piece. A piece begins at a scalar that cannot combine or swap with anything before
/// it, so each piece folds independently.
struct Folder {
    private let folding: StringFolding
    private let tables = UnicodeTables.shared
    /// The folded forms of common letters; nil while these are computed.
    private let letters: FoldedLetters?
    /// The decomposed piece; in canonical order once it is complete.
    private var piece: [UInt32] = []
    /// The case-folded piece.
    private var folded: [UInt32] = []

    init(_ folding: StringFolding, letters: FoldedLetters?) {
        self.folding = folding
        self.letters = letters
    }

    /// Appends the folded form of the text. It may stop when the writer holds `end` bytes.
    mutating func fold(_ utf8: UnsafeBufferPointer<UInt8>, into writer: inout ByteWriter, end: Int) {
        // A piece of one scalar so far, not yet in `piece`: most pieces have only one.
        var single: UInt32?
        var offset = 0
        while offset < utf8.count {
            let scalar = DecodedScalar(utf8, at: offset)
            offset += scalar.length
            if tables.beginsPiece(scalar.value) {
                flush(single, into: &writer)
                if writer.count >= end { return }
                single = scalar.value
            } else {
                if let first = single { tables.decompose(first, into: &piece) }
                single = nil
                tables.decompose(scalar.value, into: &piece)
            }
        }
        flush(single, into: &writer)
    }

    private mutating func flush(_ single: UInt32?, into writer: inout ByteWriter) {
        guard let single else { return flush(into: &writer) }
        if single < 0x80 {
            let isUpper = single &- 0x41 < 26 && folding.contains(.caseInsensitive)
            writer.append(UInt8(truncatingIfNeeded: isUpper ? single | 0x20 : single))
        } else if let letters, letters.append(single, folding, to: &writer) {
            return
        } else if tables.isInert(single, folding) {
            writer.append(scalar: single)
        } else {
            tables.decompose(single, into: &piece)
            flush(into: &writer)
        }
    }

    private mutating func flush(into writer: inout ByteWriter) {
        if piece.isEmpty { return }
        tables.order(&piece)
        if folding.contains(.diacriticInsensitive) { strip() }
        if folding.contains(.caseInsensitive) {
            foldCase()
            if folding.contains(.diacriticInsensitive) { strip() }
        }
        compose()
        for scalar in piece { writer.append(scalar: scalar) }
        piece.removeAll(keepingCapacity: true)
    }

    private mutating func strip() {
        piece.removeAll { tables.record($0).isMark }
    }

    private mutating func foldCase() {
        folded.removeAll(keepingCapacity: true)
        for scalar in piece {
            let record = tables.record(scalar)
            if record.foldingCount == 0 {
                folded.append(scalar)
            } else {
                for index in 0..<Int(record.foldingCount) {
                    tables.decompose(tables.pool[Int(record.foldingStart) + index], into: &folded)
                }
            }
        }
        swap(&piece, &folded)
        tables.order(&piece)
    }

    /// Canonical composition, in place (The Unicode Standard, section 3.11, D117).
    private mutating func compose() {
        if piece.count < 2 { return }
        var starter: Int?
        var lastClass: UInt8 = 0
        var count = 0
        for index in piece.indices {
            let scalar = piece[index]
            let record = tables.record(scalar)
            let combiningClass = record.combiningClass
            let mayCompose = record.composesWithPrevious || Hangul.composesWithPrevious(scalar)
            if let starter, mayCompose, lastClass == 0 || lastClass < combiningClass,
                let composite = tables.composite(piece[starter], scalar)
            {
                piece[starter] = composite
                continue
            }
            if combiningClass == 0 { starter = count }
            lastClass = combiningClass
            piece[count] = scalar
            count += 1
        }
        piece.removeSubrange(count...)
    }
}

// These are not methods of `Folder`, because calling them there would copy the arrays that they change.
extension UnicodeTables {
    /// Whether the scalar begins a piece: nothing before it can combine with it or be ordered after it, even when the marks
    /// between them are removed.
    func beginsPiece(_ scalar: UInt32) -> Bool {
        if scalar < 0x300 || Hangul.syllables.contains(scalar) { return true }
        if Hangul.composesWithPrevious(scalar) { return false }
        let own = record(scalar)
        let first = own.decompositionCount == 0 ? own : record(pool[Int(own.decompositionStart)])
        return first.combiningClass == 0 && !first.composesWithPrevious && !first.isMark
    }

    /// Whether the scalar alone folds to itself.
    func isInert(_ scalar: UInt32, _ folding: StringFolding) -> Bool {
        if Hangul.syllables.contains(scalar) { return true }
        let record = self.record(scalar)
        return record.decompositionCount == 0
            && (record.foldingCount == 0 || !folding.contains(.caseInsensitive))
            && (!record.isMark || !folding.contains(.diacriticInsensitive))
    }

    /// Appends the full canonical decomposition.
    func decompose(_ scalar: UInt32, into target: inout [UInt32]) {
        if scalar < 0xC0 { return target.append(scalar) }
        if Hangul.syllables.contains(scalar) {
            return Hangul.decompose(scalar) { target.append($0) }
        }
        let record = self.record(scalar)
        if record.decompositionCount == 0 { return target.append(scalar) }
        for index in 0..<Int(record.decompositionCount) {
            target.append(pool[Int(record.decompositionStart) + index])
        }
    }

    /// Canonical ordering: sorts marks by combining class and keeps the order within a class.
    func order(_ scalars: inout [UInt32]) {
        var start = 0
        while start < scalars.count {
            guard record(scalars[start]).combiningClass != 0 else {
                start += 1
                continue
            }
            var end = start + 1
            while end < scalars.count, record(scalars[end]).combiningClass != 0 { end += 1 }
            if end - start > 1 { orderMarks(&scalars, start..<end) }
            start = end
        }
    }

    private func orderMarks(_ scalars: inout [UInt32], _ range: Range<Int>) {
        // Sorting numbers with the index in the low bits is stable, and not quadratic for a run of a million marks.
        var keys = range.map { UInt64(record(scalars[$0]).combiningClass) << 56 | UInt64($0) }
        if zip(keys, keys.dropFirst()).allSatisfy(<) { return }
        keys.sort()
        let ordered = keys.map { scalars[Int($0 & 0x00FF_FFFF_FFFF_FFFF)] }
        scalars.replaceSubrange(range, with: ordered)
    }
}
