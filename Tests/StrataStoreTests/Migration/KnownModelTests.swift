import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Two entities of one name that the store had at different times: in each model that it had before, the name means the
/// entity whose objects that model had.
struct KnownModelTests {
    private enum Version { case oneToOne, without, noInverse }

    private func model(_ version: Version) throws -> ManagedObjectModel {
        let hasInverse = version == .oneToOne
        let record = Describe.toOne("record", "Edit", inverse: hasInverse ? "album" : nil)
        let album = EntityDescription(
            name: "Album", properties: [Describe.attribute("title")] + (version == .without ? [] : [record]))
        let edit = EntityDescription(
            name: "Edit", properties: [Describe.toOne("album", "Album", inverse: hasInverse ? "record" : nil)])
        return try ManagedObjectModel(entities: version == .without ? [album] : [album, edit])
    }

    private func insert(_ fixture: StoreFixture) throws {
        let album = try fixture.insert("Album", ["title": "a"])
        let edit = try fixture.insert("Edit", ["album": .objectID(album)])
        try fixture.update(album, ["record": .objectID(edit)])
    }

    /// What a model showed first, of the objects that it had then.
    private func isAsBefore(_ dump: StateDump, _ first: StateDump) -> Bool {
        first.objects.allSatisfy { id, values in dump.objects[id] == values }
    }

    @Test(arguments: [200_000, 0]) func eachModelHasTheObjectsThatItHad(oneCommit: Int) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let options = MigratedStore.options(oneCommit: oneCommit, step: 1)
        func open(_ version: Version, _ change: (StoreFixture) throws -> Void = { _ in }) throws -> StateDump {
            try store.open(model(version), options) { fixture in
                try change(fixture)
                try #expect(fixture.store.rebuild().isUnchanged)
                return try StateDump(fixture.store, at: fixture.store.head())
            }
        }
        let first = try open(.oneToOne, insert)
        _ = try open(.without)
        let second = try open(.noInverse, insert)
        for round in 1...2 {
            _ = try open(.without)
            let oneToOne = try open(.oneToOne)
            #expect(isAsBefore(oneToOne, first), "round \(round): \(oneToOne)")
            _ = try open(.without)
            let noInverse = try open(.noInverse)
            // The first album's record is that of the other entity Edit.
            let later = second.objects.filter { first.objects[$0.key] == nil }
            #expect(later.allSatisfy { noInverse.objects[$0.key] == $0.value }, "round \(round): \(noInverse)")
        }
    }

    /// An entity without objects gives way to one of the same name that has some.
    @Test func anEntityWithoutObjectsIsNotPreferred() throws {
        let store = MigratedStore()
        defer { store.remove() }
        for version in [Version.oneToOne, .without] { try store.open(model(version)) { _ in } }
        let ids = try store.open(model(.noInverse)) { fixture in
            try insert(fixture)
            return try StateDump(fixture.store, at: fixture.store.head()).objects.keys.sorted()
        }
        try store.open(model(.without), MigratedStore.options()) { _ in }
        try store.open(model(.oneToOne), MigratedStore.options()) { fixture in
            try #expect(StateDump(fixture.store, at: fixture.store.head()).objects.keys.sorted() == ids)
        }
    }
}
