import Foundation
import StrataGraph
import StrataModel
import Testing

/// What a child shows when it moves to what its parent has, while it has changes of its own.
@Suite(.verifiesStores) struct ChildFollowingTests {
    let parent: ManagedObjectContext
    let container: PersistentContainer

    init() throws {
        container = try Porting.container([
            EntityDescription(
                name: "Folder",
                properties: [
                    Porting.attribute("name", .string), Porting.many("pages", "Page", "folder", isOrdered: true),
                    Porting.many("tags", "Tag", "folders"), Porting.one("cover", "Page", "covers"),
                ]),
            EntityDescription(
                name: "Page",
                properties: [
                    Porting.attribute("name", .string), Porting.attribute("rank", .integer32),
                    Porting.one("folder", "Folder", "pages"), Porting.one("covers", "Folder", "cover"),
                    .attribute(
                        AttributeDescription(name: "note", type: .string, isOptional: true, isTransient: true)),
                ]),
            EntityDescription(
                name: "Tag",
                properties: [Porting.attribute("name", .string), Porting.many("folders", "Folder", "tags")]),
        ])
        parent = container.newBackgroundContext()
    }

    private func saved() throws -> (folder: ManagedObject, page: ManagedObject, tag: ManagedObject) {
        let made = try (
            parent.make("Folder", ["name": "f"]), parent.make("Page", ["name": "p", "rank": 1]),
            parent.make("Tag", ["name": "t"])
        )
        try parent.save()
        return made
    }

    private func same(_ object: ManagedObject, _ child: ManagedObjectContext) throws -> ManagedObject {
        try child.existingObject(with: object.objectID)
    }

    @Test func aChangedObjectTakesWhatItsParentChangedInOtherProperties() throws {
        let (folder, page, _) = try saved()
        let child = try parent.newChildContext()
        let draft = try same(page, child)
        try draft.setValue(7, forKey: "rank")
        try page.setValue("q", forKey: "name")
        try page.setValue(folder, forKey: "folder")
        try folder.setValue(page, forKey: "cover")
        child.refreshAllObjects()
        #expect(try draft.text() == "q" && draft.value(forKey: "rank") as? Int32 == 7)
        #expect(try draft.value(forKey: "folder") as? ManagedObject === same(folder, child))
        #expect(try draft.value(forKey: "covers") as? ManagedObject === same(folder, child))
        #expect(try same(folder, child).objectIDs(forRelationshipNamed: "pages") == [page.objectID])
        #expect(try child.find("Page", "folder.name == 'f' AND name == 'q' AND rank == 7") == [draft])
        #expect(draft.changedValues == ["rank": .integer(7)])
        try child.save()
        #expect(try page.value(forKey: "rank") as? Int32 == 7 && page.text() == "q")
    }

    @Test func aPropertyThatBothChangedIsLeftToTheSave() throws {
        let (folder, page, _) = try saved()
        let child = try parent.newChildContext()
        let draft = try same(page, child)
        try draft.setValue(7, forKey: "rank")
        try page.setValue(8, forKey: "rank")
        try page.setValue(folder, forKey: "folder")
        child.refreshAllObjects()
        #expect(try draft.value(forKey: "rank") as? Int32 == 7)
        // Both ends agree, also where the parent's link is not shown.
        let isLinked = try draft.value(forKey: "folder") != nil
        #expect(try same(folder, child).objectIDs(forRelationshipNamed: "pages").isEmpty == !isLinked)
        #expect(thrownError { try child.save() }?.context.conflicts.first?.properties.map(\.name) == ["rank"])
        child.refresh(draft, mergeChanges: true)
        #expect(try draft.value(forKey: "rank") as? Int32 == 7 && draft.value(forKey: "folder") != nil)
        try child.save()
        #expect(try page.value(forKey: "rank") as? Int32 == 7 && page.value(forKey: "folder") != nil)
    }

    @Test func whatTheChildDeletesIsNotListedWhereItsParentLinkedIt() throws {
        let (folder, page, tag) = try saved()
        let child = try parent.newChildContext()
        child.delete(try same(page, child))
        child.delete(try same(tag, child))
        try folder.setValue([page], forKey: "pages")
        try folder.setValue([tag], forKey: "tags")
        child.refreshAllObjects()
        let draft = try same(folder, child)
        for key in ["pages", "tags"] {
            #expect(try draft.objectIDs(forRelationshipNamed: key).isEmpty, "\(key)")
            #expect(try child.find("Folder", "\(key).@count > 0").isEmpty, "\(key)")
        }
        // The parent takes its links back, and the child its deletions.
        parent.rollback()
        child.rollback()
        child.refreshAllObjects()
        try draft.setValue([try same(tag, child)], forKey: "tags")
        #expect(try draft.texts("tags") == ["t"] && child.find("Folder", "ANY tags.name == 't'") == [draft])
    }

