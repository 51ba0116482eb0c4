/// Writes numbers of things.
package enum CountText {
    /// The number with the noun: `1 object`, `2 objects`.
    package static func of(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// The numbers that are not 0, with their nouns: `2 new, 1 deleted`; empty if all are 0.
    package static func of(_ counts: [(Int, String)]) -> String {
        counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
