import Foundation
import StrataGraph
import StrataModel
import Testing

/// A required to-many with a minimum needs members, and one without may be empty.
@Suite(.verifiesStores) struct RequiredMembersTests {
    /// Every way in which members can be recorded.
    private static let kinds = ["rows", "ordered", "pairs", "bag"]

    private static func model(_ kind: String, isOptional: Bool, least: Int = 1) throws -> ManagedObjectModel {
        let back: PropertyDescription? =
            switch kind {
            case "rows", "ordered": Porting.one("team", "Team", "players")
            case "pairs": Porting.many("team", "Team", "players")
            default: nil
            }
        let players = RelationshipDescription(
            name: "players", destinationEntityName: "Player", inverseName: back == nil ? nil : "team",
            hasNoInverse: back == nil, isToMany: true, isOrdered: kind == "ordered", isOptional: isOptional,
            minCount: least)
        let name = Porting.attribute("name", .string)
        return try ManagedObjectModel(entities: [
            EntityDescription(name: "Team", properties: [name, .relationship(players)]),
            EntityDescription(name: "Player", properties: [name] + (back.map { [$0] } ?? [])),
        ])
    }

    private func container(_ kind: String, isOptional: Bool = false, least: Int = 1) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Test", model: try Self.model(kind, isOptional: isOptional, least: least), at: .inMemory,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }

    private func isLack(_ error: StrataError?) -> Bool {
        error?.code == .validationRelationshipLacksMinimumCount && error?.context.key == "players"
    }

    @Test(arguments: kinds) func aSaveRefusesAnOwnerWithoutMembers(kind: String) throws {
        let context = try container(kind).newBackgroundContext()
        let team = try context.make("Team", ["name": "t"])
        #expect(isLack(thrownError { try context.save() }) && isLack(thrownError { try team.validateForInsert() }))
        let player = try context.make("Player", ["name": "p"])
        try team.insertMember(player, forKey: "players")
        try context.save()
        _ = try team.removeMember(player, forKey: "players")
        #expect(isLack(thrownError { try context.save() }) && isLack(thrownError { try team.validateForUpdate() }))
        context.rollback()
        context.delete(player)
        #expect(isLack(thrownError { try context.save() }))
        // The owner may go with its last member.
        context.delete(team)
        try context.save()
        #expect(try context.find("Team").isEmpty && context.find("Player").isEmpty)
    }

    @Test(arguments: kinds) func aRequiredOneWithoutMinimumMayBeEmpty(kind: String) throws {
        let context = try container(kind, least: 0).newBackgroundContext()
        let team = try context.make("Team", ["name": "t"])
        try team.validateForInsert()
        try context.save()
        let player = try context.make("Player", ["name": "p"])
        try team.insertMember(player, forKey: "players")
        try context.save()
        context.delete(player)
        try team.setValue("u", forKey: "name")
        try team.validateForUpdate()
        try context.save()
        let insertion = BatchInsertRequest<ManagedObject>(entityName: "Team", [["name": .string("v")]])
        try context.execute(insertion)
        let names = try context.find("Team", sortedBy: [SortDescription("name")]).map { try $0.text() }
        #expect(names == ["u", "v"])
    }

    @Test func aMigrationMakesOneWithoutMinimumRequiredWithoutWork() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "required-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        func container(_ isOptional: Bool, _ least: Int) throws -> PersistentContainer {
            PersistentContainer(
                name: "Test", model: try Self.model("rows", isOptional: isOptional, least: least), at: .url(directory),
                options: .init(durability: .disposable))
        }
        try withLoaded(try container(true, 0)) { try $0.make("Team", ["name": "t"]) }
        for (isOptional, least, sentence) in [
            (false, 0, "Team.players has another delete rule, optionality, hash modifier or user info."),
            (true, 1, "Team.players may have a narrower range of members."),
        ] {
            let container = try container(isOptional, least)
            #expect(try container.migrationPlan().steps.map(\.sentence).contains(sentence))
            try withLoaded(container) { context in try #expect(context.find("Team").count == 1) }
        }
        #expect(thrownError { try container(false, 1).loadPersistentStores() }?.code == .migration)
    }

    @Test(arguments: kinds) func anOptionalOneMayBeEmpty(kind: String) throws {
        let context = try container(kind, isOptional: true).newBackgroundContext()
        try context.make("Team", ["name": "t"])
        try context.save()
    }

    @Test func batchesRefuseItToo() throws {
        let context = try container("rows").newBackgroundContext()
        let insertion = BatchInsertRequest<ManagedObject>(entityName: "Team", [["name": .string("t")]])
        #expect(isLack(thrownError { try context.execute(insertion) }))
        let player = try context.make("Player", ["name": "p", "team": try context.make("Team")])
        try context.save()
        let named = try FetchPredicate(format: "SELF == %@", player)
        let deletion = BatchDeleteRequest<ManagedObject>(entityName: "Player", where: named)
        #expect(isLack(thrownError { try context.execute(deletion) }))
    }

    @Test func aMigrationNamesTheOwnersWithoutMembers() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "required-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        func container(_ isOptional: Bool) throws -> PersistentContainer {
            PersistentContainer(
                name: "Test", model: try Self.model("rows", isOptional: isOptional), at: .url(directory),
                options: .init(durability: .disposable))
        }
        let empty = try withLoaded(try container(true)) { context in
            try context.make("Player", ["team": try context.make("Team")])
            return try context.make("Team").objectID
        }
        let error = thrownError { try container(false).loadPersistentStores() }
        #expect(error?.details.map(\.context.objectID) == [empty])
        #expect(error?.details.first?.code == .validationRelationshipLacksMinimumCount)
        try withLoaded(try container(true)) { $0.delete(try $0.existingObject(with: empty)) }
        try withLoaded(try container(false)) { context in try #expect(context.find("Team").count == 1) }
    }
}
