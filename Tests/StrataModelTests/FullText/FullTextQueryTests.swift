import Foundation
import StrataModel
import Testing

/// The language of text queries, by single texts.
@Suite struct FullTextQueryTests {
    static let text = "The stalker led the writer through the quiet Zone, a room of wishes; no room without a price."

    @Test(arguments: [
        ("zone room", true), ("zone water", false), ("\"the quiet zone\"", true), ("\"quiet the zone\"", false),
        ("stalk*", true), ("stal", false), ("\"the quiet zo\"*", true),
        ("\"the quiet zo*\"", true), ("\"the quiet zo* \"", true), ("\"the quiet zo\" *", true),
        ("\"quiet zx*\"", false), ("\"zo*\"", true), ("stalk *", true), ("\"quiet * zone\"", true),
        ("NEAR(\"the wri*\" zone, 10)", true), ("zone OR water", true),
        ("water OR zone AND wind", false), ("(water OR zone) AND room", true), ("zone NOT water", true),
        ("zone NOT room", false), ("zone NOT (room AND water)", true), ("NEAR(stalker zone, 5)", false),
        ("NEAR(stalker zone, 6)", true), ("zone NEAR/1 room", true), ("zone NEAR/0 room", false),
        ("stalker NEAR zone", true), ("stalker NEAR price", false), ("^the", true), ("^stalker", false),
        ("^\"the stalker\"", true), ("ZONE", true), ("not", false), ("\"NOT\"", false), ("", false), ("…", false),
        ("zone …", true), ("quiet-zone", true), ("zone-quiet", false),
        ("NEAR(\"the writer\" zone \"a room\", 10)", true), ("\"a \"\"room\"", true), ("zone NOT …", true),
    ])
    func queriesFindTexts(query: String, holds: Bool) throws {
        #expect(try FullTextQuery(query).matches(Self.text) == holds)
    }

    /// Signs that mean something in other languages of queries are no blanks, where the query would find the contrary.
    @Test(arguments: [
        ("zone -room", "a - leaves nothing out; write NOT, or put the word in quotes"),
        ("-zone", "a - leaves nothing out"), ("zone (-room)", "a - leaves nothing out"),
        ("zone - title: room", "a - leaves nothing out"), ("-\"the zone\"", "a - leaves nothing out"),
        ("\"the\" + zone", "a + joins no phrases; write them in one pair of quotes"),
    ])
    func foreignSignsAreRefused(query: String, reason: String) throws {
        let error = #expect(throws: StrataError.self) { try FullTextQuery(query) }
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }

    @Test(arguments: ["quiet-zone", "zone - room", "zone -", "\"-zone\"", "+zone", "- zone"])
    func signsBetweenWordsAreBlanks(query: String) throws { #expect(try FullTextQuery(query).matches(Self.text)) }

    @Test(arguments: [
        "(", ")", "(zone", "zone)", "\"zone", "AND", "zone AND", "OR zone", "NOT zone", "zone NOT", "NEAR(", "NEAR(a",
        "NEAR(a b, x)", "NEAR(a b, 5", "NEAR((a) b)", "*", "zone NEAR writer NEAR room", "a NEAR", "a NEAR/x b",
        "(a b) NEAR c", "title:", "^", "()", "\"th* quiet\"", "\"the qui* zo*\"",
        "a NEAR/99999999999999999999 b",
    ])
    func queriesThatCannotBeReadAreRefused(query: String) {
        let error = #expect(throws: StrataError.self) { try FullTextQuery(query) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("byte") == true)
    }

    @Test func hostileQueriesAreBounded() {
        let hostile = [
            String(repeating: "(", count: 10_000), String(repeating: "a ", count: 300),
            String(repeating: "a", count: 20_000), String(repeating: "(a OR ", count: 65),
        ]
        for query in hostile {
            let error = #expect(throws: StrataError.self) { try FullTextQuery(query) }
            #expect(error?.code == .invalidRequest)
        }
        // What is long but within the bounds takes no time worth mentioning.
        let long = String(repeating: "a ", count: 500_000)
        let near = "NEAR(\(String(repeating: "a ", count: 60)), 1000000)"
        #expect(throws: Never.self) { try #expect(FullTextQuery(near).matches(String(long.prefix(2_000)))) }
    }

    @Test func snippetsShowWhatWasFound() throws {
        func snippet(_ query: String, _ length: Int = 8) throws -> String {
            try FullTextQuery(query).snippet(of: Self.text, length: length)
        }
        #expect(try snippet("zone") == "…through the quiet [Zone], a room of wishes…")
        #expect(try snippet("\"the quiet\" wishes", 9).contains("[the quiet] Zone, a room of [wishes]"))
        #expect(try snippet("water", 3) == "The stalker led…")
        #expect(try snippet("zone NOT wishes", 100).contains("of wishes"))
        #expect(try FullTextQuery("a").snippet(of: "") == "")
        #expect(
            try FullTextQuery("été").snippet(of: "L'ete, un Été.", before: "<b>", after: "</b>")
                == "L'ete, un <b>Été</b>.")
        let ranges = try FullTextQuery("room OR \"a room\"").ranges(in: Self.text).map { Self.text[$0] }
        #expect(ranges == ["a room", "room"])
    }

    @Test func theModelRefusesWhatHasNoWords() throws {
        func problems(_ names: [String], sub: [String] = []) -> String {
            let entities = [
                EntityDescription(
                    name: "Film",
                    properties: [
                        .attribute(AttributeDescription(name: "title", type: .string)),
                        .attribute(AttributeDescription(name: "year", type: .integer32)),
                        .attribute(AttributeDescription(name: "note", type: .string, isTransient: true)),
                        .attribute(AttributeDescription(name: "secret", type: .string, encryption: .storeKey)),
                        .relationship(
                            RelationshipDescription(name: "next", destinationEntityName: "Film", hasNoInverse: true)),
                    ], fullText: names),
                EntityDescription(name: "Series", superentityName: "Film", fullText: sub),
            ]
            do {
                _ = try ManagedObjectModel(entities: entities)
                return ""
            } catch {
                return error.details.map(\.message).joined(separator: "|")
            }
        }
        #expect(problems(["title"]) == "")
        #expect(problems(["year"]).contains("Film.year is no string"))
        #expect(problems(["note"]).contains("transient"))
        #expect(problems(["secret"]).contains("Film.secret is encrypted"))
        #expect(problems(["next"]).contains("relationship"))
        #expect(problems(["titel"]).contains("Film.titel is unknown"))
        #expect(problems(["title", "title"]).contains("twice"))
        #expect(problems(["title"], sub: ["title"]).contains("Film above it"))
    }

    @Test func modelsWithoutFullTextAreWrittenAsBefore() throws {
        let plain = EntityDescription(name: "Film")
        let bytes = try JSONEncoder().encode(plain)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("fullText"))
        let text = EntityDescription(name: "Film", fullText: ["title"])
        #expect(try JSONDecoder().decode(EntityDescription.self, from: JSONEncoder().encode(text)) == text)
    }
}
