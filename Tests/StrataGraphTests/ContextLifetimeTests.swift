import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Contexts that are reset, refreshed or let go while others stand on them, and objects that outlive them.
@Suite(.verifiesStores) struct ContextLifetimeTests {
    let container: PersistentContainer
    let parent: ManagedObjectContext
    let folder: ManagedObject
    let page: ManagedObject

    init() throws {
        container = try Porting.container(FamilyModel.entities())
        parent = container.newBackgroundContext()
        folder = try parent.make("Folder", ["name": "f", "rank": 1])
        page = try parent.make("Page", ["name": "p", "rank": 1, "folder": folder])
        try parent.save()
    }

    private func same(_ object: ManagedObject, _ context: ManagedObjectContext) throws -> ManagedObject {
        try context.existingObject(with: object.objectID)
    }

    private func isGone(_ id: ObjectID, _ context: ManagedObjectContext) -> Bool {
        (try? context.existingObject(with: id)) == nil
    }

    // MARK: Reset of a parent

    @Test func aChildOfAParentThatIsResetShowsWhatIsLeftWhenItLooks() throws {
        let new = try parent.make("Folder", ["name": "new"])
        try folder.setValue("changed", forKey: "name")
        let (newID, folderID) = (new.objectID, folder.objectID)
        let child = try parent.newChildContext()
        let (draft, changed) = try (same(new, child), same(folder, child))
        try draft.insertMember(try same(page, child), forKey: "pages")
        parent.reset()
        // The child shows what it stood on until it looks again.
        #expect(try draft.text() == "new" && changed.text() == "changed")
        #expect(try draft.objectIDs(forRelationshipNamed: "pages") == [page.objectID])
        child.rollback()
        child.refreshAllObjects()
        #expect(try changed.text() == "f" && draft.isDeleted && draft.text() == "new" && isGone(newID, child))
        #expect(try child.find("Folder").map(\.objectID) == [folderID])
        #expect(try FamilyModel.problem(child) == nil)
    }

    @Test func aChildsSaveIntoAParentThatIsResetIsAConflict() throws {
        let new = try parent.make("Folder", ["name": "new"])
        let child = try parent.newChildContext()
        let draft = try same(new, child)
        try draft.setValue(7, forKey: "rank")
        let copy = try same(page, child)
        try copy.setValue(draft, forKey: "folder")
        parent.reset()
        let error = thrownError { try child.save() }
        #expect(error?.code == .merge && error?.context.conflicts.contains { $0.isDeletedInStore } == true)
        #expect(child.hasChanges && !parent.hasChanges)
        child.mergePolicy = .mergeByPropertyObjectTrump
        try child.save()
        try parent.save()
        let fresh = container.newBackgroundContext()
        #expect(try same(draft, fresh).text() == "new" && same(draft, fresh).texts("pages") == ["p"])
        #expect(try FamilyModel.state(child) == FamilyModel.state(fresh))
    }

