import StrataModel
import StrataStore
import Testing

/// A comparison behind one hop is answered from an index at the far end, however many objects it finds there.
@Suite struct FarEndTests {
    /// 40 owners of 50 movies each; of every 50, 30 are called "A…" and the others "B…". Three movies are nobody's.
    private let fixture: StoreFixture
    private var owners: [ObjectID] = []
    private var movies: [ObjectID] = []

    init() throws {
        fixture = try StoreFixture()
        var changes = try fixture.changes()
        for owner in 0..<40 {
            let id = try fixture.insert("Owner", ["name": .string("O\(owner)")], into: &changes)
            owners.append(id)
        }
        try fixture.save(changes)
        changes = try fixture.changes()
        for (owner, id) in owners.enumerated() {
            for number in 0..<50 {
                let title = "\(number < 30 ? "A" : "B")\(owner).\(number)"
                movies.append(
                    try fixture.insert("Movie", ["title": .string(title), "owner": .objectID(id)], into: &changes))
            }
        }
        for number in 0..<3 {
            movies.append(try fixture.insert("Movie", ["title": .string("B\(number).alone")], into: &changes))
        }
        try fixture.save(changes)
    }

    /// What a scan finds, once every other way has found the same: first and again, counted, in order, in part.
    private func found(
        _ entity: String, _ predicate: FetchPredicate, _ snapshot: Snapshot,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [ObjectID] {
        let request = StoreRequest(entityID: try fixture.entity(entity).id, predicate: predicate)
        let wanted = try snapshot.fetch(CompiledQuery(request, snapshot.schema, access: .scanOnly))
        for _ in 0..<2 {
            #expect(try snapshot.fetch(request) == wanted, sourceLocation: sourceLocation)
            #expect(try snapshot.count(request) == wanted.count, sourceLocation: sourceLocation)
        }
        var part = request
        (part.limit, part.offset) = (3, 1)
        #expect(try snapshot.fetch(part) == Array(wanted.dropFirst().prefix(3)), sourceLocation: sourceLocation)
        var ordered = request
        ordered.sort = [SortDescription(entity == "Owner" ? "name" : "title", isAscending: false)]
        let inOrder = try snapshot.fetch(CompiledQuery(ordered, snapshot.schema, access: .scanOnly))
        #expect(try snapshot.fetch(ordered) == inOrder, sourceLocation: sourceLocation)
        return wanted
    }

    private func checkAll(_ snapshot: Snapshot) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        // Twice, so that few follow many and many few.
        for _ in 0..<2 {
            for start in ["A7.", "A", "B3.4", "", "C", "B"] {
                counts["any " + start] = try found(
                    "Owner", .any("movies.title", .beginsWith, .string(start)), snapshot
                ).count
                counts["not " + start] = try found(
                    "Owner", !.any("movies.title", .beginsWith, .string(start)), snapshot
                ).count
            }
            for name in [AttributeValue.string("O5"), .null, .string("nobody"), .string("O39")] {
                counts["owner \(name)"] = try found("Movie", .equal("owner.name", name), snapshot).count
                counts["other \(name)"] = try found("Movie", .notEqual("owner.name", name), snapshot).count
            }
            counts["in"] = try found("Movie", .isIn("owner.name", ["O1", .null]), snapshot).count
        }
        return counts
    }

    @Test func fewAndManyAtTheFarEndAreFoundNowAndInThePast() throws {
        let before = try fixture.store.head()
        let counts = try fixture.store.read(at: before, checkAll)
        #expect(counts["any A7."] == 1 && counts["any A"] == 40 && counts["any B3.4"] == 1 && counts["any C"] == 0)
        #expect(counts["not A7."] == 39 && counts["owner \(AttributeValue.null)"] == 3)
        #expect(counts["owner \(AttributeValue.string("O5"))"] == 50 && counts["in"] == 53)
        var changes = try fixture.changes()
        try fixture.update(movies[0], ["title": "A7.moved"], in: &changes)
        try fixture.update(movies[7 * 50], ["owner": .objectID(owners[1])], in: &changes)
        try fixture.update(owners[5], ["name": "O39b"], in: &changes)
        try fixture.update(movies[60], ["owner": .null], in: &changes)
        try fixture.save(changes)
        try fixture.delete(movies[61])
        let after = try fixture.store.read(at: try fixture.store.head(), checkAll)
        #expect(after["any A7."] == 3 && after["owner \(AttributeValue.null)"] == 4)
        #expect(after["owner \(AttributeValue.string("O5"))"] == 0)
        // Through the lag layer now.
        #expect(try fixture.store.read(at: before, checkAll) == counts)
    }

    /// A count behind a to-one is missing where that leads nowhere; an owner always has one.
    @Test func aCountBehindAToOneThatLeadsNowhereIsNil() throws {
        try fixture.store.read(at: try fixture.store.head()) { (snapshot: Snapshot) throws -> Void in
            let path = "owner.movies.@count"
            #expect(try found("Movie", .equal(path, .null), snapshot) == Array(movies.suffix(3)))
            #expect(try found("Movie", .notEqual(path, .null), snapshot).count == 2000)
            #expect(try found("Movie", .equal(path, 50), snapshot).count == 2000)
            #expect(try found("Movie", .equal(path, 0), snapshot) == [])
            #expect(try found("Movie", .notEqual(path, 50), snapshot) == [])
            #expect(try found("Movie", .isIn(path, [.null, 7]), snapshot).count == 3)
            #expect(try found("Movie", !.equal(path, 50), snapshot).count == 3)
            #expect(try found("Owner", .equal("movies.@count", .null), snapshot) == [])
            #expect(try found("Owner", .notEqual("movies.@count", .null), snapshot).count == 40)
        }
    }
}
