import Foundation
import StrataGraph
import StrataModel
import Testing

/// Child contexts, undo and large values together.
@Suite(.verifiesStores) struct DraftPortingTests {
    let container: PersistentContainer
    let parent: ManagedObjectContext

    init() throws {
        container = try Porting.container([
            EntityDescription(
                name: "Folder",
                properties: [
                    Porting.attribute("name", .string), Porting.many("files", "File", "folder", .cascade),
                    Porting.many("pinned", "File", "pinnedIn", isOrdered: true),
                ], uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "File",
                properties: [
                    Porting.attribute("name", .string), Porting.attribute("rank", .integer32),
                    .attribute(
                        AttributeDescription(
                            name: "data", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
                    Porting.one("folder", "Folder", "files"), Porting.many("pinnedIn", "Folder", "pinned"),
                ], indexes: [Porting.index("byRank", "rank")]),
        ])
        parent = container.newBackgroundContext()
    }

    private func same(_ object: ManagedObject, _ child: ManagedObjectContext) throws -> ManagedObject {
        try child.existingObject(with: object.objectID)
    }

    private func storedData(of file: ManagedObject) throws -> Data? {
        let other = container.newBackgroundContext()
        return try other.existingObject(with: file.objectID).value(forKey: "data") as? Data
    }

    private func bytes(_ byte: UInt8) -> Data { Data(repeating: byte, count: 100_000) }

    @Test func aChildDeletesWhatItsParentHasNotSaved() throws {
        let folder = try parent.make("Folder", ["name": "a"])
        let files = try (0..<3).map { try parent.make("File", ["name": "\($0)", "folder": folder]) }
        try folder.setValue(files, forKey: "pinned")
        let child = try parent.newChildContext()
        child.delete(try same(folder, child))
        #expect(try child.find("File").isEmpty && child.find("Folder").isEmpty)
        try child.save()
        #expect(try !parent.hasChanges && parent.find("File").isEmpty)
        let head = try container.head()
        try parent.save()
        #expect(try container.head() == head)
    }

    @Test func twoDraftsOfTheSameUniqueNameClashWhenTheParentSaves() throws {
        let mine = try parent.make("Folder", ["name": "a"])
        let child = try parent.newChildContext()
        let theirs = try child.make("Folder", ["name": "a"])
        try child.save()
        let clash = thrownError { try parent.save() }
        #expect(clash?.code == .constraintMerge)
        parent.delete(mine)
        try parent.save()
        #expect(try parent.find("Folder").map(\.objectID) == [theirs.objectID])
    }

    @Test func aChildDeletesWhatItsParentHasChanged() throws {
        let folder = try parent.make("Folder", ["name": "a"])
        let file = try parent.make("File", ["name": "f", "folder": folder])
        try parent.save()
        try file.setValue("g", forKey: "name")
        let child = try parent.newChildContext()
        child.delete(try same(folder, child))
        try child.save()
        #expect(file.isDeleted && folder.isDeleted)
        try parent.save()
        #expect(try container.newBackgroundContext().find("File").isEmpty)
        try parent.revert(try #require(container.transactions().last?.number))
        try parent.save()
        // What the parent had changed was never saved.
        #expect(try container.newBackgroundContext().find("File").map { try $0.text() } == ["f"])
    }

    @Test func fetchesOverSeveralLayersKeepOrderLimitAndOffset() throws {
        for rank in 0..<20 { try parent.make("File", ["name": "s\(rank)", "rank": rank * 10]) }
        try parent.save()
        for rank in 0..<10 { try parent.make("File", ["name": "p\(rank)", "rank": rank * 20 + 5]) }
        let child = try parent.newChildContext()
        for rank in 0..<5 { try child.make("File", ["name": "c\(rank)", "rank": rank * 40 + 7]) }
        for file in try child.find("File", "rank > 50 AND rank < 90") { try file.setValue(1000, forKey: "rank") }
        for file in try child.find("File", "rank < 15") { child.delete(file) }
        let grandchild = try child.newChildContext()
        try grandchild.make("File", ["name": "g", "rank": 16])
        let order = [SortDescription("rank"), SortDescription("name")]
        let all = try grandchild.find("File", sortedBy: order).map { try $0.text() ?? "" }
        #expect(all.first == "g" && Set(all).count == all.count)
        for limit in [1, 3, 7, 100] {
            for offset in [0, 1, 5, all.count - 1, all.count, all.count + 3] {
                let found = try grandchild.find("File", sortedBy: order, limit: limit, offset: offset)
                #expect(try found.map { try $0.text() ?? "" } == Array(all.dropFirst(offset).prefix(limit)))
            }
        }
        let request = try FetchRequest<ManagedObject>(entityName: "File", where: FetchPredicate(format: "rank >= 100"))
        let expected = try grandchild.find("File").filter { (try $0.value(forKey: "rank") as? Int32 ?? 0) >= 100 }.count
        #expect(try grandchild.count(for: request) == expected)
        try grandchild.save()
        try child.save()
        #expect(try parent.find("File", sortedBy: order).map { try $0.text() ?? "" } == all)
        try parent.save()
        #expect(try container.newBackgroundContext().find("File", sortedBy: order).map { try $0.text() ?? "" } == all)
    }

    @Test func largeValuesGoThroughDraftsUndoAndHistory() throws {
        let file = try parent.make("File", ["name": "a", "data": bytes(1)])
        try parent.save()
        parent.undoManager = ObjectUndoManager()
        try file.setValue(bytes(2), forKey: "data")
        try parent.save()
        let second = try #require(container.transactions().last?.number)
        try parent.undoManager?.undo()
        #expect(try file.value(forKey: "data") as? Data == bytes(1))
        try parent.undoManager?.redo()
        #expect(try file.value(forKey: "data") as? Data == bytes(2))
        let child = try parent.newChildContext()
        let draft = try same(file, child)
        try draft.setValue(bytes(3), forKey: "data")
        try child.save()
        #expect(try file.value(forKey: "data") as? Data == bytes(3))
        #expect(try draft.value(forKey: "data") as? Data == bytes(3))
        try parent.save()
        let events = try container.history(of: file.objectID).count
        try file.setValue(bytes(3), forKey: "data")
        try parent.save()
        #expect(try container.history(of: file.objectID).count == events)
        let past = try container.context(asOf: .transaction(second))
        #expect(try past.existingObject(with: file.objectID).value(forKey: "data") as? Data == bytes(2))
        parent.delete(file)
        try parent.save()
        try parent.undoManager?.undo()
        let again = try parent.existingObject(with: file.objectID)
        #expect(try again.value(forKey: "data") as? Data == bytes(3))
        try parent.save()
        #expect(try storedData(of: file) == bytes(3))
        _ = try container.rebuildViews()
        #expect(try storedData(of: file) == bytes(3))
    }

    @Test func twoThatWroteLargeValuesAreInConflict() throws {
        let file = try parent.make("File", ["name": "a", "data": bytes(1)])
        try parent.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: file.objectID)
        try theirs.setValue(bytes(2), forKey: "data")
        try other.save()
        try file.setValue(bytes(3), forKey: "data")
        try file.setValue("b", forKey: "name")
        let error = thrownError { try parent.save() }
        #expect(error?.code == .merge && error?.context.conflicts.first?.properties.map(\.name) == ["data"])
        #expect(try file.value(forKey: "data") as? Data == bytes(3))
        parent.mergePolicy = .mergeByPropertyStoreTrump
        try parent.save()
        #expect(try file.value(forKey: "data") as? Data == bytes(2) && file.text() == "b")
        #expect(try storedData(of: file) == bytes(2))
    }

    @Test func refreshDropsLinksAtBothEnds() throws {
        let folders = try ["a", "b"].map { try parent.make("Folder", ["name": $0]) }
        let files = try (0..<3).map { try parent.make("File", ["name": "\($0)", "folder": folders[0]]) }
        try folders[0].setValue(files, forKey: "pinned")
        try parent.save()
        try files[0].setValue(folders[1], forKey: "folder")
        try folders[0].setValue([files[2], files[0]], forKey: "pinned")
        parent.refresh(files[0], mergeChanges: false)
        #expect(try folders[0].texts("files") == ["0", "1", "2"] && folders[1].texts("files").isEmpty)
        parent.refresh(folders[0], mergeChanges: false)
        #expect(try folders[0].texts("pinned") == ["0", "1", "2"])
        #expect(try files[1].texts("pinnedIn") == ["a"] && files[0].texts("pinnedIn") == ["a"])
        try parent.save()
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: folders[0].objectID).texts("pinned") == ["0", "1", "2"])
    }

