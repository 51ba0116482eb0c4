import Foundation
import StrataGraph
import StrataModel
import Testing

/// What a child shows of links to objects that its parent has deleted and not saved.
@Suite(.verifiesStores) struct DeletedInParentTests {
    /// A relationship with the entity and property at its other end.
    struct Link: Sendable, CustomTestStringConvertible {
        let owner: String
        let name: String
        let target: String
        let inverse: String?
        /// Whether the deletion of the target takes the owner along, or is denied.
        var outcome = Outcome.cut

        enum Outcome { case cut, ownerGoes, stays }

        /// Whether a link made here changes the row of the target: one that is changed here is shown until the save.
        var changesTarget: Bool {
            ["children", "next", "locks", "cover", "pages"].contains(name) || owner == "Cover"
        }

        var testDescription: String { "\(owner).\(name)" }

        static let all = [
            Link(owner: "Folder", name: "parent", target: "Folder", inverse: "children", outcome: .ownerGoes),
            Link(owner: "Folder", name: "children", target: "Folder", inverse: "parent"),
            Link(owner: "Folder", name: "next", target: "Folder", inverse: "previous"),
            Link(owner: "Folder", name: "origin", target: "Folder", inverse: nil),
            Link(owner: "Folder", name: "tags", target: "Tag", inverse: "folders"),
            Link(owner: "Tag", name: "folders", target: "Folder", inverse: "tags"),
            Link(owner: "Folder", name: "keys", target: "Key", inverse: "folders"),
            Link(owner: "Key", name: "folders", target: "Folder", inverse: "keys", outcome: .ownerGoes),
            Link(owner: "Folder", name: "locks", target: "Lock", inverse: "folder"),
            Link(owner: "Lock", name: "folder", target: "Folder", inverse: "locks", outcome: .stays),
            Link(owner: "Folder", name: "cover", target: "Cover", inverse: "folder"),
            Link(owner: "Cover", name: "folder", target: "Folder", inverse: "cover", outcome: .ownerGoes),
            Link(owner: "Folder", name: "pages", target: "Page", inverse: "folder", outcome: .ownerGoes),
            Link(owner: "Page", name: "folder", target: "Folder", inverse: "pages"),
            Link(owner: "Folder", name: "songs", target: "Song", inverse: "lists"),
            Link(owner: "Song", name: "lists", target: "Folder", inverse: "songs"),
            Link(owner: "Folder", name: "marks", target: "Tag", inverse: nil),
            Link(owner: "Folder", name: "bag", target: "Page", inverse: nil),
        ]
    }

    enum Origin: CaseIterable { case saved, inParent, inChild }

    private let container: PersistentContainer
    private let parent: ManagedObjectContext

    init() throws {
        container = try Porting.container(FamilyModel.entities())
        parent = container.newBackgroundContext()
    }

    private func link(_ owner: ManagedObject, _ link: Link, _ target: ManagedObject) throws {
        if FamilyModel.relationships(of: owner).first(where: { $0.name == link.name })?.isToMany ?? false {
            try owner.insertMember(target, forKey: link.name)
        } else {
            try owner.setValue(target, forKey: link.name)
        }
    }

    @Test(arguments: Link.all) func aChildThatLooksShowsNoLinkToIt(example: Link) throws {
        for origin in Origin.allCases {
            for isRead in [false, true] {
                let note = "\(example.testDescription), \(origin), read before: \(isRead)"
                let owner = try parent.make(example.owner, ["name": "owner"])
                let target = try parent.make(example.target, ["name": "target"])
                if origin == .saved { try link(owner, example, target) }
                try parent.save()
                if origin == .inParent { try link(owner, example, target) }
                let child = try parent.newChildContext()
                let draft = try child.existingObject(with: owner.objectID)
                if origin == .inChild { try link(draft, example, try child.existingObject(with: target.objectID)) }
                if isRead {
                    #expect(try draft.objectIDs(forRelationshipNamed: example.name) == [target.objectID], "\(note)")
                }
                parent.delete(target)
                child.refreshAllObjects()
                let isThere = try child.find(example.owner, "name == 'owner'") == [draft]
                if origin == .inChild || example.outcome != .ownerGoes { #expect(isThere, "\(note)") }
                if isThere, origin != .inChild || !example.changesTarget {
                    let shown = try draft.objectIDs(forRelationshipNamed: example.name)
                    let stays = example.outcome == .stays && origin != .inChild
                    #expect(shown == (stays ? [target.objectID] : []), "\(note)")
                    let isToMany = FamilyModel.relationships(of: draft).first { $0.name == example.name }?.isToMany
                    let format = isToMany == true ? "\(example.name).@count > 0" : "\(example.name) != nil"
                    let found = try child.find(example.owner, format)
                    #expect(found.isEmpty || stays, "\(note)")
                }
                child.rollback()
                parent.rollback()
                for object in try parent.find(example.owner) + parent.find(example.target) { parent.delete(object) }
                try parent.save()
            }
        }
    }
}
