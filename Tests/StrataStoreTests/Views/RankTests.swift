import Foundation
import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Ranks in orders of views.
@Suite struct RankTests {
    private let order: [UInt8] = [0, 0, 0, 9, 2]

    /// A store whose tables get entries that no event made, so it is not verified.
    private func store() throws -> Store { try Store.open(.inMemory, model: try FilmViews.model()) }

    /// All records of an order and its counts.
    private func records(_ tables: ViewTables, _ transaction: ReadTransaction) throws -> [[UInt8]: [UInt8]] {
        var found: [[UInt8]: [UInt8]] = [:]
        try transaction.withCursor(tables.orders) { cursor in
            var isThere = try cursor.first()
            while isThere {
                if cursor.key.starts(with: order.prefix(4)) { found[Array(cursor.key)] = Array(cursor.value) }
                isThere = try cursor.next()
            }
        }
        return found
    }

    private func change(
        _ inserted: Set<[UInt8]>, _ removed: Set<[UInt8]>, _ levels: RankLevels, _ store: Store
    ) throws {
        try store.file.writeDirectly { transaction in
            let table = try #require(store.file.tables.views).orders
            let cursor = try transaction.writeCursor(table)
            defer { cursor.close() }
            var ranks = try RankWriter(table, transaction, levels)
            for rest in inserted.union(removed).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                try (order + rest).withUnsafeBytes { key in
                    if inserted.contains(rest) {
                        try withUnsafeBytes(of: UInt16(1)) { try cursor.put(key, $0) }
                        try ranks.insert(key)
                    } else {
                        #expect(try cursor.seek(to: key))
                        try cursor.delete()
                        try ranks.remove(key)
                    }
                }
            }
            try ranks.finish()
        }
    }

    @Test(arguments: RandomTesting.seeds, [1, 2, 5])
    func countsAreAFunctionOfTheEntries(seed: UInt64, bits: Int) throws {
        var generator = SeededGenerator(seed: seed &+ UInt64(bits))
        let levels = RankLevels(bits: bits, count: 4)
        let first = try store()
        defer { first.close() }
        var entries: Set<[UInt8]> = []
        for step in 0..<25 {
            var (inserted, removed): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
            let isShrinking = step % 7 == 6
            for _ in 0..<Int.random(in: 1...40, using: &generator) where !isShrinking {
                let size = Int.random(in: 1...3, using: &generator)
                let rest = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
                if !entries.contains(rest) { inserted.insert(rest) }
            }
            for rest in entries.sorted(by: { $0.lexicographicallyPrecedes($1) })
            where Int.random(in: 0..<(isShrinking ? 2 : 9), using: &generator) == 0 {
                removed.insert(rest)
            }
            if step == 24 { (inserted, removed) = ([], entries) }
            try change(inserted, removed, levels, first)
            entries = entries.subtracting(removed).union(inserted)
            let sorted = entries.sorted { $0.lexicographicallyPrecedes($1) }
            let another = try store()
            defer { another.close() }
            try change(entries, [], levels, another)
            try first.file.read { transaction, _, _ in
                let tables = try #require(first.file.tables.views)
                let found = try records(tables, transaction)
                try another.file.read { other, _, _ in
                    let views = try #require(another.file.tables.views)
                    #expect(try found == records(views, other), "seed \(seed), step \(step)")
                }
                let reader = RankReader(
                    order: order, transaction: transaction, table: tables.orders, levels: levels)
                #expect(try reader.count(below: nil) == sorted.count)
                for (index, rest) in sorted.enumerated() where index % 5 == step % 5 {
                    #expect(try reader.count(below: rest) == index && reader.entry(at: index) == rest)
                    #expect(try reader.count(below: rest + [0]) == index + 1)
                }
                #expect(try reader.entry(at: sorted.count) == nil)
                if entries.isEmpty { #expect(found.isEmpty) }
            }
        }
    }

    @Test func aRankIsAmongThoseOfTheCondition() throws {
        let fixture = try StoreFixture(model: try FilmViews.model([FilmViews.ranks]))
        let studio = try fixture.insert("Studio", ["name": .string("x")])
        var films: [ObjectID] = []
        for number in 0..<200 {
            films.append(
                try fixture.insert(
                    "Film",
                    [
                        "rating": .double(Double(number / 2)),
                        "studio": number % 2 == 0 ? .objectID(studio) : .null,
                    ]))
        }
        let own = ViewRequest(
            "Ranks", where: try FetchPredicate(format: "studio == %@", studio),
            sortedBy: [SortDescription("rating", isAscending: false)])
        let all = ViewRequest("Ranks", sortedBy: [SortDescription("rating", isAscending: false)])
        try fixture.store.read(at: try fixture.store.head()) { snapshot in
            let row = try FetchPredicate(format: "work == %@", films[190])
            #expect(try snapshot.rank(of: row, in: own) == ViewRank(rank: 5, index: 4, count: 100))
            let both = try FetchPredicate(format: "work == %@ AND studio == %@", films[190], studio)
            #expect(try snapshot.rank(of: both, in: all)?.rank == 9)
            #expect(try snapshot.rank(of: try FetchPredicate(format: "work == %@", films[191]), in: own) == nil)
            let around = try #require(try snapshot.rows(around: row, before: 1, after: 1, in: own))
            #expect(around.rows.map { $0[$0.startIndex + 2] } == [.double(96), .double(95), .double(94)])
            #expect("\(around.rank)" == "5 of 100")
            for (request, row) in [
                (own, try FetchPredicate(format: "work > %@", films[190])), (own, both),
                (ViewRequest("Ranks", sortedBy: [SortDescription("year")]), both),
                (ViewRequest("Ranks", where: try FetchPredicate(format: "year > 3"), sortedBy: all.sort), both),
            ] {
                #expect { _ = try snapshot.rank(of: row, in: request) } throws: {
                    ($0 as? StrataError)?.code == .invalidRequest
                }
            }
        }
        #expect(try fixture.store.verify().isSound && fixture.store.rebuild().isUnchanged)
    }
}