    @Test func whatTheParentDidNotChangeStaysInMemory() throws {
        let (folder, page, tag) = try saved()
        let child = try parent.newChildContext()
        let (one, two, three) = try (same(folder, child), same(page, child), same(tag, child))
        let new = try child.make("Page", ["name": "new", "note": "kept"])
        try two.setValue("mine", forKey: "note")
        try one.setValue("g", forKey: "name")
        var refreshed: Set<ManagedObject> = []
        let observation = child.observe(.didMerge) { refreshed.formUnion($0.refreshed) }
        try child.save()
        #expect(try two.value(forKey: "note") as? String == "mine" && new.value(forKey: "note") as? String == "kept")
        #expect(![one, two, three, new].contains(where: \.isFault) && refreshed.isEmpty)
        #expect(try page.value(forKey: "note") == nil)
        try page.setValue("other", forKey: "name")
        child.refreshAllObjects()
        #expect(refreshed == [two] && two.isFault && !three.isFault)
        withExtendedLifetime(observation) {}
    }

    @Test func anUndoGivesAPartnerBackThatTheParentHasLinked() throws {
        let (folder, page, _) = try saved()
        try folder.setValue(page, forKey: "cover")
        let child = try parent.newChildContext()
        child.undoManager = ObjectUndoManager()
        let other = try child.make("Folder", ["name": "o", "cover": try same(page, child)])
        child.processPendingChanges()
        #expect(try same(folder, child).value(forKey: "cover") == nil)
        try child.undo()
        #expect(try same(folder, child).value(forKey: "cover") as? ManagedObject === same(page, child))
        #expect(try same(page, child).value(forKey: "covers") as? ManagedObject === same(folder, child))
        #expect(other.isDeleted && !child.hasChanges)
        parent.rollback()
    }
    @Test func redoShowsAPartnerAgainThatTheParentHasLinked() throws {
        let (folder, page, _) = try saved()
        let child = try parent.newChildContext()
        let draft = try same(page, child)
        let other = try child.make("Folder", ["name": "o", "cover": draft])
        try folder.setValue(page, forKey: "cover")
        child.refreshAllObjects()
        #expect(try draft.value(forKey: "covers") as? ManagedObject === other)
        child.undoManager = ObjectUndoManager()
        try draft.setValue(nil, forKey: "covers")
        for _ in 0..<2 {
            #expect(try draft.value(forKey: "covers") as? ManagedObject === same(folder, child))
            #expect(try same(folder, child).value(forKey: "cover") as? ManagedObject === draft)
            try child.undo()
            #expect(try draft.value(forKey: "covers") as? ManagedObject === other)
            try child.redo()
        }
        parent.rollback()
    }
    @Test func whatAChildMakesAgainHasTheMembersThatStillLeadToIt() throws {
        let root = try Porting.container(FamilyModel.entities()).newBackgroundContext()
        let folder = try root.make("Folder", ["name": "f"])
        let lock = try root.make("Lock", ["name": "l", "folder": folder])
        try root.save()
        let middle = try root.newChildContext()
        middle.mergePolicy = .mergeByPropertyObjectTrump
        let child = try middle.newChildContext()
        try same(folder, child).setValue("g", forKey: "name")
        // The rule is to deny, so the lock leads to the folder until a save judges that.
        root.delete(folder)
        middle.refreshAllObjects()
        try child.save()
        for context in [middle, child] {
            let locks = try same(folder, context).objectIDs(forRelationshipNamed: "locks")
            #expect(locks == [lock.objectID])
            #expect(try same(folder, context).value(forKeyPath: "locks.@count") as? Int == 1)
            #expect(try context.find("Folder", "locks.@count == 1").count == 1)
        }
        try middle.save()
        try root.save()
        #expect(try folder.text() == "g" && folder.texts("locks") == ["l"])
    }
    @Test func whatAChildMakesAgainIsAChangeWhenItsParentTakesTheDeletionBack() throws {
        let (folder, page, tag) = try saved()
        try folder.setValue([tag], forKey: "tags")
        try folder.setValue([page], forKey: "pages")
        try parent.save()
        let middle = try parent.newChildContext()
        middle.mergePolicy = .mergeByPropertyObjectTrump
        let child = try middle.newChildContext()
        try same(folder, child).setValue("g", forKey: "name")
        parent.delete(folder)
        middle.refreshAllObjects()
        try child.save()
        #expect(try same(folder, middle).isInserted)
        parent.rollback()
        for context in [middle, child] {
            context.refreshAllObjects()
            let draft = try same(folder, context)
            #expect(try draft.text() == "g" && !draft.isInserted)
            #expect(try draft.texts("tags") == ["t"])
            #expect(try same(tag, context).objectIDs(forRelationshipNamed: "folders") == [folder.objectID])
            let pages = try draft.texts("pages")
            #expect(try same(page, context).value(forKey: "folder") != nil || pages.isEmpty)
            #expect(try context.find("Folder", "ANY tags.name == 't' AND name == 'g'") == [draft])
        }
        #expect(try middle.changes().map(\.kind) == [.updated])
        try middle.save()
        #expect(try folder.text() == "g" && folder.texts("tags") == ["t"])
    }
}
