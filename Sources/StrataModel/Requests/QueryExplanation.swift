/// How a request was run: each step with what it was thought to yield, what it did yield, and its time.
///
/// ```swift
/// print(try context.explain(request))
/// // objects of Movie  rows 2 (estimated 2.0), 0.011 ms
/// //   filter rating > 4  rows 2 (estimated 1.6), 0.009 ms
/// //     index byTitle, 1 range  rows 3 (estimated 4.0), 0.005 ms
/// ```
public struct QueryExplanation: Sendable, Hashable, Codable {
    /// One step of the plan, above those that it takes its rows from.
    public struct Step: Sendable, Hashable, Codable {
        /// What a step does.
        public enum Operation: String, Sendable, Hashable, Codable {
            /// The result itself.
            case result
            /// Puts rows in order.
            case sort
            /// Asks rows what the steps below do not settle.
            case filter
            /// Reads every row.
            case scan
            /// Looks up ranges of an index.
            case index
            /// Follows a relationship from objects that were found back to those asked for.
            case links
            /// Objects that the predicate names.
            case objects
            /// What all of the steps below yield.
            case intersection
            /// What any of the steps below yields.
            case union
            /// A condition that no object meets.
            case nothing
        }

        public var operation: Operation
        /// What it does, in words.
        public var detail: String
        /// The index that it reads.
        public var index: String?
        public var estimatedRows: Double
        public var rows: Int
        /// Time of this step and those below it.
        public var nanoseconds: Int64
        /// What came otherwise than planned.
        public var note: String?
        public var inputs: [Step]

        public init(
            _ operation: Operation, _ detail: String, index: String? = nil, estimatedRows: Double, rows: Int,
            nanoseconds: Int64, note: String? = nil, inputs: [Step] = []
        ) {
            self.operation = operation
            self.detail = detail
            self.index = index
            self.estimatedRows = estimatedRows
            self.rows = rows
            self.nanoseconds = nanoseconds
            self.note = note
            self.inputs = inputs
        }
    }

    public var result: Step

    public init(result: Step) { self.result = result }

    /// Every step, from the result down.
    public var steps: [Step] { result.withInputs }
}

extension QueryExplanation.Step {
    fileprivate var withInputs: [Self] { [self] + inputs.flatMap(\.withInputs) }
}

extension QueryExplanation: CustomStringConvertible {
    /// The plan as a tree, the last step first.
    public var description: String { result.lines(0).joined(separator: "\n") }
}

extension QueryExplanation.Step: CustomStringConvertible {
    public var description: String { lines(0).joined(separator: "\n") }

    /// With a digit behind the point only where it tells something.
    private var estimate: String {
        guard estimatedRows >= 9.95, let whole = Int(exactly: estimatedRows.rounded()) else {
            return "\((estimatedRows * 10).rounded() / 10)"
        }
        return "\(whole)"
    }

    fileprivate func lines(_ depth: Int) -> [String] {
        let milliseconds = (Double(nanoseconds) / 1000).rounded() / 1000
        var line = String(repeating: "  ", count: depth) + detail
        line += "  rows \(rows) (estimated \(estimate)), \(milliseconds) ms"
        if let note { line += "; \(note)" }
        return [line] + inputs.flatMap { $0.lines(depth + 1) }
    }
}
