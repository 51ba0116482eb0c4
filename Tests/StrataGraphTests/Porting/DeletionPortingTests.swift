import Foundation
import StrataGraph
import StrataModel
import Testing

/// Delete rules over cycles and self-relationships, and objects that go and come back.
@Suite(.verifiesStores) struct DeletionPortingTests {
    private static func node(_ rule: DeleteRule) -> [EntityDescription] {
        [
            EntityDescription(
                name: "Node",
                properties: [
                    Porting.attribute("name", .string), Porting.one("next", "Node", "previous", rule),
                    Porting.one("previous", "Node", "next", rule), Porting.one("mate", "Node", "mate", rule),
                    Porting.many("children", "Node", "parent", rule), Porting.one("parent", "Node", "children", rule),
                    Porting.many("peers", "Node", "peers", rule),
                    Porting.many("out", "Node", "in", isOrdered: true, rule),
                    Porting.many("in", "Node", "out", rule), Porting.one("plain", "Node", nil, rule),
                    Porting.many("bag", "Node", nil, rule),
                ], uniquenessConstraints: [["name"]])
        ]
    }

    private let links = ["next", "mate", "parent", "plain"]
    private let lists = ["children", "peers", "out", "in", "bag"]

    private func ring(
        _ context: ManagedObjectContext, _ key: String, _ count: Int
    ) throws -> [ManagedObject] {
        let nodes = try (0..<count).map { try context.make("Node", ["name": "\(key)\($0)"]) }
        for (place, node) in nodes.enumerated() {
            let next = nodes[(place + 1) % count]
            if lists.contains(key) {
                try node.insertMember(next, forKey: key)
            } else {
                try node.setValue(next, forKey: key)
            }
        }
        return nodes
    }

