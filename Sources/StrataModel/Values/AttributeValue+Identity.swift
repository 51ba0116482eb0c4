import Foundation

extension AttributeValue {
    /// Whether two values are stored as the same bytes, so that replacing one by the other is no change.
    ///
    /// `==` does not answer that: it treats canonically equivalent strings as equal, and 0.0 and -0.0, and a NaN as
    /// different from itself.
    package func isIdentical(to other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.url(let left), .url(let right)):
            left.absoluteString.utf8.elementsEqual(right.absoluteString.utf8)
        case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.decimal(let left), .decimal(let right)): left == right || left.isNaN && right.isNaN
        case (.composite(let left), .composite(let right)):
            left.count == right.count
                && left.allSatisfy { name, value in right[name].map { value.isIdentical(to: $0) } ?? false }
        default: self == other
        }
    }
}
