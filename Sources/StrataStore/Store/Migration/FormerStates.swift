import StrataModel

/// One past state through several models, for links and values that return: between the model that had them last and
/// the one that has them again, no model shows them.
final class FormerStates {
    private let first: ModelVersion?
    private let make: (ModelVersion) throws -> Snapshot?
    private var states: [ModelVersion: Snapshot] = [:]

    /// - Parameter first: the model of the state.
    init(from first: ModelVersion?, _ make: @escaping (ModelVersion) throws -> Snapshot?) {
        self.first = first
        self.make = make
    }

    /// Nil for a model that the state had left behind already.
    func snapshot(_ version: ModelVersion) throws -> Snapshot? {
        if let first, version < first { return nil }
        return try objects(version)
    }

    /// Objects whose entity a model was the last to have.
    func objects(_ version: ModelVersion) throws -> Snapshot? {
        if let known = states[version] { return known }
        let made = try make(version)
        states[version] = made
        return made
    }
}
