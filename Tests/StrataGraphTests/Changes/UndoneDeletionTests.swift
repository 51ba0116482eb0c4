import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Owners and members are deleted under every pair of delete rules, saved, and brought back by undo: the links are as
/// they were before, and redo leads to the saved state again.
@Suite(.verifiesStores) struct UndoneDeletionTests {
    enum Kind: String, CaseIterable, Sendable {
        case oneToMany, oneToOrdered, oneToOne, manyToMany, orderedToMany, orderedToOrdered
    }

    private static let rules: [DeleteRule] = [.nullify, .cascade, .deny, .noAction]

    /// What one event deletes.
    enum Deletion: String, Sendable {
        case members = "m", owner = "o", all = "mo", allTheOtherWay = "om"
        var names: [String] { rawValue.map { $0 == "m" ? "Member" : "Owner" } }
    }

    private static let paths: [[Deletion]] = [
        [.members], [.owner], [.all], [.allTheOtherWay], [.members, .owner], [.owner, .members],
    ]

    private func entities(_ kind: Kind, _ ownerRule: DeleteRule, _ memberRule: DeleteRule) -> [EntityDescription] {
        let isOrdered = [.oneToOrdered, .orderedToMany, .orderedToOrdered].contains(kind)
        let owned =
            kind == .oneToOne
            ? Porting.one("links", "Member", "back", ownerRule)
            : Porting.many("links", "Member", "back", isOrdered: isOrdered, ownerRule)
        let back =
            [.manyToMany, .orderedToMany, .orderedToOrdered].contains(kind)
            ? Porting.many("back", "Owner", "links", isOrdered: kind == .orderedToOrdered, memberRule)
            : Porting.one("back", "Owner", "links", memberRule)
        return [
            EntityDescription(name: "Owner", properties: [Porting.attribute("name", .string), owned]),
            EntityDescription(name: "Member", properties: [Porting.attribute("name", .string), back]),
        ]
    }

    private func state(_ context: ManagedObjectContext) throws -> [String] {
        // What a rule leaves behind leads to nothing.
        let there = Set(try ["Owner", "Member"].flatMap { try context.find($0) }.map(\.objectID))
        return try [("Owner", "links"), ("Member", "back")].flatMap { entity, key in
            try context.find(entity).map { object in
                let isOrdered = object.entity.relationshipsByName[key]?.isOrdered ?? false
                let ids = try object.objectIDs(forRelationshipNamed: key).filter(there.contains).map(\.row)
                return "\(entity)/\(object.objectID.row) \(key)=\(isOrdered ? ids : ids.sorted())"
            }
        }.sorted()
    }

    private func fill(_ context: ManagedObjectContext, _ kind: Kind) throws {
        let owners = try ["a", "b"].map { try context.make("Owner", ["name": $0]) }
        for index in 0..<(kind == .oneToOne ? 2 : 4) {
            let member = try context.make("Member", ["name": "m\(index)"])
            let count = [.manyToMany, .orderedToMany, .orderedToOrdered].contains(kind) ? 2 : 1
            for owner in 0..<count {
                if kind == .oneToOne {
                    try owners[index].setValue(member, forKey: "links")
                } else {
                    try owners[(index + owner) % 2].insertMember(member, forKey: "links")
                }
            }
        }
        try context.save()
    }

    @Test(arguments: Kind.allCases) func undoneDeletionsLeaveTheLinksOfBefore(kind: Kind) throws {
        for ownerRule in Self.rules {
            for memberRule in Self.rules {
                for path in Self.paths {
                    for savesBetween in [false, true] where path.count > 1 || !savesBetween {
                        let case_ = "\(kind), \(ownerRule), \(memberRule), \(path.map(\.rawValue)), \(savesBetween)"
                        try check(kind, ownerRule, memberRule, path, savesBetween, case_)
                    }
                }
            }
        }
    }

    private func check(
        _ kind: Kind, _ ownerRule: DeleteRule, _ memberRule: DeleteRule, _ path: [Deletion], _ savesBetween: Bool,
        _ comment: String
    ) throws {
        let container = try Porting.container(entities(kind, ownerRule, memberRule))
        let context = container.newBackgroundContext()
        try fill(context, kind)
        let undo = ObjectUndoManager()
        context.undoManager = undo
        var states = [try state(context)]
        for (index, deletion) in path.enumerated() {
            for name in deletion.names {
                for object in try context.find(name) {
                    if try name == "Member" || object.text() == "a" { context.delete(object) }
                }
            }
            context.processPendingChanges()
            if savesBetween || index == path.count - 1 {
                // What a rule forbids to save is no case.
                do { try context.save() } catch { return }
            }
            if undo.undoCount == states.count { states.append(try state(context)) }
        }
        for wanted in states.dropLast().reversed() {
            try undo.undo()
            #expect(try state(context) == wanted, "undone: \(comment)")
        }
        try context.save()
        #expect(try state(container.newBackgroundContext()) == states[0], "saved: \(comment)")
        for wanted in states.dropFirst() {
            try undo.redo()
            #expect(try state(context) == wanted, "redone: \(comment)")
        }
    }
}
