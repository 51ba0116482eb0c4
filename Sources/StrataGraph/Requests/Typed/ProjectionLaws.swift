// Tests whether a projection follows additions and removals in any order (`checkLaws`).

import StrataModel
import StrataStore

/// A law of projections that a type breaks, with the shortest history that was found.
public struct ProjectionLawViolation: Error, Sendable, CustomStringConvertible {
    /// The steps of the history: `add 1`, `remove 1`.
    public let history: [String]
    /// The values of the rows of the history, by their numbers.
    public let rows: [Int: String]
    /// The law that is broken, with the states that show it.
    public let reason: String

    /// The broken law, and the history.
    public var description: String {
        let steps = history.joined(separator: ", ")
        let values = rows.sorted { $0.key < $1.key }.map { "row \($0.key): \($0.value)" }.joined(separator: "; ")
        return "\(reason) History: \(steps). \(values)"
    }
}

extension ViewProjection {
    /// Checks that `remove` undoes `add`, in any order, and that a state is the same after it was stored.
    ///
    /// ```swift
    /// struct Titles: ViewProjection {
    ///     static var inputs: [PartialKeyPath<Movie>] { [\.title] }
    ///     private var counts: [String: Int] = [:]
    ///     init() {}
    ///     mutating func add(_ movie: ProjectedRow<Movie>) throws { counts[try movie.title, default: 0] += 1 }
    ///     mutating func remove(_ movie: ProjectedRow<Movie>) throws {
    ///         let title = try movie.title
    ///         counts[title] = counts[title].flatMap { $0 > 1 ? $0 - 1 : nil }
    ///     }
    /// }
    /// try Titles.checkLaws()
    /// ```
    ///
    /// Each history adds rows and removes some of them, in an order made at random. Its state must be, byte for byte, the
    /// one that only has the rows that are left.
    ///
    /// - Parameters:
    ///   - histories: how many histories are tried.
    ///   - seed: the same seed tries the same histories.
    /// - Throws: `ProjectionLawViolation`, with a history that no row can be left out of; `invalidRequest` if an input has
    ///   a type of which no values are made. Give the rows then.
    public static func checkLaws(histories: Int = 300, seed: UInt64 = 1) throws {
        let makers = try Self.inputs.map { try RandomValue.maker(of: $0) }
        let inputs = ProjectionInputs(Self.inputs)
        try checkLaws(histories: histories, seed: seed) { generator in
            var values: [AttributeValue] = []
            for make in makers { values.append(make(&generator)) }
            return ProjectedRow(ObjectID(rawValue: 0), inputs, values)
        }
    }

    /// Checks the same with rows of the caller.
    ///
    /// ```swift
    /// try Titles.checkLaws { generator in
    ///     ProjectedRow([\.title: ["Stalker", "Solaris"].randomElement(using: &generator) ?? ""])
    /// }
    /// ```
    ///
    /// - Parameter makeRow: makes a row.
    /// - Throws: `ProjectionLawViolation`, and what `makeRow` throws.
    public static func checkLaws(
        histories: Int = 300, seed: UInt64 = 1,
        rows makeRow: (inout any RandomNumberGenerator) throws -> ProjectedRow<Object>
    ) throws {
        let inputs = ProjectionInputs(Self.inputs)
        let trial = ProjectionTrial(code: code(projectionName))
        var generator: any RandomNumberGenerator = LawGenerator(state: seed)
        for number in 0..<histories {
            var rows: [[AttributeValue]] = []
            // Short histories first.
            for _ in 0..<(1 + number * 8 / max(histories, 1)) {
                if let last = rows.last, Int.random(in: 0..<4, using: &generator) == 0 {
                    rows.append(last)
                } else {
                    rows.append(try makeRow(&generator).with(inputs, ObjectID(rawValue: 0)).values)
                }
            }
            let history = ProjectionHistory(rows, using: &generator)
            guard trial.fault(history) != nil else { continue }
            throw trial.violation(of: trial.shortened(history))
        }
    }
}