    @Test(arguments: [DeleteRule.nullify, .cascade, .deny, .noAction]) func aRingOfAnyRelationshipIsDeleted(
        rule: DeleteRule
    ) throws {
        for key in links + lists {
            for count in [1, 2, 3] where key != "mate" || count < 3 {
                for (isSaved, isHeld) in [(false, true), (true, true), (true, false)] {
                    let container = try Porting.container(Self.node(rule))
                    var context = container.newBackgroundContext()
                    var nodes = try ring(context, key, count)
                    let ids = nodes.map(\.objectID)
                    if isSaved { try context.save() }
                    if !isHeld {
                        context = container.newBackgroundContext()
                        nodes = [try context.existingObject(with: ids[0])]
                    }
                    let note = "\(rule) \(key) \(count) saved: \(isSaved), held: \(isHeld)"
                    context.delete(nodes[0])
                    let isDenied = rule == .deny && count > 1 && isSaved
                    if isDenied {
                        let error = thrownError { try context.save() }
                        let denials = error?.code == .validationMultipleErrors ? error?.details : error.map { [$0] }
                        #expect(
                            denials?.allSatisfy { $0.code == .validationRelationshipDeniedDelete } ?? false, "\(note)")
                        context.rollback()
                        try context.save()
                        #expect(try context.find("Node").count == count, "\(note)")
                        for node in try context.find("Node") { context.delete(node) }
                    }
                    try context.save()
                    let isAllGone = rule == .cascade || isDenied || count == 1
                    #expect(try context.find("Node").count == (isAllGone ? 0 : count - 1), "\(note)")
                    let left = try container.newBackgroundContext().find("Node")
                    #expect(left.count == (isAllGone ? 0 : count - 1), "\(note)")
                    if rule == .nullify {
                        for node in left {
                            for key in links where key != "plain" || rule == .nullify {
                                if let target = try node.value(forKey: key) as? ManagedObject {
                                    #expect(target.objectID != ids[0], "\(note)")
                                }
                            }
                            for key in lists {
                                let members = try node.value(forKey: key) as? [ManagedObject] ?? []
                                #expect(!members.map(\.objectID).contains(ids[0]), "\(note)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: [DeleteRule.nullify, .cascade]) func aRingComesBackByRollbackUndoAndRevert(rule: DeleteRule) throws
    {
        for key in links + lists {
            let count = key == "mate" ? 2 : 3
            let container = try Porting.container(Self.node(rule))
            let context = container.newBackgroundContext()
            let nodes = try ring(context, key, count)
            try context.save()
            func state(_ context: ManagedObjectContext) throws -> [String] {
                try context.find("Node", sortedBy: [SortDescription("name")]).map { node in
                    let links = try (self.links + ["previous"]).map { key in
                        try (node.value(forKey: key) as? ManagedObject)?.text() ?? "-"
                    }
                    let lists = try self.lists.map { try node.texts($0).sorted().joined(separator: "+") }
                    return "\(try node.text() ?? "") \(links) \(lists)"
                }
            }
            let before = try state(context)
            context.delete(nodes[0])
            context.rollback()
            #expect(try state(context) == before, "rollback \(rule) \(key)")
            context.undoManager = ObjectUndoManager()
            context.delete(nodes[0])
            context.processPendingChanges()
            try context.undoManager?.undo()
            #expect(try state(context) == before, "undo \(rule) \(key)")
            try context.save()
            #expect(try state(container.newBackgroundContext()) == before, "saved undo \(rule) \(key)")
            context.delete(try context.existingObject(with: nodes[0].objectID))
            try context.save()
            let transaction = try #require(container.transactions().last?.number)
            let other = container.newBackgroundContext()
            try other.revert(transaction)
            #expect(try state(other) == before, "revert \(rule) \(key)")
            try other.save()
            #expect(try state(container.newBackgroundContext()) == before, "saved revert \(rule) \(key)")
            context.refreshAllObjects()
            try context.undoManager?.undo()
            #expect(try state(context) == before, "undo over a save \(rule) \(key)")
        }
    }

    @Test func aUniqueValueIsFreeAgainWithinOneSave() throws {
        let container = try Porting.container(Self.node(.nullify))
        let context = container.newBackgroundContext()
        let first = try context.make("Node", ["name": "a"])
        let second = try context.make("Node", ["name": "b"])
        try context.save()
        context.delete(first)
        let third = try context.make("Node", ["name": "a"])
        try context.save()
        try second.setValue("a", forKey: "name")
        try third.setValue("b", forKey: "name")
        try context.save()
        #expect(try context.find("Node", "name == 'a'") == [second])
        // Deleted, and its value taken by one that is there.
        context.delete(third)
        try second.setValue("b", forKey: "name")
        try context.save()
        try context.make("Node", ["name": "b"])
        context.delete(try context.make("Node", ["name": "b"]))
        #expect(thrownError { try context.save() }?.code == .constraintMerge)
        context.rollback()
        #expect(try context.find("Node").count == 1)
    }

    @Test func aDeletedObjectShowsItsValuesUntilItsDeletionIsSaved() throws {
        let container = try Porting.container(Self.node(.nullify))
        let context = container.newBackgroundContext()
        let nodes = try ring(context, "children", 2)
        try context.save()
        context.delete(nodes[0])
        #expect(try nodes[0].text() == "children0" && nodes[0].isDeleted && !nodes[0].isUpdated && nodes[0].hasChanges)
        #expect(thrownError { try nodes[0].setValue("x", forKey: "name") }?.code == .deletedObject)
        try context.save()
        #expect(!nodes[0].isDeleted && nodes[0].managedObjectContext == nil && !nodes[0].hasChanges)
        #expect(try nodes[0].text() == "children0")
        #expect(thrownError { _ = try context.existingObject(with: nodes[0].objectID) }?.code == .referentialIntegrity)
        context.delete(nodes[0])
        #expect(!context.hasChanges)
    }

    @Test func anObjectAfterAResetIsInNoContext() throws {
        let container = try Porting.container(Self.node(.nullify))
        let context = container.newBackgroundContext()
        let (new, saved) = (try context.make("Node", ["name": "a"]), try context.make("Node", ["name": "b"]))
        context.delete(new)
        try context.save()
        let pending = try context.make("Node", ["name": "c"])
        try saved.setValue("d", forKey: "name")
        context.reset()
        for object in [new, saved, pending] {
            #expect(object.managedObjectContext == nil && !object.isInserted && !object.isUpdated && !object.isDeleted)
        }
        #expect(try saved.text() == "d" && !context.hasChanges)
        context.delete(saved)
        try context.save()
        #expect(try context.find("Node").map { try $0.text() } == ["b"])
        #expect(
            thrownError { try pending.setValue(saved, forKey: "next") } != nil || pending.managedObjectContext == nil)
    }

    @Test func valuesOfAUniqueRuleOverSeveralMayLackSome() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Seat",
                properties: [
                    Porting.attribute("row", .integer16), Porting.attribute("letter", .string),
                    .attribute(
                        AttributeDescription(
                            name: "place", type: .composite, isOptional: true,
                            elements: [
                                AttributeDescription(name: "city", type: .string, isOptional: true),
                                AttributeDescription(name: "zip", type: .integer32, isOptional: true),
                            ])),
                    Porting.one("hall", "Hall", "seats"),
                ],
                uniquenessConstraints: [["row", "letter", "hall"], ["place.city", "place.zip"]]),
            EntityDescription(name: "Hall", properties: [Porting.many("seats", "Seat", "hall", .cascade)]),
        ])
        let context = container.newBackgroundContext()
        let halls = try (0..<2).map { _ in try context.make("Hall") }
        var seats: [ManagedObject] = []
        for hall in halls {
            for row in 1...2 {
                for letter in ["a", "b"] {
                    seats.append(try context.make("Seat", ["row": row, "letter": letter, "hall": hall]))
                }
            }
        }
        for _ in 0..<2 { try context.make("Seat", ["row": 1, "letter": "a"]) }
        for _ in 0..<2 { try context.make("Seat", ["place": ["city": "B"] as [String: Any]]) }
        try context.make("Seat", ["place": ["city": "B", "zip": 1] as [String: Any]])
        try context.save()
        // All of one hall change places in one save.
        for seat in seats {
            let row = try seat.value(forKey: "row") as? Int16 ?? 0
            try seat.setValue(3 - row, forKey: "row")
        }
        try context.save()
        for seat in seats.prefix(4) { try seat.setValue(halls[1], forKey: "hall") }
        for seat in seats.suffix(4) { try seat.setValue(halls[0], forKey: "hall") }
        try context.save()
        try context.make("Seat", ["place": ["city": "B", "zip": 1] as [String: Any]])
        let clash = thrownError { try context.save() }
        #expect(clash?.details.first?.context.key ?? clash?.context.key == "place.city,place.zip")
        context.rollback()
        context.delete(halls[0])
        for letter in ["a", "b"] { try context.make("Seat", ["row": 1, "letter": letter, "hall": halls[1]]) }
        #expect(thrownError { try context.save() }?.code == .constraintMerge)
        context.rollback()
        context.delete(halls[1])
        try context.save()
        #expect(try context.find("Seat").count == 9)
    }
}
