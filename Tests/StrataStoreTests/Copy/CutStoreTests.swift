import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// A file that has lost its end gives back every transaction whose events are there, whether it was compacted or not,
/// and what else its pages have.
@Suite struct CutStoreTests {
    private let directory = FileManager.default.temporaryDirectory.appending(
        component: "cut-\(UUID().uuidString).strata", directoryHint: .isDirectory)

    private enum Kind: CaseIterable { case ordinary, compacted }

    private func removed(_ url: URL) { try? FileManager.default.removeItem(at: url) }

    /// Owners, movies and tags with a history of links, changes and deletions.
    private func fill(_ fixture: StoreFixture, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var owners: [ObjectID] = []
        var tags: [ObjectID] = []
        for number in 0..<6 { owners.append(try fixture.insert("Owner", ["name": .string("Owner \(number)")])) }
        for number in 0..<6 { tags.append(try fixture.insert("Tag", ["label": .string("tag \(number)")])) }
        var movies: [ObjectID] = []
        for step in 0..<30 {
            var changes = try fixture.changes()
            for number in 0..<10 {
                let owner = owners[Int.random(in: 0..<owners.count, using: &generator)]
                movies.append(
                    try fixture.insert(
                        "Movie",
                        [
                            "title": .string("Movie \(step) \(number) " + String(repeating: "x", count: number * 30)),
                            "owner": .objectID(owner),
                        ], into: &changes))
            }
            try fixture.save(changes)
            let movie = movies[Int.random(in: 0..<movies.count, using: &generator)]
            let tag = tags[step % tags.count]
            try fixture.link(movie, "tags", tag, place: Int64(step))
            if step % 3 == 0 { try fixture.unlink(movie, "tags", tag) }
            try fixture.update(movies[movies.count - 1], ["rating": .double(Double(step))])
            if step % 4 == 1 { try fixture.delete(movies.remove(at: movies.count - 2)) }
        }
    }

    /// Values of all objects, and members of all tags.
    private func contents(_ store: Store, _ changes: NetChanges = NetChanges()) throws -> [String: String] {
        var found: [String: String] = [:]
        try store.read(at: try store.head()) { snapshot in
            for entity in store.schema.entities {
                try snapshot.scan(entity.id) { id, row in
                    let values = try row.converted(to: entity).bytes.withUnsafeBytes { bytes in
                        let reader = try RowReader(bytes, layout: entity.layout)
                        return try entity.properties.filter { $0.storage != nil }.map {
                            "\($0.name)=\(try reader.value($0.slot))"
                        }
                    }
                    found["\(id)"] = values.sorted().joined(separator: ";")
                    return true
                }
            }
            let tags = try #require(store.schema.entity(named: "Tag"))
            let movies = try #require(tags.property(named: "movies"))
            var ids: [ObjectID] = []
            try snapshot.scan(tags.id) { id, _ in
                ids.append(id)
                return true
            }
            for id in ids { found["movies of \(id)"] = "\(try snapshot.members(of: movies.id, owner: id))" }
        }
        return found
    }

    private struct Sound {
        let bytes: Data
        let contents: [String: String]
        let events: [[UInt8]]
        /// The last event of each transaction.
        let ends: [UInt64]
    }

    private func made(_ kind: Kind, seed: UInt64) throws -> Sound {
        let fixture = try StoreFixture(.directory(directory))
        try fill(fixture, seed: seed)
        let store = fixture.store
        let tables = store.file.tables
        func records(_ table: Table) throws -> [[UInt8]] {
            try store.file.environment.read { transaction in
                try transaction.withCursor(table) { cursor in
                    var records: [[UInt8]] = []
                    var found = try cursor.first()
                    while found {
                        records.append(Array(cursor.value))
                        found = try cursor.next()
                    }
                    return records
                }
            }
        }
        let ends = try records(tables.transactions).enumerated().map { number, bytes in
            try bytes.withUnsafeBytes {
                try TransactionRecord($0, number: TransactionNumber(rawValue: UInt64(number) + 1)).lastEvent.rawValue
            }
        }
        let (all, events) = (try contents(store), try records(tables.events))
        var file = directory.appending(component: "data.mdb")
        if kind == .compacted {
            let copy = directory.appending(component: "copy", directoryHint: .isDirectory)
            try store.file.environment.copy(to: copy.path(percentEncoded: false), .compacting)
            file = copy.appending(component: "data.mdb")
        }
        store.close()
        return Sound(bytes: try Data(contentsOf: file), contents: all, events: events, ends: ends)
    }

    @Test(arguments: RandomTesting.seeds.prefix(2)) func aCutFileGivesBackWhatIsThere(seed: UInt64) throws {
        for kind in Kind.allCases {
            defer { removed(directory) }
            let sound = try made(kind, seed: seed)
            for percent in [1, 2, 5, 10, 20, 30, 45, 60] {
                try expectSalvage(
                    of: sound, keeping: sound.bytes.count * (100 - percent) / 100, "\(kind), \(percent) %")
            }
        }
    }

