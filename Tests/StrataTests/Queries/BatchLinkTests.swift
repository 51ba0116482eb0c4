import Foundation
import Strata
import Testing

@Entity final class Club: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Player.captainOf) var captain: Player?
    @Relationship(.ordered, .maxCount(4), inverse: \Player.club) var players: ToMany<Player>
    @Relationship(.minCount(1), inverse: \Cup.clubs) var cups: ToMany<Cup>
}

@Entity final class Player: ManagedObject {
    @Attribute(.unique) var number: Int = 0
    var club: Club?
    var captainOf: Club?
    @Relationship(inverse: \Player.rivalOf) var rivals: ToMany<Player>
    var rivalOf: ToMany<Player>
    @Relationship(inverse: \Player.followedBy) var follows: Player?
    var followedBy: Player?
    @Relationship(.ordered, inverse: \Player.teacher) var pupils: ToMany<Player>
    var teacher: Player?
}

@Entity final class Cup: ManagedObject {
    var name: String = ""
    @Relationship(.minCount(1), .required) var clubs: ToMany<Club>
    @Relationship(.noInverse) var stars: ToMany<Player>
}

/// Batches that change both ends of relationships.
@Suite struct BatchLinkTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let players: [Player]

    init() throws {
        container = try makeOpenContainer([Club.self, Player.self, Cup.self])
        context = container.newBackgroundContext()
        players = (0..<6).map { [context] number in
            let player = Player(context: context)
            player.number = number
            return player
        }
        try context.save()
    }

    private func clubs() throws -> [Club] { try context.fetch(FetchRequest<Club>().sorted(by: \.name)) }

    private func club(_ name: String, captain: Player? = nil, _ members: [Player] = []) -> BatchRow<Club> {
        var row = BatchRow<Club>()
        row[\.name] = name
        if let captain { row[\.captain] = captain.objectID }
        if !members.isEmpty { row[\.players] = members.map(\.objectID) }
        return row
    }

    @Test func theOtherEndOfAOneToOneIsSet() throws {
        try context.execute(BatchInsertRequest([club("a", captain: players[0]), club("b", captain: players[1])]))
        let found = try clubs()
        #expect(found.map(\.captain) == [players[0], players[1]])
        #expect(players[0].captainOf === found[0] && players[1].captainOf === found[1])
        // Taken from the one, the other has none.
        try context.execute(
            BatchUpdateRequest<Club>().where { $0.name == "b" }.setting(\.captain, to: players[0].objectID))
        #expect(found[0].captain == nil && found[1].captain == players[0])
        #expect(players[0].captainOf === found[1] && players[1].captainOf == nil)
        try context.execute(BatchUpdateRequest<Player>().where { $0.number == 0 }.setting(\.captainOf, to: nil))
        #expect(found[1].captain == nil && players[0].captainOf == nil)
    }

    @Test func ofTwoRowsThatClaimOneObjectTheLaterHasIt() throws {
        try context.execute(BatchInsertRequest([club("a", captain: players[0]), club("b", captain: players[0])]))
        let found = try clubs()
        #expect(found.map(\.captain) == [nil, players[0]] && players[0].captainOf === found[1])
    }

    @Test func membersAreGivenInTheirOrder() throws {
        let order = [players[3], players[1], players[2]]
        try context.execute(BatchInsertRequest([club("a", order)]))
        let found = try #require(try clubs().first)
        #expect(Array(found.players) == order && players[1].club === found)
        // Others in another order; one that is left out leads nowhere.
        let now = [players[2], players[0], players[3]]
        try context.execute(BatchUpdateRequest<Club>().setting(\.players, to: now.map(\.objectID)))
        #expect(Array(found.players) == now && players[1].club == nil && players[0].club === found)
        try context.execute(BatchUpdateRequest<Club>().setting(\.players, to: []))
        #expect(found.players.isEmpty && players.allSatisfy { $0.club == nil })
    }

    /// Rows of one step that say something of each other, as if each were a step of its own.
    @Test(arguments: [1, 10_000]) func rowsThatNameEachOtherAreTakenInTheirOrder(stepSize: Int) throws {
        let ids = players.map(\.objectID)
        func row(_ number: Int) -> BatchRow<Player> {
            var row = BatchRow<Player>()
            row[\.number] = number
            return row
        }
        func merge(_ rows: [BatchRow<Player>]) throws {
            var request = BatchInsertRequest<Player>(rows, onClash: .merge)
            request.stepSize = stepSize
            try context.execute(request)
        }
        // One-to-one: 1 follows 0, then 0 is followed by 2, who was followed by none; and 3 by 2 before.
        players[3].follows = players[2]
        try context.save()
        var (first, second) = (row(1), row(0))
        first[\.follows] = ids[0]
        second[\.followedBy] = ids[2]
        try merge([first, second])
        #expect(players[0].followedBy === players[2] && players[2].follows === players[0])
        #expect(players[1].follows == nil && players[3].follows === players[2])
        var request = try BatchUpdateRequest<Player>().where { $0.number < 2 }.setting(\.follows, to: ids[1])
        request.stepSize = stepSize
        try context.execute(request)
        #expect(players[0].follows == nil && players[1].follows === players[1])
        // Many-to-many: the later row says none.
        (first, second) = (row(0), row(1))
        first[\.rivals] = [ids[1], ids[2]]
        second[\.rivalOf] = []
        try merge([first, second])
        #expect(Array(players[0].rivals) == [players[2]] && players[1].rivalOf.isEmpty)
        // One-to-many: 0 is taken in by 1 and goes to 2 by itself; 3 goes to 1, which then has none.
        (first, second) = (row(1), row(0))
        first[\.pupils] = [ids[0]]
        second[\.teacher] = ids[2]
        var (third, fourth) = (row(3), row(1))
        third[\.teacher] = ids[1]
        try merge([first, second, third])
        #expect(players[0].teacher === players[2] && players[1].pupils.map(\.objectID) == [ids[3]])
        fourth[\.pupils] = []
        try merge([third, fourth])
        #expect(players[3].teacher == nil && players[1].pupils.isEmpty)
        fourth[\.pupils] = [ids[4], ids[5]]
        try merge([fourth, third, second])
        #expect(players[1].pupils.map(\.objectID) == [ids[4], ids[5], ids[3]], "behind those that are given")
    }

    @Test(arguments: UniquenessPolicy.allCases) func boundsHoldWhateverBecomesOfARow(policy: UniquenessPolicy) throws {
        try context.execute(BatchInsertRequest([club("a", Array(players.prefix(3)))]))
        let found = try #require(try clubs().first)
        let rows = [100, 101].map { number in
            var row = BatchRow<Player>()
            row[\.number] = number
            row[\.club] = found.objectID
            return row
        }
        let error = #expect(throws: StrataError.self) {
            try context.execute(BatchInsertRequest(rows, onClash: policy))
        }
        #expect(error?.code == .validationRelationshipExceedsMaximumCount)
        #expect(found.players.count == 3)
        #expect(try context.execute(BatchInsertRequest([rows[0]], onClash: policy)).count == 1)
        #expect(found.players.count == 4)
    }

    @Test func aMemberThatIsGivenItsOwnerAgainKeepsItsPosition() throws {
        try context.execute(
            BatchInsertRequest([club("a", [players[2], players[0], players[1]]), club("b", [players[3]])]))
        let found = try clubs()
        let before = try container.head()
        let ids = found.map(\.objectID)
        let same = try context.execute(
            BatchUpdateRequest<Player>().where { $0.number == 2 }.setting(\.club, to: ids[0]))
        var row = BatchRow<Player>()
        row[\.number] = 0
        row[\.club] = ids[0]
        let merged = try context.execute(BatchInsertRequest([row], onClash: .merge))
        let listed = try context.execute(
            BatchUpdateRequest<Club>().where { $0.name == "a" }
                .setting(\.players, to: [players[2], players[0], players[1]].map(\.objectID)))
        #expect(same.transactionCount == 0 && merged.transactionCount == 0 && listed.transactionCount == 0)
        #expect(try container.head() == before, "nothing was changed")
        #expect(Array(found[0].players) == [players[2], players[0], players[1]])
        // Who goes elsewhere stands behind the others, however it goes.
        try context.execute(BatchUpdateRequest<Player>().where { $0.number == 2 }.setting(\.club, to: ids[1]))
        row[\.club] = ids[1]
        try context.execute(BatchInsertRequest([row], onClash: .merge))
        #expect(Array(found[1].players) == [players[3], players[2], players[0]])
        row[\.number] = 5
        try context.execute(BatchInsertRequest([row], onClash: .replace))
        #expect(Array(found[1].players) == [players[3], players[2], players[0], players[5]])
        #expect(Array(found[0].players) == [players[1]])
    }

    @Test func pairsAreLinkedFromEitherEnd() throws {
        try context.execute(BatchInsertRequest([club("a"), club("b")]))
        let found = try clubs()
        var row = BatchRow<Cup>()
        row[\.clubs] = found.map(\.objectID)
        row[\.stars] = [players[0].objectID]
        try context.execute(BatchInsertRequest([row]))
        let cup = try #require(try context.fetch(FetchRequest<Cup>()).first)
        #expect(cup.clubs.count == 2 && found[0].cups.contains(cup) && cup.stars.contains(players[0]))
        try context.execute(
            BatchUpdateRequest<Player>().where { $0.number == 0 }
                .setting(\.rivals, to: [players[1].objectID, players[2].objectID]))
        #expect(players[1].rivalOf.contains(players[0]) && players[0].rivals.count == 2)
        let again = try context.execute(
            BatchUpdateRequest<Player>().where { $0.number == 0 }
                .setting(\.rivals, to: [players[2].objectID, players[1].objectID]))
        #expect(again.transactionCount == 0, "nothing was changed")
        try context.execute(
            BatchUpdateRequest<Player>().where { $0.number == 1 }.setting(\.rivalOf, to: [players[3].objectID]))
        #expect(Set(players[0].rivals) == [players[2]] && players[3].rivals.contains(players[1]))
    }

    @Test func boundsAreCountedAtBothEnds() throws {
        let tooMany = #expect(throws: StrataError.self) {
            try context.execute(BatchInsertRequest([club("a", Array(players.prefix(5)))]))
        }
        #expect(tooMany?.code == .validationRelationshipExceedsMaximumCount)
        try context.execute(BatchInsertRequest([club("a", Array(players.prefix(4)))]))
        let found = try #require(try clubs().first)
        let onePlayerMore = #expect(throws: StrataError.self) {
            try context.execute(
                BatchUpdateRequest<Player>().where { $0.number == 5 }.setting(\.club, to: found.objectID))
        }
        #expect(onePlayerMore?.context.objectID == found.objectID)
        // A cup without a club.
        let empty = #expect(throws: StrataError.self) { try context.execute(BatchInsertRequest([BatchRow<Cup>()])) }
        #expect(empty?.code == .validationRelationshipLacksMinimumCount)
        #expect(try context.count(for: FetchRequest<Cup>()) == 0)
    }

    /// Both ends of a many-to-many: what loses its last member with an object that goes.
    @Test func aDeletionThatLeavesTooFewIsRefused() throws {
        try context.execute(BatchInsertRequest([club("a"), club("b")]))
        var row = BatchRow<Cup>()
        row[\.clubs] = try clubs().map(\.objectID)
        try context.execute(BatchInsertRequest([row]))
        #expect(try context.execute(BatchDeleteRequest<Club>().where { $0.name == "a" }).count == 1)
        let error = #expect(throws: StrataError.self) {
            try context.execute(BatchDeleteRequest<Club>().where { $0.name == "b" })
        }
        #expect(error?.code == .validationRelationshipLacksMinimumCount && error?.context.entityName == "Cup")
        #expect(try clubs().count == 1)
        // With the cup both may go.
        #expect(try context.execute(BatchDeleteRequest<Cup>()).count == 1)
    }

    @Test func whatIsNoObjectOfTheRightKindIsRefused() throws {
        try context.execute(BatchInsertRequest([club("a")]))
        let id = try #require(try clubs().first).objectID
        var wrong = BatchRow<Club>()
        wrong.members["players"] = [id]
        #expect(throws: StrataError.self) { try context.execute(BatchInsertRequest([wrong])) }
        wrong.members = ["name": [id]]
        #expect(throws: StrataError.self) { try context.execute(BatchInsertRequest([wrong])) }
        #expect(throws: StrataError.self) {
            try context.execute(BatchUpdateRequest<Club>(setting: ["players": .constant(.objectID(id))]))
        }
        let gone = players[5].objectID
        context.delete(players[5])
        try context.save()
        let missing = #expect(throws: StrataError.self) {
            try context.execute(BatchUpdateRequest<Club>().setting(\.players, to: [gone]))
        }
        #expect(missing?.code == .referentialIntegrity)
    }

    private func player(
        _ number: Int, rivals: [Int]? = nil, captainOf club: Club? = nil
    ) -> BatchRow<Player> {
        var row = BatchRow<Player>()
        row[\.number] = number
        if let rivals { row[\.rivals] = rivals.map { players[$0].objectID } }
        if let club { row[\.captainOf] = club.objectID }
        return row
    }

    @Test(arguments: [UniquenessPolicy.merge, .replace])
    func anObjectThatARowIsMergedIntoGetsTheMembersOfTheRow(policy: UniquenessPolicy) throws {
        try context.execute(BatchInsertRequest([club("a", captain: players[1]), club("b", captain: players[2])]))
        let found = try clubs()
        try context.execute(BatchInsertRequest([player(0, rivals: [3, 4])], onClash: policy))
        #expect(players[0].rivals.map(\.number) == [3, 4] && players[3].rivalOf.map(\.number) == [0])
        let result = try context.execute(
            BatchInsertRequest(
                [
                    player(0, rivals: [5], captainOf: found[0]), player(9, rivals: [0, 1]), player(9, rivals: [2]),
                    player(1),
                ], onClash: policy))
        #expect(result.count == 4 && result.mergedCount == 3 && result.transactionCount == 1)
        // In place of those before, and with both ends.
        #expect(players[0].rivals.map(\.number) == [5] && players[3].rivalOf.isEmpty)
        #expect(found[0].captain === players[0] && players[1].captainOf == nil && found[1].captain === players[2])
        let new = try #require(try context.fetch(FetchRequest<Player>().where { $0.number == 9 }).first)
        #expect(new.rivals.map(\.number) == [2] && players[1].rivalOf.isEmpty)
        #expect(try container.verify().problems == [])
    }

    @Test func aRowThatIsKeptOutLinksNothing() throws {
        try context.execute(BatchInsertRequest([player(0, rivals: [1])], onClash: .merge))
        let result = try context.execute(
            BatchInsertRequest([player(0, rivals: [2, 3]), player(7, rivals: [4])], onClash: .keep))
        #expect(result.count == 1 && result.keptCount == 1)
        #expect(players[0].rivals.map(\.number) == [1] && players[4].rivalOf.map(\.number) == [7])
        let all = try context.execute(BatchInsertRequest([player(0, rivals: [5])], onClash: .keep))
        #expect(all.count == 0 && all.keptCount == 1 && all.transactionCount == 0)
        #expect(players[5].rivalOf.isEmpty)
    }

    @Test func boundsHoldForMergedRowsToo() throws {
        var row = BatchRow<Player>()
        row[\.number] = 0
        try context.execute(BatchInsertRequest([club("a", Array(players[1...4]))]))
        row[\.club] = try clubs()[0].objectID
        row[\.rivals] = [players[1].objectID]
        #expect(throws: StrataError.self) { try context.execute(BatchInsertRequest([row], onClash: .merge)) }
        #expect(players[0].club == nil && players[0].rivals.isEmpty)
    }

    @Test func rowsWithMembersComeFromHandlersAndSequencesToo() async throws {
        var names = ["a", "b"][...]
        let ids = players.map(\.objectID)
        try context.execute(
            BatchInsertRequest<Club> { row in
                guard let name = names.popFirst() else { return true }
                row[\.name] = name
                row[\.players] = name == "a" ? [ids[0]] : [ids[1], ids[2]]
                return false
            })
        #expect(try clubs().map(\.players.count) == [1, 2])
        let rows = AsyncStream<BatchRow<Club>> { stream in
            var row = BatchRow<Club>()
            row[\.name] = "c"
            row[\.captain] = ids[4]
            stream.yield(row)
            stream.finish()
        }
        try await context.execute(BatchInsertRequest<Club>(), rows: rows)
        #expect(players[4].captainOf?.name == "c")
    }
}
