/// The work and memory that one request may take before it ends with an error.
///
/// A step is the reading of one row, of one member of a relationship, of one entry of an index, or the evaluation of one
/// part of an expression: some tens of nanoseconds. Long text counts by its length. Steps are counted, not timed, so a
/// request takes as many on every machine.
///
/// ```swift
/// var request = try FetchRequest<Movie>(format: "title CONTAINS %@", "stalk")
/// request.budget = RequestBudget(steps: 1_000_000)
/// ```
public struct RequestBudget: Sendable, Hashable, Codable {
    /// The most steps.
    public var steps: Int
    /// The most memory for data that a request keeps while it runs, such as keys to be sorted, groups and rows of
    /// values, in bytes. It is an estimate that does not count the objects of the result.
    public var memoryInBytes: Int

    /// A budget of 1,000,000,000 steps, which is a hundred for each of ten million rows, and 1 GiB, unless other numbers
    /// are given.
    public init(steps: Int = 1_000_000_000, memoryInBytes: Int = 1 << 30) {
        self.steps = steps
        self.memoryInBytes = memoryInBytes
    }

    /// The budget of a request that has no other.
    public static let standard = RequestBudget()
    /// No bound, for requests that the app itself has written.
    public static let unlimited = RequestBudget(steps: .max, memoryInBytes: .max)
}

extension RequestBudget: CustomStringConvertible {
    /// The most steps and the most memory; `unlimited` without bounds.
    public var description: String {
        self == .unlimited ? "unlimited" : "\(steps) steps, \(memoryInBytes) bytes"
    }
}
