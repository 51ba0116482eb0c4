import StrataModel
import Testing

/// The links that a schema makes.
struct LinkMapTests {
    /// Subentities stand before the entities that they inherit from.
    private func makeSchema() throws -> Schema {
        var installer = Installer()
        return try installer.install(
            entity("Short", parent: "Film"),
            entity(
                "Film",
                [
                    toOne("studio", "Studio", inverse: "films"), toOne("sequelOf", "Film", alone: true),
                    toMany("tags", "Tag", inverse: "films"), toMany("likes", "Film", inverse: "likes"),
                    toMany("extras", "Tag", alone: true), toOne("poster", "Tag", inverse: "posterOf"),
                ]),
            entity("Studio", [toMany("films", "Film", inverse: "studio", ordered: true)]),
            entity("Tag", [toMany("films", "Film", inverse: "tags"), toOne("posterOf", "Film", inverse: "poster")]))
    }

    @Test func aLinkIsThatOfTheEntityThatDeclaresIt() throws {
        let schema = try makeSchema()
        let film = try #require(schema.entity(named: "Film")), short = try #require(schema.entity(named: "Short"))
        let tag = try #require(schema.entity(named: "Tag")), studio = try #require(schema.entity(named: "Studio"))
        let sequel = try #require(schema.links.link(try schema.id("Film", "sequelOf").hiddenInverse))
        #expect(sequel.ownerEntity == film.id && sequel.memberEntity == film.id)
        #expect(sequel.memberEntityIDs == [film.id, short.id].sorted() && sequel.name == "sequelOf")
        let extras = try #require(schema.links.link(try schema.id("Film", "extras").hiddenInverse))
        #expect(extras.ownerEntity == tag.id && extras.memberEntity == film.id && extras.isPairs)
        let films = try #require(schema.links.link(try schema.id("Studio", "films")))
        #expect(films.ownerEntity == studio.id && films.isOrdered && !films.isPairs)
        #expect(films.memberEntityIDs == [film.id, short.id].sorted())
    }

    @Test func anEntityOwnsWhatItInheritsAndWhatLeadsToIt() throws {
        let schema = try makeSchema()
        func owned(_ name: String) throws -> [PropertyID] {
            try schema.links.links(ofOwners: #require(schema.entity(named: name)).id).map(\.id)
        }
        let film = try ["tags", "likes", "extras"].map { try schema.id("Film", $0) }
        let all = (film + [try schema.id("Film", "sequelOf").hiddenInverse]).sorted()
        #expect(try owned("Film") == all && owned("Short") == all)
        // A one-to-one is no list of members, although its links have entries.
        let poster = try schema.id("Film", "poster").hiddenInverse
        #expect(try owned("Tag") == [schema.id("Tag", "films"), schema.id("Film", "extras").hiddenInverse].sorted())
        #expect(schema.links.link(poster) != nil)
        #expect(schema.links.all.map(\.id) == schema.links.all.map(\.id).sorted())
    }

    @Test func rowsTellWhatLinksTheyMake() throws {
        let schema = try makeSchema()
        let short = try #require(schema.entity(named: "Short"))
        let rowLinks = schema.links.rowLinks(of: short.id)
        let studio = try #require(rowLinks.first { $0.property == short.property(named: "studio")?.id })
        #expect(try studio.link == schema.id("Studio", "films"))
        #expect(studio.positionSlot == short.property(named: "studio#position")?.slot)
        #expect(studio.properties == [studio.property, try schema.id("Film", "studio#position")])
        let slotLinks = schema.links.slotLinks(of: short.id)
        let inverses = slotLinks.map { "\($0.inverse)" }
        #expect(slotLinks.count == 3 && rowLinks.count == 3, "\(inverses)")
        guard case .toOne(let inverse) = slotLinks[2].inverse else {
            Issue.record("\(inverses)")
            return
        }
        #expect(try inverse == schema.id("Tag", "posterOf"))
    }

    @Test func aPairIsNamedAlikeFromEitherEnd() throws {
        let schema = try makeSchema()
        let film = ObjectID(entity: try #require(schema.entity(named: "Film")).id, row: 7)
        let tag = ObjectID(entity: try #require(schema.entity(named: "Tag")).id, row: 3)
        let tags = try #require(schema.links.link(try schema.id("Film", "tags")))
        let films = try #require(schema.links.link(try schema.id("Tag", "films")))
        let key = try #require(tags.pairKey(owner: film, member: tag))
        #expect(films.pairKey(owner: tag, member: film) == key)
        #expect(tags.isSource(film, of: key) != films.isSource(tag, of: key))
        let likes = try #require(schema.links.link(try schema.id("Film", "likes")))
        let other = ObjectID(entity: film.entityID, row: 9)
        #expect(likes.pairKey(owner: film, member: other) == likes.pairKey(owner: other, member: film))
    }
}
