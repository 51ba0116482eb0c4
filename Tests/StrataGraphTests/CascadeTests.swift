import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Cascades walk ids and rows: an object is made only where a class wants to hear of it.
@Suite(.verifiesStores) struct CascadeTests {
    /// An owner with `count` movies, saved.
    private func owner(of count: Int, in container: PersistentContainer) throws -> ObjectID {
        let context = container.newBackgroundContext()
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        for number in 0..<count {
            let movie = Movie(context: context)
            movie.title = "\(number)"
            movie.familyMember = owner
        }
        try context.save()
        return owner.objectID
    }

    private let movies: FetchRequest<Movie>

    init() throws { movies = try FetchRequest(sortedBy: [SortDescription("title")]) }

    @Test func deletingAnOwnerOfTenThousandMakesNoMember() throws {
        let container = try makeContainer()
        let id = try owner(of: 10_000, in: container)
        let context = container.newBackgroundContext()
        let owner = try context.existingObject(with: id)
        context.delete(owner)
        #expect(context.registeredObjects == [owner] && context.hasChanges)
        #expect(context.deletedObjectIDs.count == 10_001)
        #expect(try context.count(for: movies) == 0 && context.fetch(movies).isEmpty)
        try context.save()
        #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        #expect(try container.newBackgroundContext().count(for: movies) == 0)
    }

    @Test func aMemberThatIsAskedForIsADeletedObject() throws {
        let container = try makeContainer()
        let id = try owner(of: 3, in: container)
        let context = container.newBackgroundContext()
        let ids = try container.newBackgroundContext().fetch(movies).map(\.objectID)
        context.delete(try context.existingObject(with: id))
        #expect(context.registeredObject(for: ids[0]) == nil)
        #expect(thrownError { _ = try context.existingObject(with: ids[0]) }?.code == .referentialIntegrity)
        #expect(context.registeredObject(for: ids[0]) == nil && context.deletedObjectIDs.count == 4)
        let movie = try #require(context.object(with: ids[1]) as? Movie)
        #expect(movie.isDeleted && movie.title == "1" && movie.hasChanges)
        movie.title = "other"
        #expect(movie.title == "1" && context.unreportedErrors.isEmpty)
        #expect(context.deletedObjects.count == 4 && context.deletedObjectIDs.count == 4)
        #expect(context.registeredObjects.count == 4)
        try context.save()
        #expect(movie.managedObjectContext == nil && movie.title == "1")
        #expect(try container.newBackgroundContext().count(for: movies) == 0)
    }

    @Test func rollbackBringsThemBack() throws {
        let container = try makeContainer()
        let id = try owner(of: 5, in: container)
        let context = container.newBackgroundContext()
        let owner = try context.existingObject(with: id, as: FamilyMember.self)
        context.delete(owner)
        let asked = context.object(with: try container.newBackgroundContext().fetch(movies)[2].objectID)
        #expect(try context.count(for: movies) == 0 && asked.isDeleted)
        context.rollback()
        #expect(!context.hasChanges && context.deletedObjectIDs.isEmpty && !asked.isDeleted)
        #expect(try context.fetch(movies).map(\.title) == ["0", "1", "2", "3", "4"] && owner.favoriteMovies.count == 5)
        (asked as? Movie)?.title = "9"
        try context.save()
        #expect(try container.newBackgroundContext().count(for: movies) == 5)
    }

