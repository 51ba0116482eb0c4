/// The tree of a regular expression.
indirect enum PatternNode {
    case empty
    case scalar(Unicode.Scalar, ignoresCase: Bool)
    case any(acrossLines: Bool)
    case member(PatternClass)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// A repetition; without maximum if `most` is nil.
    case repeated(PatternNode, least: Int, most: Int?)
    /// A lookahead or lookbehind.
    case look(PatternNode, isBehind: Bool, isNegated: Bool)

    /// The node that matches the same texts reversed.
    var reversed: PatternNode {
        switch self {
        case .sequence(let nodes): .sequence(nodes.reversed().map(\.reversed))
        case .alternatives(let nodes): .alternatives(nodes.map(\.reversed))
        case .repeated(let node, let least, let most): .repeated(node.reversed, least: least, most: most)
        case .empty, .scalar, .any, .member, .assertion, .look: self
        }
    }
}

/// The problem with a pattern, as a sentence whose subject is "The pattern".
struct PatternError: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}
