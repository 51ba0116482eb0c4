import Locking
package import StrataModel

/// The values and links of a past moment as later migrations convert them.
package struct ConvertedState: Sendable {
    /// Converted values and links, above the state read through the newer model.
    let layer: Layer
    /// Values and links that the newer model cannot show, by their reasons. They read as nil.
    package let problems: [MigrationProblem]
    /// The properties that cannot be shown, by object: indexes into `problems`.
    private let unreadable: [ObjectID: [Int]]

    init(layer: Layer, problems: [MigrationProblem], unreadable: [ObjectID: [Int]]) {
        self.layer = layer
        self.problems = problems
        self.unreadable = unreadable
    }

    /// The errors about values of an object that cannot be shown, one for each property.
    package func errors(of id: ObjectID) -> [StrataError] {
        (unreadable[id] ?? []).map { index in
            let problem = problems[index]
            return StrataError(
                .migration, problem.sentence,
                context: .init(entityName: problem.entityName, objectID: id, key: problem.key))
        }
    }
}

/// The converted states that were read last.
final class ConvertedStates: Sendable {
    struct Key: Hashable {
        let eventNumber: EventNumber
        let model: ModelVersion
    }

    private static let mostStates = 4
    /// The newest use last. Guarded by its lock.
    private let states = Locked<[(key: Key, state: ConvertedState)]>([])

    func state(_ key: Key, make: () throws -> ConvertedState) rethrows -> ConvertedState {
        let known = states.withLock { states -> ConvertedState? in
            guard let index = states.firstIndex(where: { $0.key == key }) else { return nil }
            states.append(states.remove(at: index))
            return states.last?.state
        }
        if let known { return known }
        let made = try make()
        states.withLock { states in
            states.removeAll { $0.key == key }
            states.append((key, made))
            if states.count > Self.mostStates { states.removeFirst() }
        }
        return made
    }

    /// Drops everything, because rows were damaged.
    func removeAll() { states.withLock { $0.removeAll() } }
}

extension Store {
    /// Returns the state at an event as the migrations up to the installation of a model convert it; nil if none
    /// rewrites anything.
    ///
    /// - Parameter schema: nil is the newest model.
    /// - Throws: as `read`.
    /// - Complexity: O(objects of the entities that were rewritten) the first time, then kept.
    package func convertedState(at eventNumber: EventNumber, through schema: Schema? = nil) throws -> ConvertedState? {
        try checkOpen()
        return try file.read { transaction, head, newest in
            try convertedState(at: eventNumber, through: schema, ConversionSource(self, transaction, head, newest))
        }
    }

    /// The layers of a state that is read through a model, above the conversions of migrations since.
    func layers(
        _ layers: [Layer], at eventNumber: EventNumber, through schema: Schema?, _ source: ConversionSource
    ) throws -> [Layer] {
        guard eventNumber < source.head, let state = try convertedState(at: eventNumber, through: schema, source)
        else { return layers }
        return [state.layer] + layers
    }

    private func convertedState(
        at eventNumber: EventNumber, through schema: Schema?, _ source: ConversionSource
    ) throws -> ConvertedState? {
        guard let model = schema ?? source.newest.newest, try source.isBefore(eventNumber, model) else { return nil }
        let state = try conversions.state(.init(eventNumber: eventNumber, model: model.version)) {
            var conversion = PastConversion(source, at: eventNumber)
            return try conversion.run(to: model)
        }
        return state.layer.isEmpty && state.problems.isEmpty ? nil : state
    }
}