    @Test func thoseWhoListenHearTheIDsOnce() throws {
        let container = try makeContainer()
        let id = try owner(of: 4, in: container)
        let context = container.newBackgroundContext()
        var heard: [ContextEvent: [ContextChanges]] = [:]
        let observations = ContextEvent.allCases.map { event in
            context.observe(event) { heard[event, default: []].append($0) }
        }
        let owner = try context.existingObject(with: id)
        context.delete(owner)
        context.processPendingChanges()
        let changed = try #require(heard[.objectsDidChange]?.first)
        #expect(changed.deletedObjectIDs.count == 5 && changed.deleted == [owner])
        _ = context.deletedObjects
        context.processPendingChanges()
        #expect(heard[.objectsDidChange]?.count == 1)
        context.rollback()
        #expect(heard[.objectsDidChange]?.last?.refreshedObjectIDs.count == 5)
        context.delete(owner)
        for movie in context.registeredObjects where movie !== owner { #expect(movie.isDeleted) }
        try context.save()
        #expect(heard[.willSave]?.first?.deletedObjectIDs.count == 5)
        #expect(heard[.didSave]?.first?.deletedObjectIDs.count == 5)
        withExtendedLifetime(observations) {}
    }

    @Test func whatOthersChangedIsAConflictOfThatMember() throws {
        let container = try makeContainer()
        let id = try owner(of: 4, in: container)
        let context = container.newBackgroundContext()
        context.delete(try context.existingObject(with: id))
        let other = container.newBackgroundContext()
        let movie = try other.fetch(movies)[1]
        movie.rating = 5
        try other.save()
        let error = thrownError { try context.save() }
        #expect(error?.code == .merge && error?.context.conflicts.map(\.objectID) == [movie.objectID])
        #expect(error?.context.conflicts.first?.properties.map(\.name) == ["rating"])
        #expect(context.deletedObjectIDs.count == 5)
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(try container.newBackgroundContext().fetch(movies).isEmpty)
    }

    @Test func aMemberThatOthersAddedGoesToo() throws {
        let container = try makeContainer()
        let id = try owner(of: 4, in: container)
        let context = container.newBackgroundContext()
        let owner = try context.existingObject(with: id)
        context.delete(owner)
        let other = container.newBackgroundContext()
        let movie = Movie(context: other)
        movie.title = "late"
        movie.familyMember = try other.existingObject(with: id, as: FamilyMember.self)
        try other.save()
        try context.save()
        #expect(try container.newBackgroundContext().count(for: movies) == 0)
    }

    @Test func aDenyOfAMemberIsHeld() throws {
        let container = try Folders.container()
        let context = container.newBackgroundContext()
        let names = ["root", "branch", "leaf"]
        let folders = try names.map { name in
            let folder = try context.insertNewObject(forEntityName: "Folder")
            try folder.setValue(name, forKey: "name")
            return folder
        }
        try folders[1].setValue(folders[0], forKey: "parent")
        try folders[2].setValue(folders[1], forKey: "parent")
        let lock = try context.insertNewObject(forEntityName: "Lock")
        try lock.setValue("lock", forKey: "name")
        try lock.setValue(folders[2], forKey: "folder")
        try context.save()
        let other = container.newBackgroundContext()
        other.delete(try other.existingObject(with: folders[0].objectID))
        #expect(other.registeredObjects.count == 1)
        let error = thrownError { try other.save() }
        #expect(error?.code == .validationRelationshipDeniedDelete && error?.context.key == "locks")
        #expect(
            error?.context.objectID == folders[2].objectID && error?.context.objectValues?["name"] == .string("leaf"))
        other.delete(try other.existingObject(with: lock.objectID))
        try other.save()
        #expect(try Folders.state(container.newBackgroundContext()).isEmpty)
    }

    @Test func classesThatListenHearOfTheirDeletion() throws {
        let container = try makeContainer([Album.self, Picture.self])
        let context = container.newBackgroundContext()
        let album = Album(context: context)
        for number in 0..<3 {
            let picture = Picture(context: context)
            picture.number = number
            picture.album = album
        }
        try context.save()
        let other = container.newBackgroundContext()
        other.delete(try other.existingObject(with: album.objectID))
        let pictures = other.deletedObjects.compactMap { $0 as? Picture }
        #expect(other.registeredObjects.count == 4 && pictures.map(\.heard) == Array(repeating: ["prepare"], count: 3))
        try other.save()
        #expect(pictures.map(\.heard) == Array(repeating: ["prepare", "willSave", "didSave"], count: 3))
    }

    /// The same work in two stores: in one every object is in memory, so that none is deleted as a row.
    @Test(arguments: RandomTesting.seeds)
    func rowsAndObjectsGoTheSameWay(_ seed: UInt64) throws {
        var rows = try CascadeRun(seed: seed, holdsObjects: false)
        var objects = try CascadeRun(seed: seed, holdsObjects: true)
        for step in 0..<15 {
            let (left, right) = (try rows.step(), try objects.step())
            #expect(left == right, "seed \(seed), step \(step)")
            guard left == right else { return }
        }
        #expect(rows.rowsDeleted > 0 && objects.rowsDeleted == 0)
    }
}

/// Random deletions in a random graph of folders.
private struct CascadeRun {
    private let container: PersistentContainer
    private var random: SeededGenerator
    private let holdsObjects: Bool
    private var number = 0
    /// How many objects were deleted without being made.
    private(set) var rowsDeleted = 0

