import Foundation
import StrataGraph
import StrataModel
import Testing

/// An object that goes again takes nothing with it that was there before it.
@Suite(.verifiesStores) struct TakenBackInsertionTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let folder: ManagedObject
    let cover: ManagedObject

    init() throws {
        container = try Porting.container([
            EntityDescription(
                name: "Page",
                properties: [
                    Porting.attribute("name", .string), Porting.one("folder", "Folder", "pages", .cascade),
                    Porting.one("cover", "Cover", "page", .cascade), Porting.one("origin", "Folder", nil, .cascade),
                    Porting.many("marks", "Cover", nil), Porting.many("keys", "Key", "pages", .cascade),
                ]),
            EntityDescription(
                name: "Folder",
                properties: [
                    Porting.attribute("name", .string), Porting.many("pages", "Page", "folder", isOrdered: true),
                ]),
            EntityDescription(
                name: "Cover", properties: [Porting.attribute("name", .string), Porting.one("page", "Page", "cover")]),
            EntityDescription(name: "Key", properties: [Porting.many("pages", "Page", "keys")]),
        ])
        context = container.newBackgroundContext()
        folder = try context.make("Folder", ["name": "f"])
        cover = try context.make("Cover", ["name": "c"])
        try context.make("Key")
        try context.save()
        context.undoManager = ObjectUndoManager()
    }

    @discardableResult private func makePage() throws -> ManagedObject {
        let page = try context.make(
            "Page", ["name": "p", "folder": folder, "cover": cover, "origin": folder, "marks": [cover]])
        try page.setValue(try context.find("Key"), forKey: "keys")
        return page
    }

    private func counts(_ context: ManagedObjectContext) throws -> [Int] {
        try ["Page", "Folder", "Cover", "Key"].map { try context.find($0).count }
    }

    @Test func byUndo() throws {
        try makePage()
        try context.undo()
        #expect(try counts(context) == [0, 1, 1, 1] && !context.hasChanges)
        try context.redo()
        #expect(try counts(context) == [1, 1, 1, 1])
        try context.save()
        try context.undo()
        try context.save()
        #expect(try counts(container.newBackgroundContext()) == [0, 1, 1, 1])
    }

    @Test func byARevert() throws {
        try makePage()
        try context.save()
        try context.revert(try #require(container.transactions().last?.number))
        try context.save()
        #expect(try counts(container.newBackgroundContext()) == [0, 1, 1, 1])
    }

    @Test func byAChildThatCutItsLinksFirst() throws {
        try makePage()
        try context.save()
        func take(_ draft: ManagedObjectContext) throws {
            let page = try #require(try draft.find("Page").first)
            for key in ["folder", "cover", "origin"] { try page.setValue(nil, forKey: key) }
            try page.setValue([ManagedObject](), forKey: "keys")
            draft.delete(page)
        }
        let plan = try context.whatIf(take)
        try plan.keep()
        #expect(try counts(context) == [0, 1, 1, 1])
        context.rollback()
        let child = try context.newChildContext()
        try take(child)
        try child.save()
        try context.save()
        #expect(try counts(container.newBackgroundContext()) == [0, 1, 1, 1])
    }

    @Test func aDeletionStillCascades() throws {
        let page = try makePage()
        try context.save()
        let child = try context.newChildContext()
        child.delete(try child.existingObject(with: page.objectID))
        try child.save()
        #expect(try counts(context) == [0, 0, 0, 0])
        try context.undo()
        #expect(try counts(context) == [1, 1, 1, 1])
        try context.redo()
        try context.save()
        #expect(try counts(container.newBackgroundContext()) == [0, 0, 0, 0])
    }

    @Test func aMemberThatIsTakenOutOfAnOrderedOneAgainIsUnchanged() throws {
        let page = try context.make("Page", ["name": "p"])
        try context.save()
        try page.setValue(folder, forKey: "folder")
        context.processPendingChanges()
        #expect(folder.isUpdated && page.isUpdated)
        try context.undo()
        #expect(!page.isUpdated && !folder.isUpdated && !context.hasChanges)
        let head = try container.head()
        try context.save()
        #expect(try container.head() == head)
    }

    @Test func aMemberWithoutInverseThatComesBackIsLinkedAsBefore() throws {
        let page = try context.make("Page", ["name": "p"])
        try context.save()
        try page.setValue([cover], forKey: "marks")
        context.processPendingChanges()
        context.delete(cover)
        context.processPendingChanges()
        try context.undo()
        #expect(try page.texts("marks") == ["c"] && context.find("Page", "ANY marks.name == 'c'") == [page])
        try context.undo()
        #expect(try page.texts("marks").isEmpty && context.find("Page", "ANY marks.name == 'c'").isEmpty)
        try context.save()
        #expect(try container.newBackgroundContext().find("Page", "marks.@count == 0").count == 1)
    }
    @Test func aSavedDeletionThatIsTakenBackFindsTheMembersThatStillLeadToIt() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Folder",
                properties: [
                    Porting.attribute("name", .string), Porting.many("pages", "Page", "folder", .noAction),
                ]),
            EntityDescription(
                name: "Page",
                properties: [Porting.attribute("name", .string), Porting.one("folder", "Folder", "pages")]),
        ])
        let context = container.newBackgroundContext()
        let folder = try context.make("Folder", ["name": "f"])
        try context.make("Page", ["name": "p", "folder": folder])
        try context.save()
        context.undoManager = ObjectUndoManager()
        context.delete(folder)
        try context.save()
        try context.undo()
        let again = try #require(try context.find("Folder").first)
        #expect(try again.texts("pages") == ["p"] && again.value(forKeyPath: "pages.@count") as? Int == 1)
        try context.save()
        #expect(try again.texts("pages") == ["p"])
        #expect(try container.newBackgroundContext().find("Folder", "pages.@count == 1").count == 1)
    }
}
