import Foundation
import StrataGraph
import StrataModel
import Testing

/// Ordered relationships as `NSOrderedSet` had them.
@Suite(.verifiesStores) struct OrderedPortingTests {
    private static func model(_ isSelfInverse: Bool = true) -> [EntityDescription] {
        [
            EntityDescription(
                name: "Person",
                properties: [
                    Porting.attribute("name", .string), Porting.many("friends", "Person", "friends", isOrdered: true),
                    Porting.many("likes", "Person", "likedBy", isOrdered: true),
                    Porting.many("likedBy", "Person", "likes", isOrdered: true),
                    Porting.many("children", "Person", "parent", isOrdered: true, .cascade),
                    Porting.one("parent", "Person", "children"),
                    Porting.many("seen", "Person", nil, isOrdered: true),
                ])
        ]
    }

    let container: PersistentContainer
    let context: ManagedObjectContext
    let people: [ManagedObject]

    init() throws {
        container = try Porting.container(Self.model())
        let context = container.newBackgroundContext()
        self.context = context
        people = try "abcdef".map { try context.make("Person", ["name": String($0)]) }
        try context.save()
    }

    private let relationships = ["friends", "likes", "children", "seen"]

    private func pick(_ letters: String) -> [ManagedObject] {
        letters.map { people[Int($0.asciiValue ?? 97) - 97] }
    }

    private func names(_ letter: String, _ key: String, _ context: ManagedObjectContext? = nil) throws -> String {
        let context = context ?? self.context
        return try context.existingObject(with: pick(letter)[0].objectID).texts(key).joined()
    }

    /// In this context before and after a save, and in a fresh one.
    private func expect(_ letter: String, _ key: String, _ wanted: String) throws {
        #expect(try names(letter, key) == wanted, "\(key) before the save")
        try context.save()
        #expect(try names(letter, key) == wanted, "\(key) after the save")
        #expect(try names(letter, key, container.newBackgroundContext()) == wanted, "\(key) elsewhere")
    }

    @Test func theFirstOfDuplicatesStands() throws {
        for key in relationships {
            try people[0].setValue(pick("bcbdc"), forKey: key)
            try expect("a", key, "bcd")
        }
    }

    @Test func assigningReordersAndReplaces() throws {
        for key in relationships {
            try people[0].setValue(pick("bcdef"), forKey: key)
            try context.save()
            try people[0].setValue(pick("fbe"), forKey: key)
            try expect("a", key, "fbe")
            try people[0].setValue(pick("cfbde"), forKey: key)
            try expect("a", key, "cfbde")
        }
    }

