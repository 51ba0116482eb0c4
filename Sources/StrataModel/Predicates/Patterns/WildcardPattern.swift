/// The pattern of a `LIKE`: `?` matches one scalar, `*` any number; `\` escapes the next character.
///
/// The stars cut it into segments. The first and the last must match at the ends of the text, each of the others at the
/// first place behind the one before, so nothing is tried twice. Segments without `?` are found in linear time.
package struct WildcardPattern: Sendable {
    /// The text between two stars.
    private struct Segment {
        /// The number of `?` before the first byte. A segment without bytes has no others.
        var leading = 0
        /// The bytes, with `nil` for each `?` between them.
        var signs: [UInt8?] = []
        /// The number of `?` behind the last byte.
        var trailing = 0
        /// The bytes if there is no `?` between them.
        var literal: [UInt8]?
    }

    private let segments: [Segment]

    /// - Parameter folding: applied to the characters that are not wildcards.
    package init(_ pattern: String, _ folding: StringFolding) {
        var segments = [Segment()]
        var literal = ""
        func flush() {
            guard !literal.isEmpty else { return }
            let last = segments.count - 1
            let waiting = segments[last].trailing
            if segments[last].signs.isEmpty {
                segments[last].leading = waiting
            } else {
                segments[last].signs += [UInt8?](repeating: nil, count: waiting)
            }
            segments[last].trailing = 0
            segments[last].signs += TextFolding.fold(literal, folding).utf8.map { $0 }
            literal = ""
        }
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped:
                flush()
                segments[segments.count - 1].trailing += 1
            case "*" where !isEscaped:
                flush()
                segments.append(Segment())
            default: literal.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { literal += "\\" }
        flush()
        self.segments = segments.map { segment in
            var segment = segment
            let bytes = segment.signs.compactMap(\.self)
            segment.literal = bytes.count == segment.signs.count ? bytes : nil
            return segment
        }
    }

    /// The folded text with which every match begins.
    package var prefix: [UInt8] {
        guard segments[0].leading == 0 else { return [] }
        return segments[0].signs.prefix { $0 != nil }.compactMap(\.self)
    }

    /// The pattern needs more steps than are allowed.
    package struct Exhausted: Error {
        package let steps: Int
    }

    /// Whether a folded text matches as a whole.
    ///
    /// - Parameter steps: gets the number of bytes that were compared, at most, added.
    /// - Throws: `Exhausted` beyond `PatternMatcher.Limits.steps` comparisons of segments with `?` between bytes.
    /// - Complexity: O(length of text + length of pattern); for segments with `?` between bytes the product of both.
    package func matches(_ text: UnsafeRawBufferPointer, steps: inout Int) throws(Exhausted) -> Bool {
        let limit = steps + PatternMatcher.Limits.steps
        guard var offset = end(of: segments[0], in: text, at: 0, &steps) else { return false }
        if segments.count == 1 { return offset == text.count }
        for segment in segments[1..<(segments.count - 1)] {
            guard let next = try find(segment, in: text, from: offset, &steps, limit) else { return false }
            offset = next
        }
        steps += segments[segments.count - 1].signs.count
        guard let start = start(of: segments[segments.count - 1], in: text) else { return false }
        return start >= offset
    }

    // MARK: Segments

    /// The end of a match that begins at an offset; nil if there is none.
    private func end(
        of segment: Segment, in text: UnsafeRawBufferPointer, at start: Int, _ steps: inout Int
    ) -> Int? {
        guard var offset = Self.skip(segment.leading, in: text, from: start) else { return nil }
        for sign in segment.signs {
            steps += 1
            guard offset < text.count else { return nil }
            if let sign {
                guard text[offset] == sign else { return nil }
                offset += 1
            } else {
                offset = Self.endOfScalar(text, offset)
            }
        }
        return Self.skip(segment.trailing, in: text, from: offset)
    }

    /// The start of a match that ends with the text; nil if there is none.
    private func start(of segment: Segment, in text: UnsafeRawBufferPointer) -> Int? {
        guard var offset = Self.skip(backwards: segment.trailing, in: text, from: text.count) else { return nil }
        for sign in segment.signs.reversed() {
            guard offset > 0 else { return nil }
            if let sign {
                guard text[offset - 1] == sign else { return nil }
                offset -= 1
            } else {
                offset = Self.startOfScalar(text, offset)
            }
        }
        return Self.skip(backwards: segment.leading, in: text, from: offset)
    }

    /// The end of the first match from an offset; nil if there is none.
    private func find(
        _ segment: Segment, in text: UnsafeRawBufferPointer, from start: Int, _ steps: inout Int, _ limit: Int
    ) throws(Exhausted) -> Int? {
        guard var offset = Self.skip(segment.leading, in: text, from: start) else { return nil }
        if let literal = segment.literal {
            let rest = UnsafeRawBufferPointer(rebasing: text[offset...])
            guard let found = literal.withUnsafeBytes({ ByteSearch.offset(of: $0, in: rest, comparisons: &steps) })
            else { return nil }
            return Self.skip(segment.trailing, in: text, from: offset + found + literal.count)
        }
        let rest = Segment(signs: segment.signs, trailing: segment.trailing)
        while offset < text.count {
            if let end = end(of: rest, in: text, at: offset, &steps) { return end }
            if steps > limit { throw Exhausted(steps: PatternMatcher.Limits.steps) }
            offset = Self.endOfScalar(text, offset)
        }
        return nil
    }

    // MARK: Scalars

    private static func skip(_ count: Int, in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        for _ in 0..<count {
            guard offset < text.count else { return nil }
            offset = endOfScalar(text, offset)
        }
        return offset
    }

    private static func skip(backwards count: Int, in text: UnsafeRawBufferPointer, from end: Int) -> Int? {
        var offset = end
        for _ in 0..<count {
            guard offset > 0 else { return nil }
            offset = startOfScalar(text, offset)
        }
        return offset
    }

    private static func endOfScalar(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var offset = start + 1
        while offset < text.count, text[offset] & 0xC0 == 0x80 { offset += 1 }
        return offset
    }

    private static func startOfScalar(_ text: UnsafeRawBufferPointer, _ end: Int) -> Int {
        var offset = end - 1
        while offset > 0, text[offset] & 0xC0 == 0x80 { offset -= 1 }
        return offset
    }
}
