import Foundation
import Locking
import StrataModel
import Testing

@testable import StrataStore

@Suite struct HeadObservationTests {
    private func save(_ title: String, in fixture: StoreFixture) throws {
        var changes = try fixture.changes()
        _ = try fixture.insert("Movie", ["title": .string(title)], into: &changes)
        _ = try fixture.store.save(changes)
    }

    /// Waits until the heard heads end with the store's, at most ten seconds.
    private func waitForHead(_ store: Store, in heard: Locked<[EventNumber]>) throws -> Bool {
        let head = try store.head()
        for _ in 0..<2000 {
            if heard.withLock({ $0.last }) == head { return true }
            usleep(5000)
        }
        return false
    }

    @Test func everySaveIsHeardOf() throws {
        let fixture = try StoreFixture()
        let heard = Locked<[EventNumber]>([])
        let observation = try fixture.store.observeHead { head in heard.withLock { $0.append(head) } }
        for number in 0..<5 {
            try save("movie \(number)", in: fixture)
            #expect(try waitForHead(fixture.store, in: heard))
        }
        #expect(heard.withLock { $0 == $0.sorted() })
        observation.cancel()
        let count = heard.withLock(\.count)
        try save("unheard", in: fixture)
        usleep(150_000)
        #expect(heard.withLock(\.count) == count)
    }

    /// A second store over the same file commits as another process does: without telling the first.
    @Test func savesOfOthersAreHeardOf() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-head-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let fixture = try StoreFixture(.directory(directory))
        let heard = Locked<[EventNumber]>([])
        let observation = try fixture.store.observeHead { head in heard.withLock { $0.append(head) } }
        let other = try StoreFixture(.directory(directory))
        try save("theirs", in: other)
        #expect(try waitForHead(fixture.store, in: heard))
        withExtendedLifetime(observation) {}
        other.store.close()
        fixture.store.close()
    }

    @Test func theThreadEndsWithTheLastObservationAndBeginsAgain() throws {
        let fixture = try StoreFixture()
        let heard = Locked<[EventNumber]>([])
        for number in 0..<3 {
            let observation = try fixture.store.observeHead { head in heard.withLock { $0.append(head) } }
            try save("movie \(number)", in: fixture)
            #expect(try waitForHead(fixture.store, in: heard))
            observation.cancel()
            usleep(number == 1 ? 100_000 : 0)
        }
        fixture.store.close()
        #expect(throws: StrataError.self) { try fixture.store.observeHead { _ in } }
    }
}
