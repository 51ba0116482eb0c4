import Foundation
import LMDB
import StrataModel
import Testing

@testable import StrataGraph
@testable import StrataStore

/// A file whose links lead astray: whoever goes through members gets an error, and no crash.
struct DamagedLinkTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let owner: FamilyMember

    init() throws {
        container = try PersistentContainer(
            name: "Damaged", entities: [Movie.self, FamilyMember.self], at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        let writer = container.newBackgroundContext()
        let made = FamilyMember(context: writer)
        made.name = "Anna"
        for number in 0..<3 {
            let movie = Movie(context: writer)
            movie.title = "film \(number)"
            movie.familyMember = made
        }
        try writer.save()
        context = container.newBackgroundContext()
        owner = try context.existingObject(with: made.objectID, as: FamilyMember.self)
    }

    /// Enters a link from the owner to something else.
    private func link(to member: ObjectID) throws {
        let file = context.binding.store.file
        let relationship = try #require(owner._entity.properties.first { $0.name == "favoriteMovies" })
        try file.environment.write { transaction in
            try StoreKey.withLink(relationship.id, owner: owner.objectID, position: nil, member: member) { key in
                try transaction.put(file.tables.links.main, key, UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
    }

    private func expectCorrupt(_ message: String) {
        let error = #expect(throws: StrataError.self) { try context.save() }
        let told = [error?.message ?? ""] + (error?.details ?? []).map(\.message)
        #expect(told.contains { $0.contains(message) }, "\(told)")
    }

    @Test(arguments: [UInt16(40_000), 0]) func aMemberOfNoEntityOrOfAnotherIsPassedOverAndTold(entity: UInt16) throws {
        // An entity that no model has, and that of the owner itself.
        let id = entity == 0 ? owner.objectID.entityID : EntityID(rawValue: entity)
        try link(to: ObjectID(entity: id, row: 1))
        #expect(owner.favoriteMovies.map(\.title) == ["film 0", "film 1", "film 2"])
        expectCorrupt("another entity")
    }

    @Test func prefetchingPassesItOverToo() throws {
        try link(to: ObjectID(entity: EntityID(rawValue: 40_000), row: 1))
        var request = FetchRequest<FamilyMember>()
        request.relationshipKeyPathsForPrefetching = ["favoriteMovies"]
        #expect(try context.fetch(request).first?.favoriteMovies.count == 3)
        expectCorrupt("another entity")
    }

    /// Says that the owner has so many movies.
    private func count(_ number: UInt64) throws {
        let file = context.binding.store.file
        let relationship = try #require(owner._entity.properties.first { $0.name == "favoriteMovies" })
        try file.environment.write { transaction in
            try CounterKey.members(relationship.id, owner: owner.objectID).withBytes { key in
                try withUnsafeBytes(of: number.littleEndian) { try transaction.put(file.tables.counts, key, $0) }
            }
        }
    }

    @Test func whereMoreAreCountedThanLinkedTheOthersReadAsEmpty() throws {
        try count(5)
        #expect(owner.favoriteMovies.count == 5)
        #expect(owner.favoriteMovies.map(\.title) == ["film 0", "film 1", "film 2", "", ""])
        #expect(owner.favoriteMovies.count == 5)
        expectCorrupt("fewer members")
    }

    /// The standard library ends the process where a collection has fewer elements than it counts.
    @Test func everyWalkMeetsAsManyMembersAsAreCounted() throws {
        try count(5)
        let titles = ["film 0", "film 1", "film 2", "", ""]
        #expect(owner.favoriteMovies.count == 5)
        #expect(Array(owner.favoriteMovies).map(\.title) == titles)
        #expect([owner].flatMap(\.favoriteMovies).map(\.title) == titles)
        #expect(owner.favoriteMovies.sorted { $0.title > $1.title }.map(\.title) == titles.sorted(by: >))
        #expect(Array(owner.favoriteMovies.enumerated()).count == 5)
        #expect(Array([owner.favoriteMovies, owner.favoriteMovies].joined()).count == 10)
        expectCorrupt("fewer members")
    }

    @Test func whatWasLostIsForgottenWhenTheCounterIsMended() throws {
        try count(5)
        #expect(owner.favoriteMovies.count == 5 && owner.favoriteMovies.map(\.title).count == 5)
        try count(3)
        let writer = container.newBackgroundContext()
        try writer.existingObject(with: owner.objectID, as: FamilyMember.self).name = "Hanna"
        try writer.save()
        context.refresh(owner, mergeChanges: false)
        #expect(owner.favoriteMovies.map(\.title) == ["film 0", "film 1", "film 2"])
        #expect(owner.favoriteMovies.count == 3)
    }

    @Test func changesOnTopOfWhatWasLostAreCounted() throws {
        try count(5)
        #expect(owner.favoriteMovies.count == 5 && owner.favoriteMovies.map(\.title).count == 5)
        let fourth = Movie(context: context)
        owner.favoriteMovies.insert(fourth)
        #expect(owner.favoriteMovies.count == 6)
        owner.favoriteMovies.remove(fourth)
        #expect(owner.favoriteMovies.count == 5)
    }
}
