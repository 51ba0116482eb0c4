import Foundation
import StrataModel
import Testing

@testable import StrataInspector

/// The pages of Studio as values: what a browser and a program get at an address.
@Suite struct StudioTests {
    private let visit: StudioVisit
    private var store: FilmStore { visit.store }
    private var studio: Studio { visit.studio }
    private var name: String { visit.name }

    init() throws { visit = try StudioVisit() }

    private func page(_ path: String, _ query: [String: String] = [:], status: Int = 200) throws -> JSONNode {
        try visit.page(path, query, status: status)
    }

    // MARK: Addresses

    @Test func theFirstPageListsTheStores() throws {
        let both = try Studio(paths: [store.path, store.path])
        defer { both.close() }
        #expect(both.names == [name, name + "-2"])
        let page = try JSONNode(both.answer(StudioAddress(path: [])).body)
        #expect(page["stores"].items.map { $0["name"].text } == both.names)
        #expect(page["stores"][0]["transactions"].number == 5)
    }

    @Test(arguments: [
        ("nothing", 404), ("objects/Nothing", 400), ("object/Film", 404), ("object/Film/x", 400),
        ("object/Film/p99", 404), ("transaction/99", 404), ("transaction/x", 404), ("value/Film/p5/nothing", 404),
        ("..", 404), ("objects/Film/..", 404),
    ]) func anAddressOfNothingIsAProblemInWords(path: String, status: Int) throws {
        let problem = try page(path, status: status)["error"]
        #expect(problem["message"].text.map { $0.count > 10 } ?? false)
    }

    @Test func aStoreThatIsNotThereIsAProblem() throws {
        #expect(studio.answer(StudioAddress(path: ["Other", "model"])).status == 404)
    }

    // MARK: Moments

    @Test func aMomentIsATransactionATagOrADate() throws {
        func moment(_ text: String) throws -> JSONNode { try page("model", ["at": text])["moment"] }
        #expect(try moment("3")["transaction"].number == 3)
        #expect(try moment("3")["author"].text == "ann")
        #expect(try moment("3")["reason"].text == "the first films")
        #expect(try moment("first cut")["transaction"].number == 3)
        #expect(try moment("3")["tags"].items.map(\.text) == ["first cut"])
        #expect(try moment("2999-01-01")["transaction"].number == 5)
        #expect(try moment("3")["follows"].flag == false && moment("")["follows"].flag == true)
        #expect(try moment("3")["newest"].number == 5)
    }

    @Test(arguments: ["0", "6", "-1", "yesterday"]) func aMomentThatIsNotThereIsNamed(text: String) throws {
        #expect(try page("objects/Film", ["at": text], status: 400)["error"]["field"].text == "at")
    }

    // MARK: The model

    @Test func theModelHasTheCountsOfTheMoment() throws {
        func counts(_ at: String) throws -> [String: Double?] {
            let entities = try page("model", ["at": at])["entities"].items
            return Dictionary(uniqueKeysWithValues: entities.map { ($0["name"].text ?? "", $0["count"].number) })
        }
        #expect(try counts("") == ["Film": 4, "Genre": 2, "Still": 0, "Studio": 2])
        #expect(try counts("2") == ["Film": 0, "Genre": 2, "Still": 0, "Studio": 2])
        let film = try page("model")["entities"][0]["description"]
        #expect(film["relationships"].items.map { $0["name"].text } == ["studio", "genres"])
    }

    @Test func theDiagramHasEachEntityOnceAndLeadsToItsObjects() throws {
        let answer = studio.answer(StudioAddress(path: [name, "model.svg"], query: ["at": "3"]))
        #expect(answer.contentType == "image/svg+xml")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.ranges(of: "<rect ").count == 4)
        #expect(text.ranges(of: "/objects/Film?at=3\"").count == 1)
        // A relationship and its inverse are one line.
        #expect(text.ranges(of: "class=\"relationship\"").count == 2)
        #expect(text.contains(">genres / films<") || text.contains(">films / genres<"))
    }

