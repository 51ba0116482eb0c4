/// The largest predicates that are accepted, as trees and as format strings.
package enum PredicateLimits {
    /// Levels of a tree, expressions included. The evaluator and the compiler recurse no deeper.
    package static let depth = 128
    /// Bytes of a format string.
    package static let formatLengthInBytes = 1 << 20
    /// Levels of parentheses, operators and calls in a format string.
    package static let formatNesting = 256
    /// Members of a list that is passed as an argument of a format string.
    package static let listedValues = 1_000_000
}
