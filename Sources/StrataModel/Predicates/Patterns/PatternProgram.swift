/// A pattern as a program for the automaton. A state is the index of an instruction; the next state is the one after
/// it.
struct PatternProgram: Sendable {
    enum Instruction: Sendable {
        case scalar(Unicode.Scalar)
        /// A scalar in any case; its folded form.
        case folded(Unicode.Scalar)
        case any
        case anyInLine
        /// A member of the class with this index.
        case member(Int)
        /// Continues at both instructions.
        case split(Int, Int)
        case jump(Int)
        case assert(PatternAssertion)
        /// The lookaround with this index.
        case look(Int)
        case match
    }

    /// The program of a lookaround.
    struct Look: Sendable {
        let instructions: [Instruction]
        let isBehind: Bool
        let isNegated: Bool
    }

    var instructions: [Instruction] = []
    var classes: [PatternClass] = []
    /// The lookarounds, inner ones before outer ones.
    var looks: [Look] = []
}

/// A condition on the position in the text, such as the start of a line.
enum PatternAssertion: Sendable {
    case start, end, lineStart, lineEnd
    /// The end, or before a line end that is the last scalar.
    case endOrLastLineEnd
    case wordEdge, noWordEdge

    /// Whether the condition holds between two scalars.
    ///
    /// - Parameter isLast: whether `next` is the last scalar of the text.
    func holds(between previous: Unicode.Scalar?, and next: Unicode.Scalar?, isLast: Bool) -> Bool {
        switch self {
        case .start: previous == nil
        case .end: next == nil
        case .lineStart: previous.map(PatternClass.isLineEnd) ?? true
        case .lineEnd: next.map(PatternClass.isLineEnd) ?? true
        case .endOrLastLineEnd: next.map { isLast && PatternClass.isLineEnd($0) } ?? true
        case .wordEdge: isWord(previous) != isWord(next)
        case .noWordEdge: isWord(previous) == isWord(next)
        }
    }

    private func isWord(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map(PatternClass.Kind.word.contains) ?? false
    }
}

/// Compiles the tree of a pattern into a program.
struct PatternCompiler {
    private var program = PatternProgram()
    /// Counts calls as well as instructions, because the repetition of an empty node makes no instructions.
    private var steps = 0

    mutating func compile(_ node: PatternNode) throws(PatternError) -> PatternProgram {
        try emit(node)
        program.instructions.append(.match)
        return program
    }

    private mutating func emit(_ node: PatternNode) throws(PatternError) {
        steps += 1
        guard steps <= 2 * PatternMatcher.Limits.states, count <= PatternMatcher.Limits.states else {
            throw PatternError("needs more than \(PatternMatcher.Limits.states) states.")
        }
        switch node {
        case .empty: break
        case .scalar(let scalar, ignoresCase: false): program.instructions.append(.scalar(scalar))
        case .scalar(let scalar, ignoresCase: true):
            program.instructions.append(.folded(PatternClass.fold(scalar)))
        case .any(let acrossLines): program.instructions.append(acrossLines ? .any : .anyInLine)
        case .member(let members):
            program.instructions.append(.member(program.classes.count))
            program.classes.append(members)
        case .assertion(let assertion): program.instructions.append(.assert(assertion))
        case .look(let node, let isBehind, let isNegated): try emitLook(node, isBehind, isNegated)
        case .sequence(let nodes): for node in nodes { try emit(node) }
        case .alternatives(let nodes): try emitAlternatives(nodes)
        case .repeated(let node, let least, let most): try emitRepeated(node, least, most)
        }
    }

    private var count: Int { program.instructions.count }

    /// Compiles a lookaround into its own program. A lookahead is reversed, because it runs from the end of the text.
    private mutating func emitLook(_ node: PatternNode, _ isBehind: Bool, _ isNegated: Bool) throws(PatternError) {
        let outer = program.instructions
        program.instructions = []
        try emit(isBehind ? node : node.reversed)
        program.instructions.append(.match)
        guard program.looks.count < PatternMatcher.Limits.looks else {
            throw PatternError("has more than \(PatternMatcher.Limits.looks) lookarounds.")
        }
        program.looks.append(
            PatternProgram.Look(instructions: program.instructions, isBehind: isBehind, isNegated: isNegated))
        program.instructions = outer
        program.instructions.append(.look(program.looks.count - 1))
    }

    private mutating func emitAlternatives(_ nodes: [PatternNode]) throws(PatternError) {
        var jumps: [Int] = []
        for (index, node) in nodes.enumerated() {
            guard index < nodes.count - 1 else {
                try emit(node)
                break
            }
            let split = reserve()
            try emit(node)
            jumps.append(reserve())
            program.instructions[split] = .split(split + 1, count)
        }
        for jump in jumps { program.instructions[jump] = .jump(count) }
    }

    private mutating func emitRepeated(_ node: PatternNode, _ least: Int, _ most: Int?) throws(PatternError) {
        for _ in 0..<least { try emit(node) }
        guard let most else {
            let split = reserve()
            try emit(node)
            program.instructions.append(.jump(split))
            program.instructions[split] = .split(split + 1, count)
            return
        }
        var splits: [Int] = []
        for _ in 0..<max(0, most - least) {
            splits.append(reserve())
            try emit(node)
        }
        for split in splits { program.instructions[split] = .split(split + 1, count) }
    }

    /// Adds an instruction that is set later, when its targets are known.
    private mutating func reserve() -> Int {
        program.instructions.append(.match)
        return count - 1
    }
}
