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
            (false, 0, "Team.players has another optionality."),
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

    // MARK: Members that leave and come back

    /// Teams whose players are a Kept and a Leaf. Leaves are players under A, and no longer under B.
    private struct Squad {
        let url = FileManager.default.temporaryDirectory.appending(path: "required-\(UUID().uuidString)")

        func container(_ parent: String?, least: Int = 1, most: Int = 0) throws -> PersistentContainer {
            let name = Porting.attribute("name", .string)
            let players = RelationshipDescription(
                name: "players", destinationEntityName: "A", inverseName: "teams", isToMany: true, isOptional: false,
                minCount: least, maxCount: most)
            let leaf = parent.map { [EntityDescription(name: "Leaf", superentityName: $0)] } ?? []
            let model = try ManagedObjectModel(
                entities: [
                    EntityDescription(name: "Team", properties: [name, .relationship(players)]),
                    EntityDescription(name: "A", properties: [name, Porting.many("teams", "Team", "players")]),
                    EntityDescription(name: "B", properties: [name]),
                    EntityDescription(name: "Kept", superentityName: "A"),
                ] + leaf)
            return PersistentContainer(
                name: "Test", model: model, at: .url(url),
                options: .init(durability: .disposable, migration: .automatic, allowsModelDowngrade: true))
        }

        func make(_ players: [String], least: Int = 1, most: Int = 0) throws -> ObjectID {
            try withLoaded(container("A", least: least, most: most)) { context in
                let made = try players.map { try context.make($0, ["name": $0]) }
                let team = try context.make("Team", ["name": "t"])
                try team.setValue(Set(made), forKey: "players")
                try context.save()
                return team.objectID
            }
        }
    }

    private static func names(_ id: ObjectID, _ context: ManagedObjectContext) throws -> [String] {
        let team = try context.existingObject(with: id)
        return try team.objectIDs(forRelationshipNamed: "players").map {
            try context.existingObject(with: $0).text() ?? ""
        }
    }

    private func expectRefusal(
        _ container: PersistentContainer, _ id: ObjectID, _ code: StrataError.Code, _ place: Comment
    ) {
        let error = thrownError { try container.loadPersistentStores() }
        #expect(error?.details.map(\.context.objectID) == [id] && error?.details.first?.code == code, place)
    }

    /// Under B, or without the entity.
    @Test(arguments: ["B", nil]) func aTeamThatLosesTooManyPlayersIsNamed(parent: String?) throws {
        let lack = StrataError.Code.validationRelationshipLacksMinimumCount
        for (players, least) in [(["Leaf"], 1), (["Leaf", "Kept"], 2)] {
            let squad = Squad()
            defer { try? FileManager.default.removeItem(at: squad.url) }
            let team = try squad.make(players, least: least)
            expectRefusal(try squad.container(parent, least: least), team, lack, "\(players)")
            try withLoaded(squad.container("A", least: least)) { context in
                try #expect(Self.names(team, context).count == players.count)
            }
        }
    }

    @Test(arguments: ["B", nil]) func saveCountsThePlayersThatStay(parent: String?) throws {
        let squad = Squad()
        defer { try? FileManager.default.removeItem(at: squad.url) }
        let team = try squad.make(["Leaf", "Kept"])
        try withLoaded(squad.container(parent)) { context in
            let object = try context.existingObject(with: team)
            #expect(try Self.names(team, context) == ["Kept"])
            try object.setValue("u", forKey: "name")
            try context.save()
            try object.setValue(Set<ManagedObject>(), forKey: "players")
            #expect(isLack(thrownError { try context.save() }))
            context.rollback()
            context.delete(try #require(try context.find("Kept").first))
            #expect(isLack(thrownError { try context.save() }))
            context.rollback()
        }
        // The Leaf is a player again, so the Kept may go.
        try withLoaded(squad.container("A")) { context in
            #expect(try Set(Self.names(team, context)) == ["Leaf", "Kept"])
            context.delete(try #require(try context.find("Kept").first))
            try context.save()
            #expect(try Self.names(team, context) == ["Leaf"])
        }
    }

    /// The bounds of the model that has the players again count those that come back.
    @Test(arguments: ["B", nil]) func boundsCountThePlayersThatComeBack(parent: String?) throws {
        let squad = Squad()
        defer { try? FileManager.default.removeItem(at: squad.url) }
        let team = try squad.make(["Leaf", "Kept"], least: 2)
        try withLoaded(squad.container(parent)) { context in
            try #expect(Self.names(team, context) == ["Kept"])
        }
        let tooFew = try squad.container("A", least: 3)
        expectRefusal(tooFew, team, .validationRelationshipLacksMinimumCount, "three are needed")
        try withLoaded(squad.container("A", least: 2)) { context in
            try #expect(Set(Self.names(team, context)) == ["Leaf", "Kept"])
        }
    }

    @Test(arguments: ["B", nil]) func aTeamThatGetsTooManyPlayersBackIsNamed(parent: String?) throws {
        let squad = Squad()
        defer { try? FileManager.default.removeItem(at: squad.url) }
        let team = try squad.make(["Leaf", "Kept"], most: 2)
        let other = try withLoaded(squad.container(parent, most: 2)) { context in
            let other = try context.make("Kept", ["name": "other"])
            try context.existingObject(with: team).insertMember(other, forKey: "players")
            try context.save()
            return other.objectID
        }
        let whole = try squad.container("A", most: 2)
        expectRefusal(whole, team, .validationRelationshipExceedsMaximumCount, "three at most two")
        try withLoaded(squad.container(parent, most: 2)) { context in
            context.delete(try context.existingObject(with: other))
        }
        try withLoaded(squad.container("A", most: 2)) { context in
            try #expect(Set(Self.names(team, context)) == ["Leaf", "Kept"])
        }
    }
}