    @Test func boxesOfADiagramDoNotOverlap() throws {
        let names = (0..<14).map { "Entity\($0)" }
        let entities = names.indices.map { index -> EntityDescription in
            var properties = [(index * 5 + 1) % 14, (index * 3 + 2) % 14, index].map { target in
                PropertyDescription.relationship(
                    RelationshipDescription(
                        name: "to\(target)", destinationEntityName: names[target], isToMany: target.isMultiple(of: 2)))
            }
            for number in 0..<index {
                properties.append(.attribute(AttributeDescription(name: "attribute\(number)", type: .string)))
            }
            return EntityDescription(name: names[index], properties: properties)
        }
        let layout = ModelLayout(entities)
        #expect(layout.boxes.count == 14)
        for (index, box) in layout.boxes.enumerated() {
            #expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= layout.width)
            #expect(box.y + box.height <= layout.height)
            for other in layout.boxes[..<index] {
                let isApart =
                    box.x + box.width < other.x || other.x + other.width < box.x || box.y + box.height < other.y
                    || other.y + other.height < box.y
                #expect(isApart, "\(box.entity) and \(other.entity)")
            }
        }
    }

    // MARK: Objects

    @Test func aTableIsFilteredSortedAndShownInParts() throws {
        let first = try page("objects/Film", ["where": "year > 1976", "sort": "-year", "limit": "2"])
        #expect(first["rows"].items.map { $0["object"].text } == ["Film/p7", "Film/p8"])
        #expect(first["count"].number == 3 && first["total"].number == 4)
        #expect(first["columns"].items.map { $0["name"].text } == ["title", "year", "rating", "released", "studio"])
        #expect(first["rows"][0]["cells"][4]["object"].text == "Studio/p2")
        #expect(first["rows"][0]["cells"][4]["text"].text == "Studio/p2 (Ghibli)")
        let second = try page(
            "objects/Film", ["where": "year > 1976", "sort": "-year", "limit": "2", "offset": "2"])
        #expect(second["rows"].items.map { $0["object"].text } == ["Film/p5"])
        try store.expectUntouched()
    }

    @Test func columnsAreChosenAndMayBeListsAndExpressions() throws {
        let page = try page("objects/Film", ["columns": "title, genres.label, genres.@count", "sort": "title"])
        let cells = page["rows"].items.map { $0["cells"].items }
        #expect(cells.map { $0[0]["text"].text } == ["Mirror", "Ponyo", "Stalker", "Totoro, \"Tonari no\""])
        #expect(cells[2][1]["items"].items.compactMap { $0["text"].text }.sorted() == ["drama", "fantasy"])
        #expect(cells[2][2]["text"].text == "2")
    }

    @Test func aTableShowsTheMoment() throws {
        let cell = ["columns": "rating", "where": "title = 'Stalker'"]
        #expect(try page("objects/Film", cell)["rows"][0]["cells"][0]["text"].text == "9")
        let then = try page("objects/Film", cell.merging(["at": "3"]) { $1 })
        #expect(then["rows"][0]["cells"][0]["text"].text == "8.1")
        #expect(try page("objects/Film", ["at": "2"])["count"].number == 0)
    }

    @Test func theMostFrequentValuesOfAPropertyNarrowTheFilter() throws {
        let studios = try page("facet/Film/studio")["parts"].items
        #expect(studios.map { $0["count"].number } == [2, 2])
        #expect(studios.map { $0["condition"].text } == ["studio == Studio/p1", "studio == Studio/p2"])
        let years = try page("facet/Film/year", ["where": "year < 1980"])["parts"].items
        #expect(Set(years.map { $0["value"]["text"].text }) == ["1975", "1979"])
        for year in years {
            let condition = try #require(year["condition"].text)
            #expect(try page("objects/Film", ["where": condition])["count"].number == 1)
        }
        let ratings = try page("facet/Film/rating")["parts"].items
        let none = try #require(ratings.first { $0["value"]["kind"].text == "null" })
        #expect(try page("objects/Film", ["where": none["condition"].text ?? ""])["count"].number == 1)
        _ = try page("facet/Film/genres", status: 404)
    }

