import StrataModel
import StrataStore
import Testing

/// A link whose relationship has one kind after another, is gone, and comes back.
struct LinkKindChainTests {
    enum Kind: Int, CaseIterable {
        case toOne, bag, rows, reversedRows, pairs, oneToOne, none
    }

    /// The kinds that the relationships of one pair of entities have, model by model.
    private struct Path {
        let kinds: [Kind]

        var name: String { kinds.map { "\($0.rawValue)" }.joined() }
        var source: String { "Source\(name)" }
        var target: String { "Target\(name)" }

        func entities(_ step: Int) -> [EntityDescription] {
            let kind = kinds[step]
            let hasInverse = ![.none, .toOne, .bag].contains(kind)
            let link = relationship("link", target, hasInverse ? "back" : nil, toMany: [.bag, .rows, .pairs])
            let back = relationship("back", source, "link", toMany: [.reversedRows, .pairs])
            func relationship(
                _ name: String, _ destination: String, _ inverse: String?, toMany: Set<Kind>
            ) -> PropertyDescription {
                toMany.contains(kind)
                    ? Describe.toMany(name, destination, inverse: inverse)
                    : Describe.toOne(name, destination, inverse: inverse)
            }
            return [
                EntityDescription(name: source, properties: kind == .none ? [] : [link]),
                EntityDescription(name: target, properties: hasInverse ? [back] : []),
            ]
        }
    }

    private static func model(_ paths: [Path], _ step: Int, label: String? = nil) throws -> ManagedObjectModel {
        let label = label.map { [EntityDescription(name: $0)] } ?? []
        return try ManagedObjectModel(entities: paths.flatMap { $0.entities(step) } + label)
    }

    private func link(_ path: Path, _ fixture: StoreFixture) throws -> (ObjectID, ObjectID) {
        let (source, target) = (try fixture.insert(path.source, [:]), try fixture.insert(path.target, [:]))
        switch path.kinds[0] {
        case .none: break
        case .toOne, .reversedRows: try fixture.update(source, ["link": .objectID(target)])
        case .bag, .pairs: try fixture.link(source, "link", target)
        case .rows: try fixture.update(target, ["back": .objectID(source)])
        case .oneToOne:
            var changes = try fixture.changes()
            try fixture.update(source, ["link": .objectID(target)], in: &changes)
            try fixture.update(target, ["back": .objectID(source)], in: &changes)
            try fixture.save(changes)
        }
        return (source, target)
    }

    private func expectLinks(
        _ path: Path, _ step: Int, _ ends: (source: ObjectID, target: ObjectID), _ dump: StateDump, isEmpty: Bool
    ) {
        let (forward, backward) = (dump[ends.source, "link"], dump[ends.target, "back"])
        let name = "\(path.kinds.map { String(describing: $0) }), step \(step)"
        let (target, source) = isEmpty ? (nil, nil) : (ends.target, ends.source)
        switch path.kinds[step] {
        case .none: #expect(forward == nil, "\(name)")
        case .toOne, .reversedRows, .oneToOne: #expect(forward == .value(.init(target)), "\(name)")
        case .bag, .rows, .pairs: #expect(forward == .members([target].compactMap(\.self)), "\(name)")
        }
        switch path.kinds[step] {
        case .none, .toOne, .bag: #expect(backward == nil, "\(name)")
        case .rows, .oneToOne: #expect(backward == .value(.init(source)), "\(name)")
        case .reversedRows, .pairs: #expect(backward == .members([source].compactMap(\.self)), "\(name)")
        }
    }

    /// - Parameter isEmpty: whether a path has no links under the model of a step.
    private func run(
        _ paths: [Path], labelled: Int? = nil, isEmpty: (Path, Int) -> Bool = { _, _ in false }
    ) throws {
        let store = MigratedStore()
        defer { store.remove() }
        var ends: [(ObjectID, ObjectID)] = []
        for step in paths[0].kinds.indices {
            try store.open(Self.model(paths, step, label: step == labelled ? "Label" : nil)) { fixture in
                if step == 0 { ends = try paths.map { try link($0, fixture) } }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                for (path, ends) in zip(paths, ends) {
                    expectLinks(path, step, ends, dump, isEmpty: isEmpty(path, step))
                }
                #expect(try fixture.store.rebuild().isUnchanged)
            }
        }
    }

    private static let real = Kind.allCases.filter { $0 != .none }

    @Test func linksGoFromKindToKind() throws {
        try run(
            Self.real.flatMap { first in
                Self.real.flatMap { second in Self.real.map { Path(kinds: [first, second, $0]) } }
            })
    }

    /// A model that the store had before has the links, whatever kind they had last.
    @Test func aKnownModelHasItsLinksAgain() throws {
        try run(Self.real.flatMap { first in Self.real.map { Path(kinds: [first, $0, .none, first]) } })
    }

    /// A new model has the relationship with another kind, and a model that the store had before follows at once.
    @Test func aKnownModelHasItsLinksAgainAtOnce() throws {
        let paths = Self.real.flatMap { first in
            Self.real.flatMap { last in
                Self.real.map { Path(kinds: [first, last, .none, $0, first]) }
            }
        }
        try run(paths, labelled: 3) { $1 == 3 && $0.kinds[3] != $0.kinds[1] }
    }

    /// In a model that the store never had, the links return if the relationship has the kind that they had last. If not,
    /// it begins empty, and the links stay hidden until the kind is that again.
    @Test func aNewModelHasTheLinksOfItsKind() throws {
        let paths = Self.real.flatMap { first in
            Self.real.flatMap { second in Self.real.map { Path(kinds: [first, second, .none, $0, .none, second]) } }
        }
        try run(paths, labelled: 3) { $1 == 3 && $0.kinds[3] != $0.kinds[1] }
    }

    /// An object that can lead to one other object only would get two.
    @Test func linksThatDoNotFitAreRefused() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let path = Path(kinds: [.reversedRows, .pairs, .none, .reversedRows])
        let source = try store.open(Self.model([path], 0)) { try link(path, $0).0 }
        try store.open(Self.model([path], 1)) { try $0.link(source, "link", $0.insert(path.target, [:])) }
        try store.open(Self.model([path], 2)) { _ in }
        let error = #expect(throws: StrataError.self) { try store.open(Self.model([path], 3)) { _ in } }
        #expect(error?.details.map(\.code) == [.validationRelationshipExceedsMaximumCount])
        #expect(error?.details.map(\.context.objectID) == [source])
    }
}

extension AttributeValue {
    fileprivate init(_ target: ObjectID?) { self = target.map(AttributeValue.objectID) ?? .null }
}
