/// The run of a request: the steps of its plan, each with the estimated and the actual number of rows, and its time.
///
/// ```swift
/// print(try context.explain(request))
/// // objects of Movie  rows 2 (estimated 2.0), 0.011 ms
/// //   filter rating > 4  rows 2 (estimated 1.6), 0.009 ms
/// //     index byTitle, 1 range  rows 3 (estimated 4.0), 0.005 ms
/// ```
public struct QueryExplanation: Sendable, Hashable, Codable {
    /// One step of the plan; `inputs` are the steps that it takes its rows from.
    public struct Step: Sendable, Hashable, Codable {
        /// The kind of a step.
        public enum Operation: String, Sendable, Hashable, Codable {
            /// The result of the request.
            case result
            /// Sorts rows.
            case sort
            /// Reads rows and tests the conditions that the inputs do not cover.
            case filter
            /// Reads every row of the entity.
            case scan
            /// Reads ranges of an index.
            case index
            /// Follows a relationship backwards, from the objects found to those requested.
            case links
            /// Reads groups of a declared view.
            case view
            /// Reads the lists of words of a full text.
            case text
            /// Takes the objects that the predicate names.
            case objects
            /// Takes the rows that all inputs have.
            case intersection
            /// Takes the rows that any input has.
            case union
            /// Yields nothing, because no object can meet the condition.
            case nothing
        }

        /// The kind of the step.
        public var operation: Operation
        /// The step in words.
        public var detail: String
        /// The name of the index that it reads.
        public var index: String?
        /// The number of rows that the planner expected.
        public var estimatedRows: Double
        /// The number of rows that the step yielded.
        public var rows: Int
        /// The time of this step and its inputs.
        public var nanoseconds: Int64
        /// A deviation from the plan, in words.
        public var note: String?
        /// The steps that it takes its rows from.
        public var inputs: [Step]

        /// A step of a plan.
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

    /// The last step, which yields the result.
    public var result: Step

    /// The explanation with this last step.
    public init(result: Step) { self.result = result }

    /// Every step, each before its inputs.
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
    /// The step and its inputs as a tree.
    public var description: String { lines(0).joined(separator: "\n") }

    /// The estimate, with one decimal place if it is below ten.
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