    @Test func aPlanIsShownOnRequest() throws {
        #expect(try page("objects/Film", ["where": "year = 1979"])["plan"].text == nil)
        let plan = try page("objects/Film", ["where": "year = 1979", "explain": "1"])["plan"].text
        #expect(plan?.contains("byYear") ?? false)
    }

    @Test(arguments: [
        (["where": "year >"], "where"), (["where": "title = 'x' AN year = 1"], "where"),
        (["where": "nothing = 1"], "where"), (["sort": "nothing"], "sort"), (["columns": "nothing"], "columns"),
        (["columns": "max(year)"], "columns"), (["limit": "0"], "limit"), (["limit": "501"], "limit"),
        (["offset": "-1"], "offset"),
    ]) func aMistakeIsShownAtItsPlace(query: [String: String], field: String) throws {
        let problem = try page("objects/Film", query, status: 400)["error"]
        #expect(problem["field"].text == field)
    }

    @Test func aMistakeInAFilterHasTheNumberOfTheCharacter() throws {
        let problem = try page("objects/Film", ["where": "title = 'x' AN year = 1"], status: 400)["error"]
        #expect(problem["column"].number == 13)
    }

    // MARK: One object

    @Test func eachValueSaysWhoSetItWhenAndWhy() throws {
        let values = try page("object/Film/p5")["values"].items
        let byName = Dictionary(uniqueKeysWithValues: values.map { ($0["name"].text ?? "", $0) })
        let rating = try #require(byName["rating"])
        #expect(rating["value"]["text"].text == "9")
        #expect(rating["origin"]["author"].text == "bob" && rating["origin"]["transaction"].number == 4)
        #expect(rating["origin"]["before"]["text"].text == "8.1")
        let title = try #require(byName["title"])
        #expect(title["origin"]["author"].text == "ann" && title["origin"]["reason"].text == "the first films")
        #expect(title["origin"]["before"]["text"].text == nil)
        #expect(byName["studio"]?["value"]["object"].text == "Studio/p1")
    }

    @Test func bothEndsOfARelationshipShowIt() throws {
        func members(_ object: String, _ name: String) throws -> [String?] {
            let all = try page("object/\(object)")["relationships"].items
            return all.first { $0["name"].text == name }?["first"].items.map { $0["label"].text } ?? []
        }
        #expect(try members("Film/p5", "genres") == ["Genre/p3 (drama)", "Genre/p4 (fantasy)"])
        #expect(try members("Genre/p3", "films") == ["Film/p5 (Stalker)", "Film/p6 (Mirror)"])
        #expect(try members("Studio/p2", "films") == ["Film/p7 (Ponyo)", "Film/p8 (Totoro, \"Tonari no\")"])
    }

    @Test func anObjectIsComparedWithAnotherMoment() throws {
        let page = try page("object/Film/p5", ["with": "3"])
        #expect(page["other"].number == 3)
        let changed = page["values"].items.filter { $0["isChanged"].flag == true }
        #expect(changed.map { $0["name"].text } == ["rating", "released"])
        #expect(changed[0]["other"]["text"].text == "8.1")
    }

    @Test func theHistoryOfAnObjectEndsAtTheMoment() throws {
        func transactions(_ at: String) throws -> [Double?] {
            try page("object/Film/p5", ["at": at])["history"].items.map { $0["transaction"]["number"].number }
        }
        #expect(try transactions("") == [4, 3])
        #expect(try transactions("3") == [3])
        let events = try page("object/Film/p5")["history"][0]["events"]
        #expect(events[0]["changes"][0]["before"]["text"].text == "8.1")
        #expect(events[0]["changes"][0]["after"]["text"].text == "9")
    }

    @Test func anObjectThatIsGoneSaysSoAndKeepsItsHistory() throws {
        _ = try Tool.run("delete", store.path, "Film/p7")
        let page = try page("object/Film/p7")
        #expect(page["exists"].flag == false)
        #expect(page["fate"].text?.contains("deleted") ?? false)
        #expect(page["history"].items.count == 2)
        #expect(try self.page("object/Film/p7", ["at": "5"])["exists"].flag == true)
        #expect(page["fateTransaction"]["number"].number == 6)
        let unborn = try self.page("object/Film/p7", ["at": "2"])
        #expect(unborn["fateTransaction"]["number"].number == 3 && unborn["fate"].text?.contains("made later") ?? false)
    }

