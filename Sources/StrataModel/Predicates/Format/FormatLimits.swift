/// How large a format string may be. Trees are bounded by `ModelLimits.predicateDepth` besides.
package enum FormatLimits {
    package static let lengthInBytes = 1 << 20
    /// Parentheses, operators and calls within one another.
    package static let nesting = 256
    /// Members of a list given as an argument.
    package static let listedValues = 1_000_000
}