/// Rows that are added to a group and removed from it.
private struct ProjectionHistory {
    struct Step {
        let row: Int
        let isRemoval: Bool
        /// Whether the state is stored before it.
        let isStored: Bool
    }

    let rows: [[AttributeValue]]
    var steps: [Step] = []

    init(_ rows: [[AttributeValue]], using generator: inout any RandomNumberGenerator) {
        self.rows = rows
        var moves = rows.indices.map { (row: $0, isRemoval: false) }
        moves += rows.indices.filter { _ in Bool.random(using: &generator) }.map { (row: $0, isRemoval: true) }
        moves.shuffle(using: &generator)
        // Of two moves of a row the first adds it.
        var added: Set<Int> = []
        let leaving = Set(moves.filter { $0.isRemoval }.map { $0.row })
        for move in moves {
            let isRemoval = leaving.contains(move.row) && !added.insert(move.row).inserted
            let isStored = Bool.random(using: &generator)
            steps.append(Step(row: move.row, isRemoval: isRemoval, isStored: isStored))
        }
    }

    /// The rows that are left at its end, in order.
    var left: [Int] {
        let removed = Set(steps.filter(\.isRemoval).map(\.row))
        return Set(steps.map(\.row)).subtracting(removed).sorted()
    }

    func without(_ row: Int) -> ProjectionHistory {
        var copy = self
        copy.steps.removeAll { $0.row == row }
        return copy
    }
}

/// Runs histories through the code of a projection, as a store does.
private struct ProjectionTrial {
    let code: ProjectionCode

    /// Returns how a history breaks the laws; nil if it breaks none.
    func fault(_ history: ProjectionHistory) -> String? {
        do {
            let state = try run(history)
            let wanted = try code.advance(nil, history.left.map { change($0, false, history) })
            if try bytes(state) == bytes(wanted) { return nil }
            return "The state is \(state), and of the rows that are left alone it is \(wanted)."
        } catch let fault as ProjectionFault {
            return "Row \(fault.object.rawValue) is refused: \(fault.reason)"
        } catch {
            return "The state cannot be stored: \(error)"
        }
    }

    private func run(_ history: ProjectionHistory) throws -> AttributeValue {
        var state: AttributeValue?
        var waiting: [ProjectedChange] = []
        for step in history.steps {
            if step.isStored, !waiting.isEmpty {
                state = try code.advance(state, waiting)
                waiting = []
            }
            waiting.append(change(step.row, step.isRemoval, history))
        }
        return try code.advance(state, waiting)
    }

    private func change(_ row: Int, _ isRemoval: Bool, _ history: ProjectionHistory) -> ProjectedChange {
        ProjectedChange(
            object: ObjectID(rawValue: UInt64(row + 1)), values: history.rows[row], isRemoval: isRemoval)
    }

    private func bytes(_ state: AttributeValue) throws -> [UInt8] {
        var writer = ByteWriter()
        try ValueCodec.encode(state, into: &writer)
        return Array(writer.bytes)
    }

    /// Leaves out rows as long as the history still breaks a law.
    func shortened(_ history: ProjectionHistory) -> ProjectionHistory {
        var shortest = history
        var isShorter = true
        while isShorter {
            isShorter = false
            for row in Set(shortest.steps.map(\.row)).sorted() {
                let candidate = shortest.without(row)
                guard !candidate.steps.isEmpty, fault(candidate) != nil else { continue }
                (shortest, isShorter) = (candidate, true)
            }
        }
        return shortest
    }

    func violation(of history: ProjectionHistory) -> ProjectionLawViolation {
        let rows = Set(history.steps.map(\.row))
        return ProjectionLawViolation(
            history: history.steps.map { "\($0.isRemoval ? "remove" : "add") \($0.row + 1)" },
            rows: Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    (row + 1, history.rows[row].map(\.description).joined(separator: ", "))
                }),
            reason: fault(history) ?? "A history breaks the laws.")
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
private struct LawGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