    @Test func whatATransactionDeletedIsToBeSeenBeforeIt() throws {
        _ = try Tool.run("delete", store.path, "Film/p5")
        for page in [try page("transaction/6")["events"], try page("object/Film/p5")["history"][0]["events"]] {
            #expect(page.items.contains { $0["kind"].text == "deleted" })
            for event in page.items {
                for (name, moment) in [("object", "at"), ("target", "targetAt")] {
                    guard let object = event[name].text, let number = event[moment].number else { continue }
                    #expect(number == (object == "Film/p5" ? 5 : 6), "\(object)")
                    let exists = try self.page("object/\(object)", ["at": "\(Int(number))"])["exists"].flag
                    #expect(exists == true, "\(object)")
                }
            }
        }
    }

    // MARK: Transactions

    @Test func transactionsAreFilteredAndContinued() throws {
        func numbers(_ query: [String: String]) throws -> [Double?] {
            try page("transactions", query)["transactions"].items.map { $0["number"].number }
        }
        #expect(try numbers([:]) == [5, 4, 3, 2, 1])
        #expect(try numbers(["author": "bob"]) == [4])
        #expect(try numbers(["entity": "Studio"]) == [2])
        #expect(try numbers(["text": "FIRST FILMS"]) == [3])
        #expect(try numbers(["at": "3"]) == [3, 2, 1])
        let part = try page("transactions", ["limit": "2"])
        #expect(part["next"].number == 4)
        #expect(try numbers(["limit": "2", "before": "4"]) == [3, 2])
        #expect(try page("transactions", ["before": "2"])["next"].number == nil)
    }

    @Test func aTransactionSaysWhatItDid() throws {
        let page = try page("transaction/4")
        #expect(page["transaction"]["author"].text == "bob")
        #expect(page["previous"].number == 3 && page["next"].number == 5)
        let changes = page["events"][0]["changes"].items
        #expect(Set(changes.map { $0["property"].text }) == ["rating", "released"])
        #expect(page["events"][0]["object"].text == "Film/p5")
        let counts = try self.page("transaction/3")["counts"].items.map {
            "\($0["entity"].text ?? "") \($0["kind"].text ?? "") \(Int($0["count"].number ?? 0))"
        }
        #expect(counts.contains("Film inserted 4"), "\(counts)")
        let whole = try self.page("transaction/3")["events"].items
        let parts = try self.page("transaction/3", ["offset": "2", "limit": "3"])["events"].items
        #expect(parts.map { $0["number"].number } == whole[2..<5].map { $0["number"].number })
        let tag = try self.page("transaction/5")["events"][0]
        #expect(tag["text"].text?.contains("first cut") ?? false)
    }

    @Test func theTimelineCountsEachTransactionOnce() throws {
        let page = try page("timeline", ["parts": "3"])
        let parts = page["parts"].items
        #expect(parts.count == 3)
        #expect(parts.compactMap { $0["count"].number }.reduce(0, +) == 5)
        #expect(parts.first?["first"].number == 1 && parts.last?["last"].number == 5)
        let counts = parts.flatMap { $0["authors"].items }.compactMap { $0[1].number }
        #expect(counts.reduce(0, +) == 5)
        let authors = page["authors"].items
        #expect(authors.first?["name"].text == "ann")
        #expect(page["tags"][0]["name"].text == "first cut" && page["tags"][0]["transaction"].number == 3)
    }

    @Test func theTimelineGoesOnAfterItWasRead() throws {
        _ = try page("timeline")
        _ = try Tool.run("update", store.path, "Film/p5", "rating=7", "--author", "cy")
        let page = try page("timeline")
        #expect(page["parts"].items.compactMap { $0["count"].number }.reduce(0, +) == 6)
        #expect(page["authors"].items.contains { $0["name"].text == "cy" })
    }