    /// The roots and every inner page are gone, so that only leaves are there, and the blocks on them.
    @Test(arguments: RandomTesting.seeds.prefix(2)) func blocksAreFoundWhenTheTreesAreLost(seed: UInt64) throws {
        defer { removed(directory) }
        let fixture = try StoreFixture(.directory(directory))
        try fill(fixture, seed: seed)
        let store = fixture.store
        try EventBlockStoreTests.pack(store)
        #expect(try store.plannedUpgrade().before.blockCount > 0)
        let (all, head) = (try contents(store), try store.head())
        let events = try EventBlockStoreTests.events(store)
        // Without pages of before, which have the events by themselves.
        let copy = directory.appending(component: "copy", directoryHint: .isDirectory)
        try store.file.environment.copy(to: copy.path(percentEncoded: false), .compacting)
        store.close()
        let file = copy.appending(component: "data.mdb")
        var bytes = try Data(contentsOf: file)
        var lost = 0
        for page in 0..<bytes.count / 4096 {
            let start = page * 4096
            let isBranch = bytes.withUnsafeBytes { bytes in
                bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self) == UInt64(page)
                    && bytes.loadUnaligned(fromByteOffset: start + 10, as: UInt16.self) & 0xF == 1
            }
            guard page < 2 || isBranch else { continue }
            bytes.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
            lost += 1
        }
        #expect(lost > 2)
        try bytes.write(to: file)
        let target = directory.appending(component: "target", directoryHint: .isDirectory)
        let salvage = try LogSalvage(copy.path(percentEncoded: false))
        defer { #expect(throws: Never.self) { try salvage.close() } }
        let finding = try salvage.examine(through: nil, note: { _ in })
        #expect(finding.end?.lastEvent == head)
        let report = try salvage.write(through: finding, to: target)
        #expect(report.verification.problems == [])
        let found = try Store.open(.directory(target), model: nil)
        defer { found.close() }
        #expect(try contents(found) == all)
        #expect(try EventBlockStoreTests.events(found) == events)
    }

    private func expectSalvage(of sound: Sound, keeping size: Int, _ place: Comment) throws {
        let damaged = directory.appending(component: "damaged", directoryHint: .isDirectory)
        let target = directory.appending(component: "target", directoryHint: .isDirectory)
        defer {
            removed(damaged)
            removed(target)
        }
        try FileManager.default.createDirectory(
            at: damaged, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let bytes = sound.bytes.prefix(size)
        try bytes.write(to: damaged.appending(component: "data.mdb"))
        chmod(damaged.appending(component: "data.mdb").path(percentEncoded: false), 0o600)
        let isThere = try events(of: sound, in: damaged.appending(component: "data.mdb"))
        let known = UInt64(isThere.firstIndex(of: false) ?? isThere.count)
        let salvage = try LogSalvage(damaged.path(percentEncoded: false))
        defer { #expect(throws: Never.self, place) { try salvage.close() } }
        let finding = try salvage.examine(through: nil, note: { _ in })
        let end = finding.end?.lastEvent.rawValue ?? 0
        // Of the last transaction it may be unknown whether it is whole.
        let whole = sound.ends.filter { $0 <= known }
        #expect(whole.suffix(2).contains(end) || whole.isEmpty && end == 0, "\(place): \(end) of \(known)")
        guard let last = finding.end else { return }
        let report = try salvage.write(through: finding, to: target)
        #expect(report.verification.problems == [], place)
        let store = try Store.open(.directory(target), model: nil)
        defer { store.close() }
        let (changes, _) = try salvage.changes(after: last.lastEvent, for: store)
        if Int(known) == sound.events.count, end == known {
            #expect(try contents(store) == sound.contents, place)
            #expect(changes.isEmpty, place)
        }
        // What an event inserts that is there exists, unless it was deleted.
        try expectObjects(of: sound, isThere, in: store, changes, place)
    }

    /// Which events of a store are entries of a page of a file.
    private func events(of sound: Sound, in file: URL) throws -> [Bool] {
        var isThere = sound.events.map { _ in false }
        let scan = try LeafScan(path: file.path(percentEncoded: false))
        scan.forEachEntry { key, location in
            guard key.count == 8 else { return }
            let number = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
            guard number >= 1, number <= isThere.count, let bytes = scan.bytes(at: location) else { return }
            if bytes == sound.events[Int(number) - 1] { isThere[Int(number) - 1] = true }
        }
        return isThere
    }

    private func expectObjects(
        of sound: Sound, _ isThere: [Bool], in store: Store, _ changes: NetChanges, _ place: Comment
    ) throws {
        var expected: [ObjectID: Bool] = [:]
        for (event, isThere) in zip(sound.events, isThere) where isThere {
            let header = try event.withUnsafeBytes { try EventView($0).header }
            if header.kind == .inserted { expected[header.object] = true }
            if header.kind == .deleted { expected[header.object] = false }
        }
        try store.read(at: try store.head()) { snapshot in
            for (id, exists) in expected {
                let isKnown = try snapshot.exists(id)
                let isSaved = changes.objects[id]?.existsAfter ?? isKnown
                // A deletion whose event is lost may be known from the table of deletions.
                let isGone = !isSaved && sound.contents["\(id)"] == nil
                #expect(isSaved == exists || isGone, "\(place): \(id)")
            }
        }
    }
}