    @Test func aDraftMovesMembersThatTheParentMovedToo() throws {
        let folder = try parent.make("Folder", ["name": "a"])
        let files = try (0..<4).map { try parent.make("File", ["name": "\($0)"]) }
        try folder.setValue(files, forKey: "pinned")
        try parent.save()
        let child = try parent.newChildContext()
        let draft = try same(folder, child)
        try draft.setValue([3, 2, 1, 0].map { try same(files[$0], child) }, forKey: "pinned")
        try folder.setValue([files[1], files[0], files[3]], forKey: "pinned")
        try child.save()
        try parent.save()
        let shown = try folder.texts("pinned")
        #expect(Set(shown).count == shown.count)
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: folder.objectID).texts("pinned") == shown)
        #expect(try child.existingObject(with: folder.objectID).texts("pinned") == shown)
        for file in files {
            let isIn = try shown.contains(file.text() ?? "")
            #expect(try file.texts("pinnedIn") == (isIn ? ["a"] : []))
        }
    }

    @Test func tenThousandMembersAreReorderedAndThinnedOut() throws {
        let folder = try parent.make("Folder", ["name": "a"])
        let files = try (0..<10_000).map { try parent.make("File", ["name": "\($0)"]) }
        try folder.setValue(files, forKey: "pinned")
        try parent.save()
        let kept = Array(files.enumerated().filter { $0.offset % 100 == 0 }.map(\.element).reversed())
        try folder.setValue(kept, forKey: "pinned")
        #expect(try folder.texts("pinned") == kept.map { try $0.text() ?? "" })
        try parent.save()
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: folder.objectID).texts("pinned") == kept.map { try $0.text() ?? "" })
        parent.rollback()
        parent.delete(folder)
        try parent.save()
        #expect(try files[0].texts("pinnedIn").isEmpty)
    }
}