    @Test func aSingleAuthorMoreIsNamedInsteadOfOthers() throws {
        // The history of the store has transactions by two authors and by none.
        let known = try page("timeline")["authors"].items.count
        func authors(_ range: Range<Int>) throws -> [String?] {
            for number in range {
                _ = try Tool.run("update", store.path, "Film/p5", "rating=\(number)", "--author", "a\(number)")
            }
            return try page("timeline")["authors"].items.map { $0["name"].text }
        }
        let named = try authors(0..<(8 - known))
        #expect(named.count == 8 && named.last == "a\(7 - known)")
        #expect(try authors((8 - known)..<(9 - known)).last == "2 others")
    }

    @Test func healthListsThePartsOfTheStore() throws {
        let listing = try page("health")["listing"]
        #expect(listing["log"]["transactions"].number == 5)
        #expect(listing["tables"].items.contains { $0["name"].text == "objects" })
        try store.expectUntouched()
    }

    // MARK: Bounds

    @Test func aRequestThatWasStoppedEnds() async throws {
        let name = name
        let task = Task { [studio] in
            while !Task.isCancelled { await Task.yield() }
            return await studio.answer(StudioAddress(path: [name, "objects", "Film"]))
        }
        task.cancel()
        #expect(await task.value.status == 499)
    }

    @Test func aSaveOfAnotherProcessIsAnnounced() async throws {
        let moves = try #require(studio.moves(of: name))
        _ = try Tool.run("update", store.path, "Film/p5", "rating=7")
        var numbers = moves.makeAsyncIterator()
        var number = await numbers.next()
        // The first is the newest state, which is that before the save until the save is noticed.
        if number == 5 { number = await numbers.next() }
        #expect(number == 6)
        #expect(studio.moves(of: "Other") == nil)
    }

    @Test func hostileTextIsShortAndHarmless() throws {
        let title = "<script>alert(1)</script>\u{202E}\n" + String(repeating: "x", count: 100_000)
        let made = try Tool.run("insert", store.path, "Film", "title=\(title)", "year=1999", "studio=Studio/p1")
        #expect(made.exitCode == 0, "\(made.error)")
        let table = studio.answer(StudioAddress(path: [name, "objects", "Film"], query: ["where": "year = 1999"]))
        #expect(table.body.count < 5000)
        let row = try JSONNode(table.body)["rows"][0]
        let cell = row["cells"][0]
        #expect(cell["isCut"].flag == true && cell["bytes"].number == Double(title.utf8.count))
        #expect(cell["text"].text?.contains("\\u{202e}\\n") ?? false)
        let object = try #require(row["object"].text)
        let whole = studio.answer(
            StudioAddress(path: [name, "value", "Film", String(object.dropFirst(5)), "title"]))
        #expect(whole.contentType == "text/plain; charset=utf-8")
        #expect(whole.body == Data(title.utf8))
    }

    @Test func onlyPicturesAreShownAndOtherDataIsSaved() throws {
        let file = FileManager.default.temporaryDirectory.appending(component: "picture-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        func answer(_ bytes: [UInt8]) throws -> StudioAnswer {
            try Data(bytes).write(to: file)
            let made = try Tool.run(
                "insert", store.path, "Still", "name=frame", "image=@\(file.path(percentEncoded: false))")
            #expect(made.exitCode == 0, "\(made.error)")
            let object = try #require(try page("objects/Still")["rows"].items.last?["object"].text)
            return studio.answer(StudioAddress(path: [name, "value", "Still", String(object.dropFirst(6)), "image"]))
        }
        let text = try answer(Array("<html><script>alert(1)</script>".utf8))
        #expect(text.contentType == "application/octet-stream" && text.fileName != nil)
        let png = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 64)
        let picture = try answer(png)
        #expect(picture.contentType == "image/png" && picture.fileName == nil && picture.body == Data(png))
        #expect(ValueAnswer.pictureType(of: Data("<svg onload=alert(1)>".utf8)) == nil)
    }
}
