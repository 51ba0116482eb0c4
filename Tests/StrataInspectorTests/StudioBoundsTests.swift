import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataInspector

/// Bounds of what one request may ask Studio for.
@Suite struct StudioBoundsTests {
    private let visit: StudioVisit

    init() throws { visit = try StudioVisit() }

    @Test(arguments: ["objects/Film", "export/Film"]) func anOrderHasABound(page: String) throws {
        let keys = ["title", "-year", "rating"]
        func sort(_ count: Int) -> [String: String] {
            ["sort": (0..<count).map { keys[$0 % keys.count] }.joined(separator: ",")]
        }
        #expect(visit.answer(page, sort(StudioTable.mostKeys)).status == 200)
        for count in [StudioTable.mostKeys + 1, 1500] {
            let problem = try visit.page(page, sort(count), status: 400)["error"]
            #expect(problem["field"].text == "sort")
            #expect(problem["message"].text == "The order has \(count) keys; it may have 32 at most.")
        }
    }

    @Test(arguments: ["objects/Film", "export/Film"]) func columnsHaveABound(page: String) throws {
        func columns(_ count: Int) -> [String: String] {
            ["columns": Array(repeating: "title", count: count).joined(separator: ",")]
        }
        #expect(visit.answer(page, columns(StudioTable.mostColumns)).status == 200)
        let problem = try visit.page(page, columns(StudioTable.mostColumns + 1), status: 400)["error"]
        #expect(problem["field"].text == "columns")
        #expect(problem["message"].text == "These are 201 columns; there may be 200 at most.")
    }

    @Test func aRequestHasItsTime() async throws {
        let (studio, address) = (visit.studio, StudioAddress(path: [visit.name, "objects", "Film"]))
        let late = await studio.running(within: .milliseconds(20)) { monitor in
            while !monitor.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
            return studio.answer(address, monitor)
        }
        #expect(late.status == 422 && String(decoding: late.body, as: UTF8.self).contains("took longer than"))
        // What is done when its time is over is an answer.
        let done = await studio.running(within: .milliseconds(20)) { monitor in
            while !monitor.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
            return studio.answer(address)
        }
        #expect(done.status == 200)
    }

    /// Two genres, each with the same twenty films of long titles, in 200 columns.
    @Test func aPageOfManyListsHasABound() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "lists-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func load(_ entity: String, _ rows: [[String: Any]], _ options: [String] = []) throws {
            let file = folder.appending(component: entity + ".json")
            try JSONSerialization.data(withJSONObject: rows).write(to: file)
            let result = try Tool.run(["import", visit.store.path, entity, file.path] + options)
            #expect(result.exitCode == 0, "\(result.error)")
        }
        let genres = (0..<2).map { "genre \($0)" }
        try load("Genre", genres.map { ["label": $0] })
        let title = String(repeating: "x", count: 190)
        let films = (0..<20).map { ["title": "\($0) \(title)", "year": 2000, "genres": genres] as [String: Any] }
        try load("Film", films, ["--map", "genres=genres.label"])
        let columns = Array(repeating: "films.title", count: 200).joined(separator: ",")
        func rows(_ limit: Int) throws -> Int {
            let query = ["columns": columns, "where": "label BEGINSWITH 'genre'", "limit": "\(limit)"]
            let reading = try StudioReading(visit.studio.stores[0], query, QueryMonitor())
            return try ObjectsPage("Genre", reading, mostCharacters: 1 << 20).rows.count
        }
        #expect(ObjectsPage.mostCharacters == 16 << 20)
        #expect(try rows(1) == 1)
        let problem = try #require(throws: StudioProblem.self) { try rows(2) }
        #expect(problem.status == 422 && problem.field == "columns" && problem.message.contains("too large"))
    }
}
