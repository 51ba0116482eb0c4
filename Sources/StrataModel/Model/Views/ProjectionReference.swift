/// Names a type of the app that makes a column of a view, and the properties that it reads of each object.
///
/// The model of a store has the name only. A process that does not have the type leaves the column as it is and the view
/// behind its commits, until a process that has it catches up.
public struct ProjectionReference: Sendable, Hashable, Codable {
    /// The name of the type, as `ViewProjection.projectionName` says it.
    public var typeName: String
    /// The attributes and to-ones that the type reads, as key paths like those of other aggregates.
    public var inputs: [String]

    /// A type of the app.
    public init(_ typeName: String, inputs: [String]) {
        self.typeName = typeName
        self.inputs = inputs
    }
}

extension ProjectionReference: CustomStringConvertible {
    /// The type and the properties that it reads: `projection(Cinema.Middle, rating, gross)`.
    public var description: String { "projection(\(([typeName] + inputs).joined(separator: ", ")))" }
}
