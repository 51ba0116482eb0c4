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
    /// Names and operators of a key path.
    package static let pathSteps = 64

    /// - Throws: `invalidRequest` for a key path with too many steps.
    package static func check(steps count: Int, of path: String) throws(StrataError) {
        guard count > pathSteps else { return }
        let start = String(path.prefix(60))
        throw StrataError(
            .invalidRequest, "The key path \(start)… has \(count) steps; \(pathSteps) is the maximum.",
            context: .init(key: start))
    }
}
