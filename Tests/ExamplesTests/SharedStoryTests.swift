import Foundation
import StrataPostgres
import StrataTestSupport
import Testing

/// The stories over a log in PostgreSQL, told as over a log of their own. `make test-shared` starts the server.
@Suite(.enabled(if: StoryServer.address != nil, "make test-shared starts the PostgreSQL that this test needs."))
struct SharedStoryTests {
    @Test(arguments: ["BowTies", "LetsEat", "MustC", "Photorama"]) func aStoryIsTheSameOverASharedLog(
        story: String
    ) throws {
        let address = try #require(StoryServer.address)
        _ = try StoryServer.tables.get()
        let log = "\(address)#\(story) \(UUID().uuidString)"
        let more = story == "Photorama" ? ["--count", "1000"] : []
        let (own, shared, later) = (ExampleRun(story), ExampleRun(story), ExampleRun(story))
        let expected = try own.tell(more)
        let told = try shared.tell(more + ["--log", log])
        #expect(told.keys == expected.keys)
        #expect(told[1] == expected[1])
        #expect(try shared.strata("verify").exitCode == 0)
        // Another machine goes on where the first has ended.
        #expect(try !later.tell(more + ["--log", log]).isEmpty)
        #expect(try later.strata("verify").exitCode == 0)
    }
}

/// Where the server is.
enum StoryServer {
    static let address = ProcessInfo.processInfo.environment["STRATA_POSTGRES"]
    static let tables = Result { try PostgresSetup.makeTables(at: address ?? "") }
}