    @Test func membersAreInsertedAtTheirPlace() throws {
        for key in relationships {
            try people[0].setValue(pick("bc"), forKey: key)
            try context.save()
            try people[0].insertMembers(pick("d"), forKey: key, at: 0)
            try people[0].insertMembers(pick("e"), forKey: key, at: 2)
            try people[0].insertMembers(pick("f"), forKey: key, at: 4)
            try expect("a", key, "dbecf")
            try people[0].insertMembers(pick("f"), forKey: key, at: 1)
            try expect("a", key, "dfbec")
            // Some of them members in front of the place and behind it, one named twice.
            try people[0].insertMembers(pick("cdc"), forKey: key, at: 1)
            try expect("a", key, "fcdbe")
            try people[0].insertMembers(pick("fc"), forKey: key, at: 3)
            try expect("a", key, "dbefc")
            #expect(
                thrownError { try people[0].insertMembers(pick("fc"), forKey: key, at: 4) }?.code == .invalidRequest)
        }
    }

    @Test func bothEndsOfAnOrderedRelationshipHaveOrdersOfTheirOwn() throws {
        for (key, inverse) in [("friends", "friends"), ("likes", "likedBy")] {
            try people[0].setValue(pick("bcd"), forKey: key)
            try people[1].setValue(pick("fea"), forKey: inverse)
            try context.save()
            #expect(try names("a", key).hasPrefix("bcd"))
            #expect(try names("b", inverse) == "fea")
            try people[1].setValue(pick("aef"), forKey: inverse)
            try expect("b", inverse, "aef")
            #expect(try names("a", key) == "bcd")
        }
    }

    @Test func aChildsOrdersReachItsParent() throws {
        for (key, inverse) in [("friends", "friends"), ("likes", "likedBy")] {
            try people[0].setValue(pick("bcd"), forKey: key)
            try context.save()
            let child = try context.newChildContext()
            let b = try child.existingObject(with: people[1].objectID)
            try b.setValue(try pick("fea").map { try child.existingObject(with: $0.objectID) }, forKey: inverse)
            #expect(try b.texts(inverse).joined() == "fea")
            try child.save()
            #expect(try names("b", inverse) == "fea", "\(inverse) in the parent")
            try expect("b", inverse, "fea")
        }
    }

    @Test func undoBringsBothOrdersBack() throws {
        for (key, inverse) in [("friends", "friends"), ("likes", "likedBy")] {
            try people[0].setValue(pick("bcd"), forKey: key)
            try people[1].setValue(pick("fea"), forKey: inverse)
            try context.save()
            context.undoManager = ObjectUndoManager()
            try people[1].setValue(pick("aef"), forKey: inverse)
            context.processPendingChanges()
            try context.undoManager?.undo()
            try expect("b", inverse, "fea")
            #expect(try names("a", key) == "bcd")
            context.delete(people[5])
            context.processPendingChanges()
            #expect(try names("b", inverse) == "ea")
            try context.undoManager?.undo()
            try expect("b", inverse, "fea")
            context.undoManager = nil
        }
    }

    @Test func theRevertOfATransactionBringsBothOrdersBack() throws {
        for (key, inverse) in [("friends", "friends"), ("likes", "likedBy")] {
            try people[0].setValue(pick("bcd"), forKey: key)
            try people[1].setValue(pick("fea"), forKey: inverse)
            try context.save()
            try people[1].setValue(pick("ea"), forKey: inverse)
            try context.save()
            let transaction = try #require(try container.transactions().last?.number)
            try context.revert(transaction)
            try expect("b", inverse, "fea")
        }
    }

    @Test func placesOutsideAreRefusedOrTheEnd() throws {
        for key in relationships {
            try people[0].setValue(pick("bc"), forKey: key)
            #expect(
                thrownError { try people[0].insertMembers(pick("d"), forKey: key, at: -1) }?.code == .invalidRequest)
            #expect(
                thrownError { try people[0].insertMembers(pick("d"), forKey: key, at: 3) }?.code == .invalidRequest)
            #expect(try names("a", key) == "bc")
        }
    }

    /// An object may be a member of its own; both ends of the pair are then the same object.
    @Test func anObjectAmongItsOwnMembersHasItsPlace() throws {
        for key in ["friends", "likes", "likedBy", "seen"] {
            try people[0].setValue(pick("bad"), forKey: key)
            try expect("a", key, "bad")
            try people[0].insertMembers(pick("a"), forKey: key, at: 2)
            try expect("a", key, "bda")
            try update("a", key, "abd")
            try expect("a", key, "abd")
            _ = try people[0].removeMember(people[0], forKey: key)
            try expect("a", key, "bd")
        }
    }

    @Test func batchesKeepTheOrderOfTheOtherEnd() throws {
        for (key, inverse) in [("friends", "friends"), ("likes", "likedBy"), ("likedBy", "likes")] {
            try people[0].setValue(pick("dcb"), forKey: key)
            try context.save()
            let before = try container.head()
            try update("b", inverse, "a")
            #expect(try container.head() == before, "nothing was changed")
            try update("e", inverse, "a")
            try expect("a", key, "dcbe")
            try update("a", key, "ceb")
            try expect("a", key, "ceb")
            try update("f", inverse, "ca")
            try expect("a", key, "cebf")
            try expect("f", inverse, "ca")
        }
    }

    private func update(_ letter: String, _ key: String, _ members: String) throws {
        try context.execute(
            BatchUpdateRequest<ManagedObject>(
                entityName: "Person",
                where: .comparison(ComparisonPredicate(.keyPath("name"), .equalTo, .constant(.string(letter)))),
                setting: [key: .aggregate(pick(members).map { .constant(.objectID($0.objectID)) })]))
    }

    @Test func aMemberThatGoesAndComesBackIsAtTheEnd() throws {
        for key in relationships {
            try people[0].setValue(pick("bcd"), forKey: key)
            try context.save()
            _ = try people[0].removeMember(pick("b")[0], forKey: key)
            try people[0].insertMember(pick("b")[0], forKey: key)
            try expect("a", key, "cdb")
        }
    }
}
