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
        // Without pages of before, on which the event would be found as it was.
        let compacted = damaged.directory.deletingLastPathComponent().appending(
            component: "compacted-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: compacted) }
        try FileManager.default.createDirectory(at: compacted, withIntermediateDirectories: true)
        try damaged.store.file.environment.copy(to: compacted.path(percentEncoded: false), .compacting)
        damaged.store.close()
        for name in ["data.mdb", "pages.sums"] {
            let file = damaged.directory.appending(component: name)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: compacted.appending(component: name), to: file)
        }
        let salvage = try LogSalvage(damaged.directory.path(percentEncoded: false))
        defer { #expect(throws: Never.self) { try salvage.close() } }
        let finding = try salvage.examine(through: nil, note: { _ in })
        let end = try #require(finding.end)
        #expect(end.lastEvent.rawValue == 4 && finding.problem != nil)
        let target = damaged.directory.deletingLastPathComponent().appending(
            component: "salvaged-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: target) }
        _ = try salvage.write(through: finding, to: target)
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

    /// Pages that LMDB has given up still hold the payload, and are searched too.
    @Test(arguments: [40, 40_000]) func aRemovedPayloadIsNotCarvedOutOfOldPages(size: Int) throws {
        let damaged = try DamagedStore()
        let secret = String(repeating: "forgotten ", count: size / 10)
        _ = try damaged.fixture.insert("Movie", ["title": .string(secret)])
        let place = try #require(try damaged.records("events").lastIndex { $0.value.count > size })
        let event = try damaged.records("events")[place]
        try damaged.put("events", event.key, DamagedStore.redacted(event.value))
        // The row, as redaction would take it away too.
        for row in try damaged.records("objects") where row.value.count > size {
            try damaged.remove("objects", row.key)
        }
        damaged.store.close()
        let path = damaged.directory.path(percentEncoded: false)
        var bytes = try Data(contentsOf: damaged.directory.appending(component: "data.mdb"))
        #expect(bytes.range(of: Data(secret.utf8)) != nil, "nothing is left to be carved out")
        bytes.replaceSubrange(0..<8192, with: Data(count: 8192))
        try bytes.write(to: damaged.directory.appending(component: "data.mdb"))
        let salvage = try LogSalvage(path)
        defer { #expect(throws: Never.self) { try salvage.close() } }
        let end = try #require(try salvage.examine(through: nil, note: { _ in }).end)
        #expect(end.lastEvent.rawValue == UInt64(place + 1), "the log is sound without the payload")
        let target = damaged.directory.deletingLastPathComponent().appending(
            component: "carved-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: target) }
        var carving = try LogCarving(file: path + "/data.mdb")
        try carving.write(to: target.path(percentEncoded: false))
        let carved = try Data(contentsOf: target.appending(component: "data.mdb"))
        #expect(carved.range(of: Data(secret.utf8)) == nil)
        #expect(carved.range(of: Data("Alien".utf8)) != nil)
    }
}
