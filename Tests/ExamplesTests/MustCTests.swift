import Foundation
import Strata
import StrataTestSupport
import Testing

@testable import MustCParts

/// MustC: delete rules, saving helpers, batches, predicates, a list that reports its changes, notifications, and the
/// background.
@Suite struct MustCTests {
    @Test func theStoryIsToldTheSameTwice() throws {
        let run = ExampleRun("MustC")
        let first = try run.tell()
        expectStory(first)
        // What the first run left is taken out by it, so the second tells the same of a longer log.
        let second = try run.tell()
        #expect(second == first)
        #expect(try run.strata("verify").exitCode == 0)
    }

    private func expectStory(_ steps: [Int: [String]]) {
        #expect(
            steps[1] == [
                "Anna: Momo, The Red Balloon, Stalker, My Neighbor Totoro",
                "Ben: The Big Sleep, Alien, The Third Man",
                "Cleo: Ronja, Playtime, The Fabulous Baron Munchausen",
            ])
        #expect(
            steps[2] == [
                "Nothing has changed; saved: false", "Ben has taken over Momo; saved: true", "Anna has 3 movies now",
            ])
        #expect(
            steps[3] == [
                "Saved: Cleo has 4 movies", "A movie without a title is refused with code 1570: title is required.",
                "It was rolled back; changes left: false",
            ])
        #expect(
            steps[4] == [
                "11 movies found, 0 of them read", "The first is Alien: 4 read", "The fifth is Playtime: 8 read",
            ])
        #expect(
            steps[5] == [
                #"title BEGINSWITH[c] "the""#,
                "The Big Sleep, The Fabulous Baron Munchausen, The Red Balloon, The Third Man",
                #"familyMember.name == "Anna""#, "My Neighbor Totoro, Stalker, The Red Balloon",
                #"length:(title) > 12 AND familyMember.name == "Ben""#, "The Big Sleep, The Third Man",
                #"length:(title) > 12 OR familyMember.name == "Ben""#,
                "Alien, Momo, My Neighbor Totoro, The Big Sleep, The Fabulous Baron Munchausen, The Red Balloon, "
                    + "The Third Man",
                #"NOT length:(title) > 12 AND NOT familyMember.name == "Ben""#,
                "Paddington, Playtime, Ronja, Stalker",
            ])
        #expect(
            steps[6] == [
                "Alien, Momo, My Neighbor Totoro, Paddington, Playtime, Ronja, Stalker, The Big Sleep, "
                    + "The Fabulous Baron Munchausen, The Red Balloon, The Third Man",
                "changed in memory: inserted Dune; updated Anna, Ben, Cleo, Paddington, Zazie in the Metro; deleted The Red Balloon",
                "delete: The Red Balloon, old index path [0, 9], new index path none",
                "insert: Dune, old index path none, new index path [0, 1]",
                "move: Zazie in the Metro, old index path [0, 5], new index path [0, 10]",
                "update: Paddington, old index path [0, 3], new index path [0, 4]",
                "saved: inserted Dune; updated Anna, Ben, Cleo, Paddington, Zazie in the Metro; deleted The Red Balloon",
                "Alien, Dune, Momo, My Neighbor Totoro, Paddington, Playtime, Stalker, The Big Sleep, "
                    + "The Fabulous Baron Munchausen, The Third Man, Zazie in the Metro",
            ])
        #expect(
            steps[7] == [
                "insert: Heidi, old index path none, new index path [0, 2]",
                "update: Dune: Part One, old index path [0, 1], new index path [0, 1]",
                "The view context has merged; objects inserted: 1",
                "The object on screen shows Dune: Part One by itself",
                "Alien, Dune: Part One, Heidi, Momo, My Neighbor Totoro, Paddington, Playtime, Stalker, The Big Sleep, "
                    + "The Fabulous Baron Munchausen, The Third Man, Zazie in the Metro",
            ])
        #expect(
            steps[8]?.prefix(2) == [
                "Momo is deleted (nullify): Ben stays, with 4 of 5 movies: 4",
                "Cleo is deleted (cascade) with her 3 movies: 11 movies before, 8 after",
            ])
    }

    @MainActor @Test func aSaveThatFailsInPersistLeavesNothingBehind() throws {
        let container = try PersistentContainer(
            name: "MustC", entities: [FamilyMember.self, Movie.self], at: .inMemory)
        try container.loadPersistentStores()
        defer { container.close() }
        let context = container.viewContext
        try context.persist {
            FamilyMember(context: context).name = "Anna"
        }
        #expect(throws: StrataError.self) {
            try context.persist {
                FamilyMember(context: context).name = "Ben"
                _ = Movie(context: context)
            }
        }
        #expect(try !context.hasChanges && !container.saveContextIfNeeded())
        #expect(try context.fetch(FetchRequest<FamilyMember>()).map(\.name) == ["Anna"])
        FamilyMember(context: context).name = "Cleo"
        #expect(try container.saveContextIfNeeded())
    }
}
