/// Matches one text with the program of a pattern. It follows all states of the automaton at once.
struct PatternRun {
    private let program: PatternProgram
    private let scalars: [Unicode.Scalar]
    /// Whether each lookaround of the program holds at each index of the text.
    private var sights: [[Bool]] = []
    /// The number of steps left before the match gives up.
    private var stepsLeft: Int
    private let stepLimit: Int

    /// The match needs more steps than are allowed.
    struct Exhausted: Error {}

    init(_ program: PatternProgram, _ text: String, stepLimit: Int) {
        self.program = program
        scalars = Array(text.unicodeScalars)
        stepsLeft = stepLimit
        self.stepLimit = stepLimit
    }

    /// The number of steps taken so far.
    var stepCount: Int { stepLimit - stepsLeft }

    var textLength: Int { scalars.count }

    /// Whether the whole text matches.
    ///
    /// - Complexity: O(length of the text x instructions), lookarounds included
    mutating func matches() throws(Exhausted) -> Bool {
        // Inner lookarounds come first.
        for look in program.looks { sights.append(try indices(of: look)) }
        var states = States(program.instructions)
        follow(0, at: 0, &states)
        for index in scalars.indices {
            states.exchange()
            try spend(states.current.count)
            step(over: scalars[index], to: index + 1, &states)
            if states.next.isEmpty { return false }
        }
        return states.hasMatch
    }

    /// Counts steps; a step is one state tested against one scalar. Jumps are not counted: they take at most as many
    /// steps as there are states, and the next scalar counts those.
    private mutating func spend(_ steps: Int) throws(Exhausted) {
        stepsLeft -= steps
        if stepsLeft < 0 { throw Exhausted() }
    }

    /// Whether a lookaround holds at each index. A lookbehind runs forward and matches where it ends; a lookahead runs
    /// backward with a reversed program and matches where it begins.
    private mutating func indices(of look: PatternProgram.Look) throws(Exhausted) -> [Bool] {
        var states = States(look.instructions)
        var seen = Array(repeating: false, count: scalars.count + 1)
        for offset in 0...scalars.count {
            let index = look.isBehind ? offset : scalars.count - offset
            if offset > 0 {
                states.exchange()
                try spend(states.current.count + 1)
                step(over: scalars[look.isBehind ? index - 1 : index], to: index, &states)
            }
            // It may begin at any index.
            follow(0, at: index, &states)
            seen[index] = states.hasMatch != look.isNegated
        }
        return seen
    }

    // MARK: States

    /// The sets of states before and after one scalar.
    private struct States {
        let instructions: [PatternProgram.Instruction]
        var current: StateSet
        var next: StateSet
        var stack: [Int] = []

        init(_ instructions: [PatternProgram.Instruction]) {
            self.instructions = instructions
            current = StateSet(capacity: instructions.count)
            next = StateSet(capacity: instructions.count)
        }

        mutating func exchange() {
            (current, next) = (next, current)
            next.removeAll()
        }

        var hasMatch: Bool {
            next.indices.contains { if case .match = instructions[next[$0]] { true } else { false } }
        }
    }

    private func step(over scalar: Unicode.Scalar, to index: Int, _ states: inout States) {
        for number in states.current.indices {
            let state = states.current[number]
            if consumes(states.instructions[state], scalar) { follow(state + 1, at: index, &states) }
        }
    }

    private func consumes(_ instruction: PatternProgram.Instruction, _ scalar: Unicode.Scalar) -> Bool {
        switch instruction {
        case .scalar(let expected): scalar == expected
        case .folded(let expected): PatternClass.fold(scalar) == expected
        case .any: true
        case .anyInLine: !PatternClass.isLineEnd(scalar)
        case .member(let number): program.classes[number].contains(scalar)
        case .split, .jump, .assert, .look, .match: false
        }
    }

    /// Adds to `next` a state, and every state that it reaches without consuming a scalar.
    private func follow(_ state: Int, at index: Int, _ states: inout States) {
        states.stack.append(state)
        while let state = states.stack.popLast() {
            guard states.next.insert(state) else { continue }
            switch states.instructions[state] {
            case .jump(let target): states.stack.append(target)
            case .split(let first, let second):
                states.stack.append(second)
                states.stack.append(first)
            case .assert(let assertion):
                if holds(assertion, at: index) { states.stack.append(state + 1) }
            case .look(let look):
                if sights[look][index] { states.stack.append(state + 1) }
            default: break
            }
        }
    }

    private func holds(_ assertion: PatternAssertion, at index: Int) -> Bool {
        assertion.holds(
            between: index > 0 ? scalars[index - 1] : nil, and: index < scalars.count ? scalars[index] : nil,
            isLast: index == scalars.count - 1)
    }
}

/// A set of small numbers that is emptied in constant time (P. Briggs, L. Torczon, An Efficient Representation for
/// Sparse Sets, 1993).
private struct StateSet {
    private var members: [Int] = []
    private var indexOfMember: [Int]

    init(capacity: Int) { indexOfMember = Array(repeating: 0, count: capacity) }

    var isEmpty: Bool { members.isEmpty }
    var count: Int { members.count }
    var indices: Range<Int> { members.indices }
    subscript(index: Int) -> Int { members[index] }

    mutating func removeAll() { members.removeAll(keepingCapacity: true) }

    /// Adds a member; returns whether it is new.
    mutating func insert(_ member: Int) -> Bool {
        let index = indexOfMember[member]
        if index < members.count && members[index] == member { return false }
        indexOfMember[member] = members.count
        members.append(member)
        return true
    }
}
