import Foundation
import StrataGraph
import StrataModel
import Testing

@testable import StrataStore

/// A store as an earlier version left it after a migration: its many-to-manys have members of an entity that has left the
/// model.
final class DanglingPairs {
    let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)
    private let log: SharedLogConnection?

    /// - Parameter log: which the store shares.
    init(_ log: SharedLogConnection? = nil) { self.log = log }

    deinit { try? FileManager.default.removeItem(at: url) }

    func container(
        _ hasGone: Bool, isReadOnly: Bool = false, named name: String = "", timeout: Duration = .seconds(10)
    ) throws -> PersistentContainer {
        let place = name.isEmpty ? url : url.deletingLastPathComponent().appending(path: name)
        return PersistentContainer(
            name: "Test", model: try Self.model(hasGone), at: .url(place),
            options: .init(
                durability: .disposable, isReadOnly: isReadOnly, timeout: timeout, migration: .automatic,
                allowsModelDowngrade: hasGone, log: isReadOnly ? nil : log.map { PersistentStoreLog($0) }))
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
    func make() throws -> Int {
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
        return try Self.linkAgain(new.store)
    }

    /// Links again what the newest transaction, a migration, has unlinked.
    ///
    /// - Returns: how many pairs there are.
    static func linkAgain(_ store: Store) throws -> Int {
        var found: [PairEvent] = []
        let migration = try #require(try store.transactions(before: nil, limit: 1).first)
        try store.events(from: migration.firstEvent, through: migration.lastEvent) { event in
            if case .unlinked(let pair) = event.payload { found.append(pair) }
            return true
        }
        let dangling = found
        try store.onWriter {
            try store.file.write { transaction in
                var head = try store.file.readHead(transaction)
                let histories = try store.file.histories(for: head, transaction)
                var projector = Projector(tables: store.file.tables, histories: histories, tracking: .independent)
                var events = EventList(transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
                var touched = TouchedSet()
                for pair in dangling {
                    var payload = ByteWriter()
                    payload.append(pair: pair)
                    events.append(.linked, pair.key.source, previous: .zero, payload)
                    touched.add(pair.key.source.entityID, .linked, pair.key.property)
                    touched.add(pair.key.target.entityID, .linked, pair.key.property)
                }
                let description = TransactionDescription(id: .ofTransaction(), touched: touched.records)
                _ = try LogWriter.append(events, description, after: &head, store.file, transaction, &projector)
            }
        }
        return dangling.count
    }

    static func names(_ object: ManagedObject, _ key: String) throws -> [String] {
        let value = try object.value(forKey: key)
        let members = (value as? [ManagedObject]) ?? Array((value as? Set<ManagedObject>) ?? [])
        return try members.map { try $0.value(forKey: "name") as? String ?? "-" }.sorted()
    }

    static func owner(_ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Owner")).first)
    }
}