    init(seed: UInt64, holdsObjects: Bool) throws {
        container = try Folders.container()
        random = SeededGenerator(seed: seed)
        self.holdsObjects = holdsObjects
    }

    private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    /// What the context saw before and after the save, and what the save said.
    mutating func step() throws -> [String] {
        try grow()
        let context = container.newBackgroundContext()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let held = holdsObjects ? try Folders.entityNames.flatMap { try Folders.all($0, context) } : []
        var ids = try Folders.entityNames.flatMap { try Folders.all($0, container.newBackgroundContext()) }
        var report: [String] = []
        if chance(2) == 0 { try change(context, ids) }
        for _ in 0...chance(2) where !ids.isEmpty {
            let root = ids.remove(at: chance(ids.count))
            guard !context.deletedObjectIDs.contains(root.objectID) else { continue }
            context.delete(try context.existingObject(with: root.objectID))
        }
        rowsDeleted += context.deletedObjectIDs.filter { context.registeredObject(for: $0) == nil }.count
        if chance(2) == 0 { report += try Folders.state(context) }
        if chance(4) == 0 { _ = context.deletedObjects }
        if chance(3) == 0 { try disturb() }
        if chance(5) == 0 { context.rollback() }
        do {
            try context.save()
        } catch let error as StrataError {
            let all = error.details.isEmpty ? [error] : error.details
            report += all.map { "\($0.code) \($0.context.entityName ?? "") \($0.context.key ?? "")" }.sorted()
            report += try Folders.state(context)
        }
        withExtendedLifetime(held) {}
        return report + ["saved"] + (try Folders.state(container.newBackgroundContext()))
    }

    /// Adds folders and what hangs on them.
    private mutating func grow() throws {
        let context = container.newBackgroundContext()
        for _ in 0..<8 {
            let folders = try Folders.all("Folder", context)
            let folder = try make("Folder", context)
            guard !folders.isEmpty else { continue }
            if chance(4) > 0 { try folder.setValue(folders[chance(folders.count)], forKey: "parent") }
            if chance(3) == 0 { try folder.setValue(folders[chance(folders.count)], forKey: "next") }
            if chance(3) == 0 { try folder.setValue(folders[chance(folders.count)], forKey: "origin") }
            if chance(3) == 0 { try folder.setValue([try make("Tag", context)] + some("Tag", context), forKey: "tags") }
            if chance(3) == 0 { try folder.setValue([try make("Key", context)] + some("Key", context), forKey: "keys") }
            if chance(12) == 0 { try make("Lock", context).setValue(folder, forKey: "folder") }
            if chance(4) == 0 { try folder.setValue(try make("Cover", context), forKey: "cover") }
            let crates = try chance(5) == 0 ? [make("Crate", context)] : some("Crate", context)
            if let crate = crates.first { try folder.setValue(crate, forKey: "crate") }
        }
        try context.save()
    }

    private mutating func some(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        let all = try Folders.all(entity, context)
        return all.isEmpty ? [] : [all[chance(all.count)]]
    }

    private mutating func make(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        number += 1
        let object = try context.insertNewObject(forEntityName: entity)
        try object.setValue("\(entity) \(1000 + number)", forKey: "name")
        return object
    }

    /// Unsaved changes before a deletion: another parent, a new child, another link.
    private mutating func change(_ context: ManagedObjectContext, _ all: [ManagedObject]) throws {
        let folders = all.filter { $0.entity.name == "Folder" }
        guard folders.count > 2 else { return }
        let chosen = try (0..<3).map { _ in
            try context.existingObject(with: folders[chance(folders.count)].objectID)
        }
        try chosen[0].setValue(chosen[1], forKey: "parent")
        try make("Folder", context).setValue(chosen[1], forKey: "parent")
        try chosen[2].setValue([try make("Tag", context)], forKey: "tags")
    }

    /// Somebody else saves in between: a folder more below one that may be going.
    private mutating func disturb() throws {
        let context = container.newBackgroundContext()
        let folders = try Folders.all("Folder", context)
        guard !folders.isEmpty else { return }
        let parent = folders[chance(folders.count)]
        try make("Folder", context).setValue(parent, forKey: "parent")
        if chance(2) == 0 { try parent.setValue(try Folders.name(parent) + "'", forKey: "name") }
        try context.save()
    }
}
