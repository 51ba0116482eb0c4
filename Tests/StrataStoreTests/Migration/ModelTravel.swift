import StrataModel
import StrataStore
import Testing

extension MigratedStore {
    /// Opens the store with one model after another and removes it. Each model is filled when it comes first; whatever it
    /// showed then, or later, it shows again.
    func travel(
        _ models: [Character: ManagedObjectModel], _ path: String, fill: (Character, StoreFixture) throws -> Void
    ) throws {
        defer { remove() }
        var dumps: [Character: StateDump] = [:]
        for (step, name) in path.enumerated() {
            let model = try #require(models[name])
            try open(model, Self.options(step: 1)) { fixture in
                if dumps[name] == nil { try fill(name, fixture) }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                for (id, held) in dumps[name]?.objects ?? [:] {
                    for (property, value) in held {
                        #expect(
                            Self.known(dump[id, property], dumps[name]) == value,
                            "\(name), step \(step): \(property) of \(id)")
                    }
                }
                dumps[name] = dump
                try #expect(fixture.store.rebuild().isUnchanged)
            }
        }
    }

    /// Without the members that a model did not show before.
    private static func known(_ held: StateDump.Held?, _ dump: StateDump?) -> StateDump.Held? {
        guard case .members(let members)? = held, let dump else { return held }
        return .members(members.filter { dump.objects[$0] != nil })
    }
}
