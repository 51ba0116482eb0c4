import Foundation

// The text operators of predicates: BEGINSWITH, ENDSWITH, CONTAINS, LIKE and MATCHES.

extension AttributeValue {
    /// A string in the form that is compared, at least normalised; any other value unchanged.
    func folded(_ folding: StringFolding) -> AttributeValue {
        guard case .string(let text) = self else { return self }
        return .string(TextFolding.fold(text, folding))
    }
}

extension ComparisonPredicate {
    /// Whether an operator holds between two texts.
    ///
    /// - Parameter work: the cost is added to it, in units of `PredicateWork`.
    static func textHolds(
        _ left: String, _ operator: Operator, _ right: String, _ folding: StringFolding, work: inout Int
    ) throws(StrataError) -> Bool {
        work += PredicateWork.ofText(left.utf8.count + right.utf8.count)
        switch `operator` {
        case .matches:
            // Folding diacritics does not change the syntax of a pattern; folding case would turn \D into \d.
            let marks = folding.subtracting(.caseInsensitive)
            let matcher = try PatternMatcher.cached(
                TextFolding.fold(right, marks), caseInsensitive: folding.contains(.caseInsensitive))
            return try matcher.matches(TextFolding.fold(left, marks), work: &work)
        case .like:
            return try WildcardPattern(right, folding).matches(text: TextFolding.fold(left, folding), right, &work)
        default: break
        }
        var left = TextFolding.fold(left, folding), right = TextFolding.fold(right, folding)
        switch `operator` {
        case .beginsWith: return left.utf8.starts(with: right.utf8)
        case .endsWith: return left.utf8.reversed().starts(with: right.utf8.reversed())
        // Finds whole scalars only, because the UTF-8 of one scalar never begins inside another's.
        case .contains:
            return left.withUTF8 { text in
                right.withUTF8 { ByteSearch.offset(of: UnsafeRawBufferPointer($0), in: UnsafeRawBufferPointer(text)) }
            } != nil
        default: return false
        }
    }
}

extension WildcardPattern {
    /// Whether a folded text matches as a whole.
    ///
    /// - Parameters:
    ///   - spelling: the pattern as it is written, for the error.
    ///   - work: the cost is added to it.
    /// - Throws: `invalidRequest` if the match takes too many steps.
    package func matches(
        text: String, _ spelling: @autoclosure () -> String, _ work: inout Int
    ) throws(StrataError) -> Bool {
        var text = text
        // `withUTF8` passes on no typed errors.
        let result = text.withUTF8 { bytes in
            Result { () throws(StrataError) in
                try matches(UnsafeRawBufferPointer(bytes), spelling: spelling(), work: &work)
            }
        }
        return try result.get()
    }

    /// - Throws: as for a String.
    package func matches(
        _ text: UnsafeRawBufferPointer, spelling: @autoclosure () -> String, work: inout Int
    ) throws(StrataError) -> Bool {
        var steps = 0
        defer { work += steps / PredicateWork.comparisons }
        do throws(Exhausted) {
            return try matches(text, steps: &steps)
        } catch {
            throw StrataError(
                .invalidRequest,
                "The pattern \(spelling()) takes more than \(error.steps) steps on a text of \(CountText.of(text.count, "byte")).",
                context: .init(predicate: spelling()))
        }
    }
}
