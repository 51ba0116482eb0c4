import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// The largest number of members of a to-many holds in migrations that give it another number: where it was gone, and
/// where its links are recorded elsewhere than before.
struct ReturningBoundsTests {
    enum Kind: CaseIterable, Sendable { case bag, ordered, pairs, rows }

    private func model(_ kind: Kind, hasTags: Bool = true, hasInverse: Bool = true, most: Int = 0) throws
        -> ManagedObjectModel
    {
        let isPaired = kind == .pairs || kind == .rows
        let back = isPaired && hasInverse ? "owners" : nil
        let tags = RelationshipDescription(
            name: "tags", destinationEntityName: "Tag", inverseName: back, hasNoInverse: back == nil, isToMany: true,
            isOrdered: kind == .ordered, maxCount: most)
        let owners =
            kind == .rows
            ? Describe.toOne("owners", "Owner", inverse: "tags") : Describe.toMany("owners", "Owner", inverse: "tags")
        return try Describe.model(
            EntityDescription(name: "Owner", properties: hasTags ? [.relationship(tags)] : []),
            EntityDescription(name: "Tag", properties: hasTags && back != nil ? [owners] : []))
    }

    /// A store with one owner of three tags, and one of two.
    private func made(_ store: MigratedStore, _ kind: Kind, _ model: ManagedObjectModel) throws -> [ObjectID] {
        try store.open(model) { fixture in
            try [3, 2].map { count in
                let owner = try fixture.insert("Owner", [:])
                for place in 0..<count {
                    let tag = try fixture.insert("Tag", [:])
                    if kind == .rows {
                        try fixture.update(tag, ["owners": .objectID(owner)])
                    } else {
                        try fixture.link(owner, "tags", tag, place: Int64(place))
                    }
                }
                return owner
            }
        }
    }

    private func expectRefusal(
        of owner: ObjectID, _ store: MigratedStore, _ model: ManagedObjectModel, oneCommit: Int
    ) {
        let options = MigratedStore.options(oneCommit: oneCommit, step: 1)
        let error = #expect(throws: StrataError.self) { try store.open(model, options) { _ in } }
        #expect(error?.code == .migration)
        #expect(error?.details.map(\.code) == [.validationRelationshipExceedsMaximumCount])
        #expect(error?.details.map(\.context.objectID) == [owner])
    }

    @Test(arguments: Kind.allCases, [200_000, 0])
    func oneThatComesBackHasNoMoreMembersThanItMay(kind: Kind, oneCommit: Int) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let owners = try made(store, kind, model(kind))
        let options = MigratedStore.options(oneCommit: oneCommit, step: 1)
        try store.open(model(kind, hasTags: false), options) { _ in }
        expectRefusal(of: owners[0], store, try model(kind, most: 2), oneCommit: oneCommit)
        // Nothing was changed by that.
        try store.open(model(kind, most: 3), options) { fixture in
            let dump = try StateDump(fixture.store, at: fixture.store.head())
            for (owner, count) in zip(owners, [3, 2]) {
                guard case .members(let members)? = dump[owner, "tags"] else {
                    Issue.record("no tags")
                    continue
                }
                #expect(members.count == count)
            }
            try #expect(fixture.store.rebuild().isUnchanged)
        }
    }

    @Test(arguments: [200_000, 0]) func oneThatGetsAnInverseHasNoMoreMembersThanItMay(oneCommit: Int) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let owners = try made(store, .pairs, model(.pairs, hasInverse: false))
        expectRefusal(of: owners[0], store, try model(.pairs, most: 2), oneCommit: oneCommit)
        try store.open(model(.pairs, most: 3), MigratedStore.options(oneCommit: oneCommit, step: 1)) { fixture in
            try #expect(StateDump(fixture.store, at: fixture.store.head()).objects.count == 7)
        }
    }
}
