import Foundation
import StrataGraph
import StrataModel
import Testing

/// Where the policy takes a deletion back because others changed the object, all that the deletion did goes back with
/// it: deletions by cascades, cut links of every kind.
@Suite(.verifiesStores) struct ReturnedDeletionTests {
    enum Way: String, CaseIterable {
        /// Others saved into the store; the context has every object in memory.
        case saved
        /// The same, with nothing in memory but the deleted object.
        case savedRows
        /// The parent changed the object that its child deletes.
        case child
        case childRows
    }

    static let policies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .rollback, .custom("theirs") { _, _ in .theirs },
    ]

    private let container: PersistentContainer
    private let theirs: ManagedObjectContext
    private let folder: ObjectID
    private let ids: [String: ObjectID]

    init() throws {
        container = try Porting.container(FamilyModel.entities())
        let context = container.newBackgroundContext()
        theirs = context
        var made: [String: ManagedObject] = [:]
        func make(_ entity: String, _ name: String, _ values: [String: Any?] = [:]) throws -> ManagedObject {
            var values = values
            values["name"] = name
            values["rank"] = 1
            let object = try context.make(entity, values)
            made[name] = object
            return object
        }
        let root = try make("Folder", "root")
        let main = try make("Folder", "main", ["parent": root, "next": try make("Folder", "next")])
        let child = try make("Folder", "child", ["parent": main, "cover": try make("Cover", "inner")])
        _ = try make("Folder", "second", ["parent": main])
        _ = try make("Folder", "deep", ["parent": child, "keys": [try make("Key", "deepKey")]])
        _ = try make("Folder", "other", ["origin": main, "next": child])
        try main.setValue(try make("Cover", "cover"), forKey: "cover")
        try main.setValue([try make("Key", "k1"), try make("Key", "k2")], forKey: "keys")
        try main.setValue(try ["p1", "p2", "p3"].map { try make("Page", $0) }, forKey: "pages")
        try main.setValue(try ["s1", "s2"].map { try make("Song", $0) }, forKey: "songs")
        try main.setValue(try ["t1", "t2"].map { try make("Tag", $0) }, forKey: "tags")
        try main.setValue(try ["m1", "m2"].map { try make("Tag", $0) }, forKey: "marks")
        try main.setValue(["p1", "p2"].map { made[$0] ?? main } as [ManagedObject], forKey: "bag")
        try context.save()
        folder = main.objectID
        ids = made.mapValues(\.objectID)
    }

    /// A context that deletes, with what keeps its objects in memory.
    private func contextThatDeletes(_ way: Way) throws -> (ManagedObjectContext, [ManagedObject]) {
        let context =
            switch way {
            case .saved, .savedRows: container.newBackgroundContext()
            case .child, .childRows: try theirs.newChildContext()
            }
        guard way == .saved || way == .child else { return (context, []) }
        let all = try ids.values.map { try context.existingObject(with: $0) }
        return (context, all)
    }

    private func changeElsewhere(_ way: Way) throws {
        try theirs.existingObject(with: folder).setValue("changed", forKey: "name")
        if way == .saved || way == .savedRows { try theirs.save() }
    }

    private func object(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        try context.existingObject(with: try #require(ids[name]))
    }

    /// The states of all contexts are one, and they are in order.
    private func expect(
        _ expected: [String], _ context: ManagedObjectContext, _ note: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if theirs.hasChanges { try theirs.save() }
        theirs.refreshAllObjects()
        for (name, shown) in [("mine", context), ("theirs", theirs), ("fresh", container.newBackgroundContext())] {
            let state = try FamilyModel.state(shown)
            let difference = FamilyModel.difference(state, expected)
            #expect(state == expected, "\(note), \(name): \(difference)", sourceLocation: sourceLocation)
            let problem = try FamilyModel.problem(shown)
            #expect(problem == nil, "\(note), \(name)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: Way.allCases) func allThatTheDeletionDidGoesBack(way: Way) throws {
        for policy in Self.policies {
            let (context, kept) = try contextThatDeletes(way)
            context.mergePolicy = policy
            context.delete(try context.existingObject(with: folder))
            #expect(context.deletedObjectIDs.count == 9, "\(context.deletedObjectIDs)")
            try changeElsewhere(way)
            let expected = try FamilyModel.state(theirs)
            try context.save()
            try expect(expected, context, "\(policy)")
            #expect(!context.hasChanges)
            withExtendedLifetime(kept) {}
            try theirs.existingObject(with: folder).setValue("main", forKey: "name")
            try theirs.save()
        }
    }

    @Test(arguments: Way.allCases) func whatWasDeletedForItselfStaysDeleted(way: Way) throws {
        let (context, kept) = try contextThatDeletes(way)
        context.mergePolicy = .mergeByPropertyStoreTrump
        // Before the folder, after it, and of one that a cascade has deleted already.
        context.delete(try object("k1", context))
        let second = try object("second", context)
        context.delete(try context.existingObject(with: folder))
        context.delete(second)
        context.delete(try object("t1", context))
        try changeElsewhere(way)
        for name in ["k1", "second", "t1"] { theirs.delete(try object(name, theirs)) }
        let expected = try FamilyModel.state(theirs)
        theirs.rollback()
        if way == .child || way == .childRows { try changeElsewhere(way) }
        try context.save()
        try expect(expected, context, "")
        withExtendedLifetime(kept) {}
    }

    @Test(arguments: Way.allCases) func whatTwoDeletionsTookAlongGoesWithTheOther(way: Way) throws {
        let key = try object("k1", theirs)
        try object("other", theirs).setValue([key], forKey: "keys")
        try theirs.save()
        let (context, kept) = try contextThatDeletes(way)
        context.mergePolicy = .mergeByPropertyStoreTrump
        context.delete(try context.existingObject(with: folder))
        context.delete(try object("other", context))
        try changeElsewhere(way)
        try context.save()
        if theirs.hasChanges { try theirs.save() }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.find("Key").compactMap { try $0.text() }.sorted() == ["deepKey", "k2"])
        #expect(try fresh.existingObject(with: folder).texts("keys") == ["k2"])
        #expect(try FamilyModel.problem(fresh) == nil && FamilyModel.problem(context) == nil)
        withExtendedLifetime(kept) {}
    }

    @Test(arguments: Way.allCases) func changesBesideTheDeletionStay(way: Way) throws {
        let (context, kept) = try contextThatDeletes(way)
        context.mergePolicy = .mergeByPropertyStoreTrump
        try object("child", context).setValue(7, forKey: "rank")
        try object("child", context).insertMember(try object("t2", context), forKey: "tags")
        _ = try context.existingObject(with: folder).removeMember(try object("s1", context), forKey: "songs")
        let new = try context.make("Folder", ["name": "new", "parent": try object("second", context)])
        context.delete(try context.existingObject(with: folder))
        #expect(new.isDeleted)
        // A page finds another folder, and then none; another only finds one.
        try object("p1", context).setValue(try object("root", context), forKey: "folder")
        try object("p2", context).setValue(try object("root", context), forKey: "folder")
        try object("p2", context).setValue(nil, forKey: "folder")
        try changeElsewhere(way)
        try context.save()
        if theirs.hasChanges { try theirs.save() }
        let fresh = container.newBackgroundContext()
        let child = try object("child", fresh)
        #expect(try child.value(forKey: "rank") as? Int32 == 7 && child.texts("tags") == ["t2"])
        #expect(try object("p1", fresh).value(forKey: "folder") as? ManagedObject === object("root", fresh))
        #expect(try object("p2", fresh).value(forKey: "folder") == nil)
        #expect(try object("second", fresh).texts("children") == ["new"])
        #expect(try fresh.existingObject(with: folder).texts("pages") == ["p3"])
        // The object itself is as the store has it.
        #expect(try fresh.existingObject(with: folder).texts("songs") == ["s1", "s2"])
        #expect(try FamilyModel.problem(fresh) == nil && FamilyModel.problem(context) == nil)
        #expect(try FamilyModel.state(fresh) == FamilyModel.state(context))
        withExtendedLifetime(kept) {}
    }

    @Test(arguments: Way.allCases) func whatThePolicyLetsGoStaysDeleted(way: Way) throws {
        let (context, kept) = try contextThatDeletes(way)
        context.mergePolicy = .custom("by entity") { conflict, _ in conflict.entityName == "Key" ? .mine : .theirs }
        context.delete(try context.existingObject(with: folder))
        try object("k1", theirs).setValue("taken", forKey: "name")
        try changeElsewhere(way)
        try context.save()
        if theirs.hasChanges { try theirs.save() }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.existingObject(with: folder).texts("keys") == ["k2"])
        #expect(try fresh.find("Folder").count == 7)
        #expect(try FamilyModel.problem(fresh) == nil && FamilyModel.problem(context) == nil)
        withExtendedLifetime(kept) {}
    }

    /// Others cleared a to-one that the deletion has cleared, too.
    @Test(arguments: Way.allCases) func whatOthersClearedStaysClear(way: Way) throws {
        let (context, kept) = try contextThatDeletes(way)
        context.mergePolicy = .mergeByPropertyStoreTrump
        try object("p1", context).setValue("mine", forKey: "name")
        context.delete(try context.existingObject(with: folder))
        try object("p1", theirs).setValue(nil, forKey: "folder")
        try changeElsewhere(way)
        try context.save()
        if theirs.hasChanges { try theirs.save() }
        let fresh = container.newBackgroundContext()
        #expect(try object("p1", fresh).value(forKey: "folder") == nil)
        #expect(try object("p1", fresh).value(forKey: "name") as? String == "mine")
        #expect(try fresh.existingObject(with: folder).texts("pages") == ["p2", "p3"])
        #expect(try FamilyModel.problem(fresh) == nil && FamilyModel.problem(context) == nil)
        #expect(try FamilyModel.state(fresh) == FamilyModel.state(context))
        withExtendedLifetime(kept) {}
    }

    /// A parent that takes over the deletions of its child knows which of them only followed.
    @Test func aParentTakesBackWhatItsChildDeleted() throws {
        let mine = container.newBackgroundContext()
        mine.mergePolicy = .mergeByPropertyStoreTrump
        let child = try mine.newChildContext()
        child.delete(try child.existingObject(with: folder))
        try child.save()
        try changeElsewhere(.saved)
        let expected = try FamilyModel.state(theirs)
        try mine.save()
        try expect(expected, mine, "")
        child.refreshAllObjects()
        #expect(try FamilyModel.state(child) == expected)
    }
}
