import Foundation
import StrataGraph
import StrataModel
import Testing

/// A child that moves looks at what its parent changed, and at nothing else; what it shows is its parent's state all the
/// same.
@Suite(.verifiesStores) struct ChildMoveTests {
    let parent: ManagedObjectContext
    let container: PersistentContainer
    let folders: [ManagedObject]

    init() throws {
        container = try Porting.container(FamilyModel.entities())
        parent = container.newBackgroundContext()
        let context = parent
        folders = try (0..<20).map { try context.make("Folder", ["name": "f\($0)", "rank": 1]) }
        try parent.save()
    }

    private func same(_ index: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
        try context.existingObject(with: folders[index].objectID)
    }

    private func ranks(_ objects: [ManagedObject]) throws -> [Int32?] {
        try objects.map { try $0.value(forKey: "rank") as? Int32 }
    }

    @Test(arguments: [1, 5, 20]) func itShowsWhatTheParentChangedSavedOrNot(held: Int) throws {
        let child = try parent.newChildContext()
        let drafts = try (0..<held).map { try same($0, child) }
        let others = container.newBackgroundContext()
        for round in 2..<8 {
            let index = (round * 7) % 20
            switch round % 3 {
            case 0: try folders[index].setValue(round, forKey: "rank")
            case 1:
                try folders[index].setValue(round, forKey: "rank")
                try parent.save()
            default:
                others.refreshAllObjects()
                try same(index, others).setValue(round, forKey: "rank")
                try others.save()
                parent.refreshAllObjects()
            }
            child.refreshAllObjects()
            #expect(try ranks(drafts) == ranks(Array(folders.prefix(held))), "round \(round)")
            #expect(try FamilyModel.state(child) == FamilyModel.state(parent), "round \(round)")
        }
        for folder in folders { try folder.setValue(99, forKey: "rank") }
        child.refreshAllObjects()
        #expect(try ranks(drafts) == Array(repeating: 99, count: held))
        parent.rollback()
        child.refreshAllObjects()
        #expect(try ranks(drafts) == ranks(Array(folders.prefix(held))))
    }

    @Test func aGrandchildShowsWhatItsParentTookOver() throws {
        let middle = try parent.newChildContext()
        let child = try middle.newChildContext()
        let draft = try same(0, child)
        try folders[0].setValue(5, forKey: "rank")
        child.refreshAllObjects()
        #expect(try ranks([draft]) == [1])
        middle.refreshAllObjects()
        child.refreshAllObjects()
        #expect(try ranks([draft]) == [5])
        try parent.save()
        try folders[0].setValue(6, forKey: "rank")
        middle.reset()
        child.refreshAllObjects()
        #expect(try ranks([draft]) == [6])
    }

    @Test func aConflictThatIsTakenBackIsNone() throws {
        let child = try parent.newChildContext()
        let draft = try same(0, child)
        try draft.setValue(7, forKey: "rank")
        try folders[0].setValue(8, forKey: "rank")
        child.refreshAllObjects()
        #expect(try ranks([draft]) == [7])
        try draft.setValue(1, forKey: "rank")
        child.refreshAllObjects()
        #expect(try ranks([draft]) == [8])
    }

    @Test func whatTheParentDidNotTakeIsShownAsTheParentHasIt() throws {
        let child = try parent.newChildContext()
        child.mergePolicy = .mergeByPropertyStoreTrump
        let draft = try same(0, child)
        try draft.setValue(try same(1, child), forKey: "origin")
        try draft.setValue(7, forKey: "rank")
        parent.delete(folders[1])
        try folders[0].setValue(8, forKey: "rank")
        child.refreshAllObjects()
        try child.save()
        #expect(try ranks([draft]) == [8] && draft.value(forKey: "origin") == nil)
        #expect(try FamilyModel.state(child) == FamilyModel.state(parent))
    }

    @Test func aMoveToTheSameStateAnnouncesNothing() throws {
        let child = try parent.newChildContext()
        let drafts = try (0..<20).map { try same($0, child) }
        try drafts[3].setValue(4, forKey: "rank")
        var heard = 0
        let observation = child.observe(.didMerge) { _ in heard += 1 }
        try folders[0].setValue(2, forKey: "rank")
        child.refreshAllObjects()
        child.refreshAllObjects()
        _ = try parent.find("Folder", "rank == 2")
        child.refreshAllObjects()
        #expect(heard == 1 && !drafts[1].isFault)
        withExtendedLifetime(observation) {}
    }
}
