import Foundation
import StrataStore
import Synchronization
import Testing

@testable import StrataInspector

/// How many readers have ended.
private final class Ends: Sendable {
    let count = Atomic(0)
}

/// Studio when many of its readers are busy, and what a table says of its parts.
@Suite(.serialized) struct StudioLoadTests {
    private let visit: StudioVisit

    init() throws { visit = try StudioVisit() }

    /// Readers that keep their threads until they are cancelled, or for so long that only a server that waits for them
    /// sees their end.
    private func busyReaders(_ count: Int, _ ends: Ends) async -> [Task<StudioAnswer, Never>] {
        let (started, source) = AsyncStream<Void>.makeStream()
        let tasks = (0..<count).map { _ in
            Task { [studio = visit.studio] in
                await studio.running { monitor in
                    source.yield()
                    let last = Date(timeIntervalSinceNow: 600)
                    while !monitor.isCancelled, Date() < last { Thread.sleep(forTimeInterval: 0.005) }
                    ends.count.add(1, ordering: .relaxed)
                    return StudioAnswer(contentType: "", body: Data())
                }
            }
        }
        var missing = count
        for await _ in started where missing > 0 {
            missing -= 1
            if missing == 0 { break }
        }
        return tasks
    }

    @Test func busyReadersHoldUpNoOtherRequest() async throws {
        let ends = Ends()
        let readers = await busyReaders(8, ends)
        let answer = await visit.studio.answer(StudioAddress(path: [visit.name, "model"]))
        #expect(answer.status == 200 && ends.count.load(ordering: .relaxed) == 0)
        for reader in readers { reader.cancel() }
        for reader in readers { _ = await reader.value }
        #expect(ends.count.load(ordering: .relaxed) == 8)
        try visit.store.expectUntouched()
    }

    @Test func whoComesWhenAllReadersAreBusyIsToldSo() async throws {
        let ends = Ends()
        let readers = await busyReaders(Studio.mostRunning, ends)
        let answer = await visit.studio.answer(StudioAddress(path: [visit.name, "model"]))
        #expect(answer.status == 503 && ends.count.load(ordering: .relaxed) == 0)
        for reader in readers { reader.cancel() }
        for reader in readers { _ = await reader.value }
        #expect(await visit.studio.answer(StudioAddress(path: [visit.name, "model"])).status == 200)
    }

    @Test(arguments: [
        (["sort": "year / 0"], "sort"), (["sort": "nothing"], "sort"), (["columns": "nothing"], "columns"),
        (["where": "title MATCHES '['"], "where"), (["where": "title MATCHES '['", "sort": "year"], "where"),
        (["where": "year > 0", "sort": "year / 0", "columns": "title"], "sort"),
    ])
    func anErrorIsThatOfThePartThatHasIt(query: [String: String], field: String) throws {
        for page in ["objects/Film", "export/Film"] {
            let problem = try visit.page(page, query, status: 400)["error"]
            #expect(problem["field"].text == field, "\(page): \(problem["message"].text ?? "")")
        }
    }

    @Test func aMomentThatIsTooLongForANameIsNone() throws {
        for text in [String(repeating: "9", count: 5000), String(repeating: "a", count: 9000)] {
            let problem = try visit.page("model", ["at": text], status: 400)["error"]
            #expect(problem["field"].text == "at" && problem["message"].text?.contains("is not a moment") ?? false)
        }
        let result = try Tool.run("query", visit.store.path, "Film", "--at", String(repeating: "a", count: 600))
        #expect(result.exitCode != 0 && result.error.contains("is not a moment"), "\(result)")
    }

    @Test func whoFollowsHearsOfTheNewestStateAtOnce() async throws {
        var numbers = try #require(visit.studio.moves(of: visit.name)).makeAsyncIterator()
        #expect(await numbers.next() == 5)
        _ = try Tool.run("update", visit.store.path, "Film/p5", "rating=5")
        #expect(await numbers.next() == 6)
    }
}
