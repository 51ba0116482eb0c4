import StrataModel

/// One past state through several models, for links and values that return: between the model that had them last and
/// the one that has them again, no model shows them.
final class FormerStates {
    private let make: (ModelVersion) throws -> Snapshot?
    private var states: [ModelVersion: Snapshot] = [:]

    init(_ make: @escaping (ModelVersion) throws -> Snapshot?) { self.make = make }

    func snapshot(_ version: ModelVersion) throws -> Snapshot? {
        if let known = states[version] { return known }
        let made = try make(version)
        states[version] = made
        return made
    }
}
