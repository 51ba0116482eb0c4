import StrataModel
import StrataStore
import Testing

/// Attributes that go through three types and get back the first: values that were not changed are as they were, also
/// where the last type alone could not be converted to the first.
struct TypeChainTests {
    enum Between: CaseIterable { case nothing, hidesAttributes, addsAttribute }

    private struct Chain {
        let name: String
        let types: [AttributeType]
        let value: AttributeValue
    }

    /// Each value of a type, by each way over two others that can hold it.
    private func chains(from first: Int) -> [Chain] {
        let (type, values) = EveryConversionTests.values[first]
        let types = EveryConversionTests.values.map(\.type)
        var chains: [Chain] = []
        for second in types where second != type {
            for third in types where third != second && third != type {
                for value in values {
                    let made = value.converted(from: attribute(type), to: attribute(second))
                    guard made?.converted(from: attribute(second), to: attribute(third)) != nil else { continue }
                    chains.append(Chain(name: "a\(chains.count)", types: [type, second, third, type], value: value))
                }
            }
        }
        return chains
    }

    private func attribute(_ type: AttributeType) -> AttributeDescription {
        AttributeDescription(name: "", type: type, isOptional: true)
    }

    @Test(arguments: EveryConversionTests.values.indices, Between.allCases)
    func valuesThatWereNotChangedAreAsTheyWere(first: Int, between: Between) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let chains = chains(from: first)
        #expect(!chains.isEmpty)
        func model(_ step: Int?, label: String = "label") throws -> ManagedObjectModel {
            let attributes = step.map { step in
                chains.map { Describe.attribute($0.name, $0.types[step], optional: true) }
            }
            let label = Describe.attribute(label, optional: true)
            return try Describe.model(EntityDescription(name: "Page", properties: (attributes ?? []) + [label]))
        }
        let id = try store.open(model(0)) { fixture in
            try fixture.insert("Page", Dictionary(uniqueKeysWithValues: chains.map { ($0.name, $0.value) }))
        }
        for step in 1...2 { try store.open(model(step)) { _ in } }
        if between == .hidesAttributes { try store.open(model(nil)) { _ in } }
        try store.open(model(3, label: between == .addsAttribute ? "extra" : "label")) { fixture in
            let dump = try StateDump(fixture.store, at: fixture.store.head())
            for chain in chains {
                guard case .value(let value)? = dump[id, chain.name] else {
                    Issue.record("no \(chain)")
                    continue
                }
                #expect(value.isIdentical(to: chain.value), "\(chain.types) \(chain.value): \(value)")
            }
            #expect(try fixture.store.rebuild().isUnchanged)
        }
    }
}
