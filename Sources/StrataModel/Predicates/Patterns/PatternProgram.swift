/// A pattern as instructions for the automaton; a state is the index of an instruction, the next one follows it.
struct PatternProgram: Sendable {
    enum Instruction: Sendable {
        case scalar(Unicode.Scalar)
        /// One whose case is ignored, already folded.
        case folded(Unicode.Scalar)
        case any
        case anyInLine
        /// A member of the class with this index.
        case member(Int)
        /// Both ways at once.
        case split(Int, Int)
        case jump(Int)
        case assert(PatternAssertion)
        /// The look around with this index.
        case look(Int)
        case match
    }

    /// What stands, or must not, before or behind a place.
    struct Look: Sendable {
        let instructions: [Instruction]
        let isBehind: Bool
        let isNegated: Bool
    }

    var instructions: [Instruction] = []
    var classes: [PatternClass] = []
    /// Inner ones before those around them.
    var looks: [Look] = []
}

/// A place in the text that a pattern can ask for.
enum PatternAssertion: Sendable {
    case start, end, lineStart, lineEnd
    /// The end, or before a line end that is the last scalar.
    case endOrLastLineEnd
    case wordEdge, noWordEdge

    /// `isLast`: whether the following scalar is the last of the text.
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

/// Turns a pattern's tree into a program.
struct PatternCompiler {
    private var program = PatternProgram()
    /// Counts calls too, because repeating what is empty makes no instructions.
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

    /// A program of its own; one that looks ahead is reversed, because it is run from the end of the text.
    private mutating func emitLook(_ node: PatternNode, _ isBehind: Bool, _ isNegated: Bool) throws(PatternError) {
        let outer = program.instructions
        program.instructions = []
        try emit(isBehind ? node : node.reversed)
        program.instructions.append(.match)
        guard program.looks.count < PatternMatcher.Limits.looks else {
            throw PatternError("looks around more than \(PatternMatcher.Limits.looks) times.")
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

    /// Adds an instruction that is filled in when its targets are known.
    private mutating func reserve() -> Int {
        program.instructions.append(.match)
        return count - 1
    }
}
