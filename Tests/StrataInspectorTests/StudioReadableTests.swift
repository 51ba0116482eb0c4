import Foundation
import Testing

@testable import StrataInspector

/// What pages say to a person: long reasons, transactions without objects, versions of views, erasures, mistakes.
@Suite struct StudioReadableTests {
    private let visit: StudioVisit

    init() throws { visit = try StudioVisit() }

    private func run(_ command: String..., with arguments: String...) throws {
        let result = try Tool.run(command + [visit.store.path] + arguments)
        #expect(result.exitCode == 0, "\(result.error)")
    }

    @Test func aLongReasonIsCutWhereItIsRepeated() throws {
        let reason = String(repeating: "because ", count: 10_000)
        try run("update", with: "Film/p5", "rating=1", "--reason", reason)
        let shown = try [
            visit.page("objects/Film")["moment"]["reason"].text,
            visit.page("transactions")["transactions"][0]["reason"].text,
            visit.page("object/Film/p5")["history"][0]["transaction"]["reason"].text,
            visit.page("object/Film/p5")["values"].items.first { $0["name"].text == "rating" }?["origin"]["reason"]
                .text,
        ]
        for text in shown {
            #expect(text.map { $0.hasPrefix("because") && $0.hasSuffix("…") && $0.count < 400 } ?? false)
        }
        #expect(try visit.page("transaction/6")["transaction"]["reason"].text == reason)
    }

    @Test func aTransactionWithoutObjectsSaysWhatItDid() throws {
        let transactions = try visit.page("transactions")["transactions"].items
        let notes = transactions.map { $0["notes"].items.compactMap(\.text) }
        #expect(notes.first == ["tag first cut at event 13"] && notes.last == ["model version 1"])
        #expect(notes.dropFirst().dropLast().flatMap(\.self).isEmpty)
    }

    @Test func aVersionOfTheModelNamesItsViews() throws {
        try run("views", "create", with: "ByYear", "--of", "Film", "--key", "year", "--column", "films = count")
        try run("views", "drop", with: "ByYear")
        let versions = try visit.page("model")["versions"].items.map { $0["changes"].items.compactMap(\.text) }
        #expect(versions == [["The view ByYear is gone."], ["The view ByYear is new."], []])
    }

    @Test func anErasedObjectSaysWhoErasedIt() throws {
        #expect(try visit.page("object/Film/p5")["erasures"].items.isEmpty)
        try run("erase", with: "Film/p5", "--reason", "asked for it", "--author", "dpo")
        let erasures = try visit.page("object/Film/p5", ["at": "4"])["erasures"].items
        #expect(erasures.map { $0["author"].text } == ["dpo"] && erasures.first?["reason"].text == "asked for it")
        #expect(try visit.page("object/Film/p6", ["at": "4"])["erasures"].items.isEmpty)
    }

    @Test func wordsInPlaceOfAFilterSuggestOne() throws {
        let problem = try visit.page("objects/Film", ["where": "tonari no"], status: 400)["error"]
        let suggestion = try #require(problem["suggestion"].text)
        #expect(problem["field"].text == "where")
        let found = try visit.page("objects/Film", ["where": suggestion])["rows"].items
        #expect(found.map { $0["object"].text } == ["Film/p8"])
    }

    @Test(arguments: ["rating >", "title = Mirror", "NOT", "title CONTAINS x", "%@", "\"", "a".repeated(101)])
    func aConditionWithAMistakeSuggestsNoWords(text: String) throws {
        let problem = try visit.page("objects/Film", ["where": text], status: 400)["error"]
        #expect(problem["suggestion"].text == nil)
    }

    @Test func wordsFindObjectsForAField() throws {
        let found = try visit.page("find/Film", ["text": "o"])["objects"].items
        #expect(
            found.map { $0["label"].text } == [
                "Film/p6 (Mirror)", "Film/p7 (Ponyo)", "Film/p8 (Totoro, \"Tonari no\")",
            ])
        #expect(try visit.page("find/Film", ["text": "o", "at": "2"])["objects"].items.isEmpty)
        #expect(try visit.page("find/Studio", ["text": "mos"])["objects"][0]["object"].text == "Studio/p1")
        for text in ["", "zzz", "%@", "' OR 1 == 1"] {
            #expect(try visit.page("find/Film", ["text": text])["objects"].items.isEmpty)
        }
        _ = try visit.page("find/Flim", ["text": "o"], status: 400)
    }

    @Test func aWrongReferenceIsExplainedWithAnEntityOfTheStore() throws {
        let named = try visit.page("object/Film/x", status: 400)["error"]["message"].text
        #expect(named == "'Film/x' names no object. Write Film/p12, Film/12, or strata://<store>/Film/p12.")
        let other = try visit.page("object/Flim/x", status: 400)["error"]["message"].text
        #expect(other?.contains("Write BowTie") == false)
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
