import Foundation
import StrataGraph
import StrataModel

/// Entities with every kind of relationship, and what must hold of any context over them.
enum FamilyModel {
    static func entities() -> [EntityDescription] {
        let plain = [Porting.attribute("name", .string), Porting.attribute("rank", .integer32)]
        return [
            EntityDescription(
                name: "Folder",
                properties: plain + [
                    Porting.one("parent", "Folder", "children"), Porting.many("children", "Folder", "parent", .cascade),
                    Porting.one("next", "Folder", "previous"), Porting.one("previous", "Folder", "next"),
                    Porting.one("origin", "Folder", nil), Porting.many("tags", "Tag", "folders"),
                    Porting.many("keys", "Key", "folders", .cascade), Porting.many("locks", "Lock", "folder", .deny),
                    Porting.one("cover", "Cover", "folder", .cascade),
                    Porting.many("pages", "Page", "folder", isOrdered: true),
                    Porting.many("songs", "Song", "lists", isOrdered: true),
                    Porting.many("marks", "Tag", nil, isOrdered: true), Porting.many("bag", "Page", nil),
                ]),
            EntityDescription(
                name: "Box", superentityName: "Folder", properties: [Porting.attribute("width", .double)]),
            EntityDescription(name: "Tag", properties: plain + [Porting.many("folders", "Folder", "tags")]),
            EntityDescription(name: "Key", properties: plain + [Porting.many("folders", "Folder", "keys")]),
            EntityDescription(name: "Lock", properties: plain + [Porting.one("folder", "Folder", "locks")]),
            EntityDescription(name: "Cover", properties: plain + [Porting.one("folder", "Folder", "cover")]),
            EntityDescription(name: "Page", properties: plain + [Porting.one("folder", "Folder", "pages", .cascade)]),
            EntityDescription(
                name: "Song", properties: plain + [Porting.many("lists", "Folder", "songs", isOrdered: true)]),
        ]
    }

    private static let roots = ["Folder", "Tag", "Key", "Lock", "Cover", "Page", "Song"]
    private static let relationships = Dictionary(
        uniqueKeysWithValues: entities().map { entity in
            (entity.name, entity.properties.compactMap(\.relationship).sorted { $0.name < $1.name })
        })

    static func relationships(of object: ManagedObject) -> [RelationshipDescription] {
        relationships[object.entity.name == "Box" ? "Folder" : object.entity.name] ?? []
    }

    /// Every object with its links to others that are there, a line for each.
    static func state(_ context: ManagedObjectContext) throws -> [String] {
        let all = try roots.flatMap { try context.find($0) }
        let there = Set(all.map(\.objectID))
        return try all.map { object in
            var text = "\(object.entity.name)/\(object.objectID.row) \(try object.text() ?? "-")"
            text += " \(try object.value(forKey: "rank") as? Int32 ?? -1)"
            for relationship in relationships(of: object) {
                let rows = try object.objectIDs(forRelationshipNamed: relationship.name).filter(there.contains).map(
                    \.row)
                if rows.isEmpty { continue }
                text += " \(relationship.name)=\(relationship.isOrdered ? rows : rows.sorted())"
            }
            return text
        }
    }

    /// What differs between two states.
    static func difference(_ left: [String], _ right: [String]) -> String {
        let (lefts, rights) = (Set(left), Set(right))
        return "\(left.filter { !rights.contains($0) }) instead of \(right.filter { !lefts.contains($0) })"
    }

    // MARK: What must hold

    /// What is wrong in a context, by itself: lists with doubles, ends of a link that disagree, links to nothing, and
    /// requests that find what their predicates deny of the objects in memory.
    static func problem(_ context: ManagedObjectContext) throws -> String? {
        let all = Dictionary(
            uniqueKeysWithValues: try roots.flatMap { try context.find($0) }.map { ($0.objectID, $0) })
        var leadsNowhere = false
        for object in all.values {
            for relationship in relationships(of: object) {
                let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
                if let problem = try problem(object, relationship, ids, all) { return problem }
                leadsNowhere = leadsNowhere || ids.contains { all[$0] == nil }
            }
            if object.isDeleted { return "\(object) is found and deleted" }
        }
        // Links to what is gone are for the next save to settle.
        if leadsNowhere { return nil }
        for format in formats {
            let predicate = try FetchPredicate(format: format)
            let found = try context.find("Folder", format).map(\.objectID)
            let folders = all.values.filter { ["Folder", "Box"].contains($0.entity.name) }
            let wanted = try folders.filter { try predicate.evaluate(with: $0) }.map(\.objectID)
            if Set(found) != Set(wanted) { return "\(format): found \(found), wanted \(wanted)" }
        }
        return nil
    }

    private static func problem(
        _ object: ManagedObject, _ relationship: RelationshipDescription, _ ids: [ObjectID],
        _ all: [ObjectID: ManagedObject]
    ) throws -> String? {
        let what = "\(object.objectID).\(relationship.name)"
        if Set(ids).count != ids.count { return "\(what) has doubles: \(ids)" }
        if relationship.isToMany {
            let count = try object.value(forKeyPath: "\(relationship.name).@count")
            if "\(count ?? "nil")" != "\(ids.count)" { return "\(what) counts \(count ?? "nil") of \(ids)" }
        }
        for target in ids {
            guard let other = all[target] else {
                // Of a child they may be what its parent deletes, or denies to delete.
                guard let context = object.managedObjectContext, context.parent == nil, !context.hasChanges else {
                    continue
                }
                return "\(what) leads to \(target), which is not there"
            }
            guard let inverse = relationship.inverseName else { continue }
            if try !other.objectIDs(forRelationshipNamed: inverse).contains(object.objectID) {
                return "\(what) has \(target), whose \(inverse) does not have it"
            }
        }
        return nil
    }

    private static let formats = [
        "parent.name == 'a'", "ANY children.name == 'b'", "children.@count > 1", "next != nil AND next.parent == nil",
        "ANY tags.name BEGINSWITH 'c'", "locks.@count == 0", "SUBQUERY(pages, $p, $p.rank > 5).@count > 0",
        "cover.name == 'd'", "ANY songs.rank > 6", "ANY marks.name == 'a'", "ALL keys.rank > 3", "origin.parent != nil",
        "ANY pages.folder.tags.name == 'b'", "NONE children.tags.name == 'a'", "previous.next == SELF",
        "ANY bag.rank < 5", "pages.rank.@sum > 10",
    ]
}