    @Test func aChildsSaveDropsWhatItsParentForgotWhereTheStoreWins() throws {
        let new = try parent.make("Folder", ["name": "new"])
        let child = try parent.newChildContext()
        child.mergePolicy = .mergeByPropertyStoreTrump
        try same(new, child).setValue(7, forKey: "rank")
        try same(page, child).setValue(same(new, child), forKey: "folder")
        try same(page, child).setValue(9, forKey: "rank")
        parent.reset()
        try child.save()
        try parent.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.find("Folder").count == 1)
        #expect(try same(page, fresh).value(forKey: "rank") as? Int32 == 9)
        #expect(try FamilyModel.state(child) == FamilyModel.state(fresh))
        #expect(try FamilyModel.problem(fresh) == nil)
    }

    @Test func aParentThatIsRolledBackOrLetGo() throws {
        let middle = try parent.newChildContext()
        let child = try middle.newChildContext()
        let made = try middle.make("Tag", ["name": "t"])
        child.refreshAllObjects()
        try same(folder, child).insertMember(try same(made, child), forKey: "tags")
        middle.rollback()
        let error = thrownError { try child.save() }
        #expect(error?.code == .merge)
        child.mergePolicy = .rollback
        try child.save()
        #expect(try same(folder, child).texts("tags").isEmpty && !middle.hasChanges)
    }

    @Test func aChildKeepsItsParent() throws {
        var child: ManagedObjectContext? = try container.newBackgroundContext().newChildContext()
        let draft = try #require(try child?.existingObject(with: folder.objectID))
        try draft.setValue("x", forKey: "name")
        try child?.save()
        #expect(child?.parent?.hasChanges == true)
        try child?.parent?.save()
        child = nil
        parent.refreshAllObjects()
        #expect(try folder.text() == "x")
    }

    // MARK: Refreshing with changes

    @Test(arguments: [false, true]) func refreshingAllKeepsEveryKindOfChange(isChild: Bool) throws {
        let song = try parent.make("Song", ["name": "s", "lists": [folder]])
        try parent.save()
        let context = isChild ? try parent.newChildContext() : container.newBackgroundContext()
        let new = try context.make("Folder", ["name": "new"])
        let (mine, copy) = try (same(folder, context), same(song, context))
        try mine.setValue(5, forKey: "rank")
        try mine.insertMember(new, forKey: "children")
        context.delete(copy)
        let before = try FamilyModel.state(context)
        let changes = try context.changes().map(\.description)
        context.refreshAllObjects()
        #expect(try FamilyModel.state(context) == before && context.changes().map(\.description) == changes)
        #expect(new.isInserted && mine.isUpdated && copy.isDeleted && context.hasChanges)
        // Others change what is changed here, and what is not.
        try folder.setValue("theirs", forKey: "name")
        try parent.make("Tag", ["name": "t", "folders": [folder]])
        if !isChild { try parent.save() }
        context.refreshAllObjects()
        #expect(try mine.text() == "theirs" && mine.value(forKey: "rank") as? Int32 == 5)
        #expect(try mine.texts("children") == ["new"] && mine.texts("tags") == ["t"] && mine.texts("songs").isEmpty)
        #expect(new.isInserted && mine.isUpdated && copy.isDeleted)
        #expect(try FamilyModel.problem(context) == nil)
        try context.save()
        if isChild { try parent.save() }
        let fresh = container.newBackgroundContext()
        #expect(try FamilyModel.state(fresh) == FamilyModel.state(context) && fresh.find("Song").isEmpty)
    }

    @Test func refreshingOneObjectDropsItsChangesAndNoOthers() throws {
        try folder.setValue(5, forKey: "rank")
        let tag = try parent.make("Tag", ["name": "t"])
        try folder.insertMember(tag, forKey: "tags")
        try page.setValue(6, forKey: "rank")
        parent.refresh(folder, mergeChanges: false)
        #expect(try folder.value(forKey: "rank") as? Int32 == 1 && folder.texts("tags").isEmpty)
        #expect(try tag.texts("folders").isEmpty && page.value(forKey: "rank") as? Int32 == 6)
        #expect(!folder.isUpdated && tag.isInserted && page.isUpdated)
        #expect(try folder.texts("pages") == ["p"])
    }

    // MARK: Objects that outlive their context

    /// A context with an object of every state, gone by now.
    private func orphans() throws -> (
        fault: ManagedObject, changed: ManagedObject, new: ManagedObject, deleted: ManagedObject
    ) {
        let context = container.newBackgroundContext()
        let fault = context.object(with: folder.objectID)
        let changed = try same(page, context)
        try changed.setValue("q", forKey: "name")
        let new = try context.make("Tag", ["name": "t"])
        let other = try context.make("Tag", ["name": "gone"])
        context.delete(other)
        return (fault, changed, new, other)
    }

    @Test func valuesCanBeReadAndLinksAreEmpty() throws {
        let (fault, changed, new, deleted) = try orphans()
        #expect(try fault.text() == "f" && changed.text() == "q" && new.text() == "t")
        for object in [fault, changed, new, deleted] {
            #expect(object.managedObjectContext == nil && !"\(object)".isEmpty)
            for relationship in FamilyModel.relationships(of: object) {
                let value = try? object.value(forKey: relationship.name)
                #expect((value as? [ManagedObject])?.isEmpty ?? (value == nil), "\(relationship.name)")
                _ = try? object.objectIDs(forRelationshipNamed: relationship.name)
                _ = try? object.hasFault(forRelationshipNamed: relationship.name)
            }
            #expect(thrownError { _ = try object.fetchedObjects(forKey: "x") }?.code == .deletedObject)
            _ = object.changedValues
            _ = try? object.value(forKeyPath: "name.length")
        }
    }

    /// A property cannot throw, and no context is left to tell: what it refuses is logged.
    @Test func whatATypedWriteRefusesIsLogged() throws {
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let (kept, deleted) = (Person(context: context), Person(context: context))
        (kept.name, deleted.name) = ("kept", "deleted")
        try context.save()
        context.delete(deleted)
        try context.save()
        context.reset()
        let other = container.newBackgroundContext()
        let boss = try other.existingObject(with: kept.objectID, as: Person.self)
        let logged = Locked<[String]>([])
        StoreLogger.$warningReceiver.withValue({ line in logged.withLock { $0.append(line) } }) {
            kept.name = "in memory"
            deleted.name = "x"
            kept.boss = boss
            kept.friends.insert(boss)
            deleted.boss = nil
        }
        #expect(kept.name == "in memory" && deleted.name == "deleted" && kept.boss == nil)
        let keys = logged.withLock { $0 }.map { line in
            ["name", "boss", "friends"].filter { line.contains($0) }
        }
        #expect(keys == [["name"], ["boss"], ["friends"], ["boss"]], "\(logged.withLock { $0 })")
    }

    /// Values can be set, as of an object without a context in Core Data; nothing saves them.
    @Test func nothingOfThemReachesAnotherContext() throws {
        let (fault, changed, new, deleted) = try orphans()
        for object in [fault, changed, new] {
            try object.setValue("x", forKey: "name")
            #expect(try object.text() == "x")
        }
        #expect(thrownError { try deleted.setValue("x", forKey: "name") }?.code == .deletedObject)
        let target = thrownError { try page.setValue(fault, forKey: "folder") }
        #expect(target?.code == .otherContext && target?.message.contains("target is in no context") == true)
        let object = thrownError { try changed.setValue(folder, forKey: "folder") }
        #expect(object?.code == .otherContext && object?.message.contains("object is in no context") == true)
        let member = thrownError { try folder.insertMember(changed, forKey: "pages") }
        #expect(member?.code == .otherContext && member?.message.contains("member is in no context") == true)
        #expect(thrownError { try fault.insertMember(page, forKey: "pages") } != nil)
        // Another context does not delete them.
        parent.delete(changed)
        parent.delete(new)
        #expect(!parent.hasChanges)
        parent.refresh(changed, mergeChanges: true)
        #expect(parent.unreportedErrors.map(\.code) == [.otherContext])
        #expect(thrownError { try parent.save() }?.code == .otherContext)
        try parent.save()
    }
}
