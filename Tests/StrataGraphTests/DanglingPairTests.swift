import Foundation
import LMDB
import StrataGraph
import StrataModel
import Testing

@testable import StrataStore

/// Stores that an earlier version migrated: their many-to-manys have members of an entity that has left the model.
struct DanglingPairTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func container(_ hasGone: Bool, isReadOnly: Bool = false) throws -> PersistentContainer {
        PersistentContainer(
            name: "Test", model: try Self.model(hasGone), at: .url(url),
            options: .init(durability: .disposable, isReadOnly: isReadOnly, migration: .automatic))
    }

    private static func model(_ hasGone: Bool) throws -> ManagedObjectModel {
        func text(_ name: String) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: .string, isOptional: true))
        }
        func many(_ name: String, _ destination: String, _ inverse: String?) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: inverse == nil,
                    isToMany: true))
        }
        var base = EntityDescription(
            name: "Base",
            properties: [text("name"), many("owners", "Owner", "things"), many("friends", "Base", "friends")])
        base.isAbstract = true
        return try ManagedObjectModel(
            entities: [
                base, EntityDescription(name: "Kept", superentityName: "Base"),
                EntityDescription(
                    name: "Owner",
                    properties: [text("name"), many("things", "Base", "owners"), many("likes", "Base", nil)]),
            ] + (hasGone ? [EntityDescription(name: "Gone", superentityName: "Base")] : []))
    }

    /// An owner of a kept object, and of one whose entity is removed. What the migration unlinked is linked again.
    ///
    /// - Returns: how many links dangle.
    private func makeStore() throws -> Int {
        let old = try container(true)
        try withLoaded(old) { context in
            let owner = try context.insertNewObject(forEntityName: "Owner")
            try owner.setValue("Ann", forKey: "name")
            let things = try ["Kept", "Gone"].map { name in
                let thing = try context.insertNewObject(forEntityName: name)
                try thing.setValue(name, forKey: "name")
                return thing
            }
            try owner.setValue(Set(things), forKey: "things")
            try owner.setValue(Set(things), forKey: "likes")
            try things[1].setValue(Set(things), forKey: "friends")
        }
        let new = try container(false)
        try new.loadPersistentStores()
        defer { new.close() }
        let store = new.store
        var keys: [PairKey] = []
        let migration = try #require(try store.transactions(before: nil, limit: 1).first)
        try store.events(from: EventNumber(rawValue: 1), through: migration.lastEvent) { event in
            if case .unlinked(let pair) = event.payload { keys.append(pair.key) }
            return true
        }
        let dangling = keys
        try store.onWriter {
            try store.file.write { transaction in
                var head = try store.file.readHead(transaction)
                let histories = try store.file.histories(for: head, transaction)
                var projector = Projector(tables: store.file.tables, histories: histories, tracking: .independent)
                var events = EventList(transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
                var touched = TouchedSet()
                for key in dangling {
                    var payload = ByteWriter()
                    payload.append(pair: PairEvent(key: key, positions: PairPositions(inSource: 0, inTarget: 0)))
                    events.append(.linked, key.source, previous: .zero, payload)
                    touched.add(key.source.entityID, .linked, key.property)
                    touched.add(key.target.entityID, .linked, key.property)
                }
                let description = TransactionDescription(id: .ofTransaction(), touched: touched.records)
                _ = try LogWriter.append(events, description, after: &head, store.file, transaction, &projector)
            }
        }
        return dangling.count
    }

    private func names(_ object: ManagedObject, _ key: String) throws -> [String] {
        let value = try object.value(forKey: key)
        let members = (value as? [ManagedObject]) ?? Array((value as? Set<ManagedObject>) ?? [])
        return try members.map { try $0.value(forKey: "name") as? String ?? "-" }.sorted()
    }

    private func owner(_ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Owner")).first)
    }

    @Test func verificationNamesThemAndReadersPassOverThem() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try makeStore() == 4)
        let reading = try container(false, isReadOnly: true)
        try reading.loadPersistentStores()
        defer { reading.close() }
        let report = try reading.store.verify()
        #expect(report.problems.map(\.kind) == [.pair, .pair, .pair, .pair], "\(report)")
        #expect(report.problems.allSatisfy { $0.description.contains("has left the model") }, "\(report)")
        let context = reading.newBackgroundContext()
        for key in ["things", "likes"] { #expect(try names(owner(context), key) == ["Kept"]) }
        let kept = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Kept")).first)
        #expect(try names(kept, "friends").isEmpty)
        // Nothing is reported by the next fetch.
        #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Base")).count == 1)
    }

    @Test func openingForWritingUnlinksThem() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let count = try makeStore()
        let new = try container(false)
        let head = try withLoaded(new) { context in
            let events = try #require(try new.transactions().last)
            #expect(events.lastEvent.rawValue - events.firstEvent.rawValue + 1 == UInt64(count))
            #expect(events.contextName == "mending")
            let owner = try owner(context)
            for key in ["things", "likes"] { #expect(try names(owner, key) == ["Kept"]) }
            var counting = FetchRequest<ManagedObject>(entityName: "Owner")
            counting.predicate = try FetchPredicate(format: "things.@count == 1 AND likes.@count == 1")
            #expect(try context.count(for: counting) == 1)
            try owner.setValue(Set<ManagedObject>(), forKey: "things")
            try context.save()
            #expect(try new.store.rebuild().isUnchanged)
            return try new.head()
        }
        #expect(try withLoaded(new) { _ in try new.head() } == head)
    }

    /// Another process writes for longer than an opening waits.
    @Test func aStoreOpensAlsoWhereTheyCannotBeUnlinked() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        _ = try makeStore()
        let lock = open(url.appending(path: "writer.lock").path, O_RDWR)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let waiting = PersistentContainer(
            name: "Test", model: try Self.model(false), at: .url(url),
            options: .init(durability: .disposable, timeout: .milliseconds(200), migration: .automatic))
        try waiting.loadPersistentStores()
        let context = waiting.newBackgroundContext()
        #expect(try names(owner(context), "things") == ["Kept"])
        waiting.close()
        try #require(flock(lock, LOCK_UN) == 0)
        let free = try container(false)
        let last = try withLoaded(free) { _ in try free.transactions().last?.contextName }
        #expect(last == "mending")
    }

    /// The entity returns, and with it the links.
    @Test func aModelThatHasTheEntityAgainKeepsThem() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        _ = try makeStore()
        let old = PersistentContainer(
            name: "Test", model: try Self.model(true), at: .url(url),
            options: .init(durability: .disposable, migration: .automatic, allowsModelDowngrade: true))
        try withLoaded(old) { context in
            let things = try names(owner(context), "things")
            #expect(things == ["Gone", "Kept"])
        }
    }
}
