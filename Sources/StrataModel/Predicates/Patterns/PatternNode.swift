/// A regular expression as a tree.
indirect enum PatternNode {
    case empty
    case scalar(Unicode.Scalar, ignoresCase: Bool)
    case any(acrossLines: Bool)
    case member(PatternClass)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// `most` nil: without bound.
    case repeated(PatternNode, least: Int, most: Int?)
    /// Looks ahead, or behind, without moving on.
    case look(PatternNode, isBehind: Bool, isNegated: Bool)

    /// What matches the same texts read from their ends.
    var reversed: PatternNode {
        switch self {
        case .sequence(let nodes): .sequence(nodes.reversed().map(\.reversed))
        case .alternatives(let nodes): .alternatives(nodes.map(\.reversed))
        case .repeated(let node, let least, let most): .repeated(node.reversed, least: least, most: most)
        case .empty, .scalar, .any, .member, .assertion, .look: self
        }
    }
}

/// What is wrong with a pattern, as a sentence that follows "The pattern".
struct PatternError: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}
