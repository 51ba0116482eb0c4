import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

@Suite struct LogSalvageTests {
    @Test func whatIsDamagedBehindTheFaultIsCounted() throws {
        let damaged = try DamagedStore()
        let bob = try damaged.fixture.insert("Owner", ["name": .string("Bob")])
        let rocky = try damaged.fixture.insert("Movie", ["title": .string("Rocky"), "owner": .objectID(bob)])
        // The fault: the event that made Heat, after those of the model, Ann, the tag and Alien.
        let event = try damaged.records("events")[4]
        try damaged.put("events", event.key, event.value.dropLast() + [event.value[event.value.count - 1] ^ 1])
        // Rows behind it: Bob's has another bit, so Rocky's owner is lost.
        for row in try damaged.records("objects") where row.key.withUnsafeBytes({ StoreKey.objectID($0, at: 0) }) == bob
        {
            try damaged.put("objects", row.key, row.value.dropLast() + [row.value[row.value.count - 1] ^ 1])
        }
        damaged.store.close()
        let salvage = try LogSalvage(damaged.directory.path(percentEncoded: false))
        defer { #expect(throws: Never.self) { try salvage.close() } }
        let finding = try salvage.examine(through: nil, note: { _ in })
        let end = try #require(finding.end)
        #expect(end.lastEvent.rawValue == 4 && finding.problem != nil)
        let target = damaged.directory.deletingLastPathComponent().appending(
            component: "salvaged-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: target) }
        _ = try salvage.write(through: end, to: target)
        let store = try Store.open(.directory(target), model: nil)
        defer { store.close() }
        let (changes, passedOver) = try salvage.changes(after: end.lastEvent, for: store)
        #expect(passedOver == PassedOver(records: 1, links: 1, tables: []))
        #expect(changes.objects[bob] == nil && changes.objects[damaged.heat]?.existsAfter == true)
        let movie = try #require(store.schema.entity(named: "Movie"))
        let owner = try #require(movie.properties.first { $0.name == "owner" })
        #expect(changes.objects[rocky]?.values[owner.id]?.after == .null)
        #expect(changes.pairs.count == 1)
    }
}
