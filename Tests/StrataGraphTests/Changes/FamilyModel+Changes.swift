import StrataGraph
import StrataModel
import StrataTestSupport

extension FamilyModel {
    /// Makes, deletes, links or changes an object at random.
    ///
    /// - Returns: what was done.
    static func change(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws -> String {
        func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        let kinds = ["Folder", "Folder", "Folder", "Box", "Tag", "Key", "Lock", "Cover", "Page", "Song"]
        let names = ["a", "b", "c", "d"]
        let entity = kinds[chance(kinds.count)]
        guard let object = try context.find(entity).randomElement(using: &random), chance(7) > 0 else {
            let made = try context.make(entity, ["name": names[chance(4)], "rank": chance(9)])
            return "new \(entity)/\(made.objectID.row)"
        }
        let what = "\(entity)/\(object.objectID.row)"
        switch chance(10) {
        case 0:
            context.delete(object)
            return "\(what) goes"
        case 1:
            try object.setValue(names[chance(4)], forKey: "name")
            return "name of \(what)"
        case 2:
            try object.setValue(chance(9), forKey: "rank")
            return "rank of \(what)"
        default:
            let relationships = FamilyModel.relationships(of: object)
            let relationship = relationships[chance(relationships.count)]
            let text = try link(object, relationship, &random)
            return "\(what).\(relationship.name)\(text)"
        }
    }

    private static func link(
        _ object: ManagedObject, _ relationship: RelationshipDescription, _ random: inout SeededGenerator
    ) throws -> String {
        func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        let key = relationship.name
        let all = try object.managedObjectContext?.find(relationship.destinationEntityName) ?? []
        guard relationship.isToMany else {
            let target = chance(4) == 0 ? nil : all.randomElement(using: &random)
            try object.setValue(target, forKey: key)
            return " = \(target?.objectID.row ?? 0)"
        }
        let members = try object.value(forKey: key) as? [ManagedObject] ?? []
        switch chance(5) {
        case 0:
            let chosen = Array(all.shuffled(using: &random).prefix(chance(4)))
            try object.setValue(chosen, forKey: key)
            return " = \(chosen.map(\.objectID.row))"
        case 1:
            guard let member = members.randomElement(using: &random) else { return " stays" }
            _ = try object.removeMember(member, forKey: key)
            return " without \(member.objectID.row)"
        case 2 where relationship.isOrdered:
            let shuffled = members.shuffled(using: &random)
            try object.setValue(shuffled, forKey: key)
            return " in the order \(shuffled.map(\.objectID.row))"
        case 3 where relationship.isOrdered:
            guard let member = all.randomElement(using: &random) else { return " stays" }
            let position = chance(members.filter { $0 !== member }.count + 1)
            try object.insertMembers([member], forKey: key, at: position)
            return " with \(member.objectID.row) at \(position)"
        default:
            guard let member = all.randomElement(using: &random) else { return " stays" }
            try object.insertMember(member, forKey: key)
            return " with \(member.objectID.row)"
        }
    }
}
