import Foundation
import StrataPostgres
import StrataTestSupport
import Testing

/// The tool cuts the log of a story in PostgreSQL. `make test-shared` starts the server.
@Suite(.enabled(if: StoryServer.address != nil, "make test-shared starts the PostgreSQL that this test needs."))
struct SharedTrimTests {
    private func strata(_ arguments: String...) throws -> BuiltProgram.Result {
        try BuiltProgram("strata").run(arguments)
    }

    @Test func theToolCutsALogAndNewStoresBeginThere() throws {
        let address = try #require(StoryServer.address)
        _ = try StoryServer.tables.get()
        let log = "\(address)#trimmed \(UUID().uuidString)"
        let (first, later) = (ExampleRun("MustC"), ExampleRun("MustC"))
        _ = try first.tell(["--log", log])
        let planned = try strata("shared", "trim", log, "--before", "t5", "--dry-run")
        #expect(planned.exitCode == 0 && planned.output == "would cut off 5 transactions, up to t5\n", "\(planned)")
        let trimmed = try strata("shared", "trim", log, "--before", "t5")
        #expect(trimmed.exitCode == 0, "\(trimmed)")
        #expect(trimmed.output.hasPrefix("cut off 5 transactions, up to t5, and 0 large values\nnew stores begin with"))
        let again = try strata("shared", "trim", log, "--before", "t5", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any])
        #expect(
            Set(object.keys) == [
                "transaction", "transactions", "largeValues", "snapshotBytes", "holders", "dryRun", "seconds",
            ])
        #expect(object["transaction"] as? Int == 5 && object["transactions"] as? Int == 0)
        // The history of a store in memory begins at the cut.
        #expect(try strata("inspect", log).output.contains("(t5, "))
        #expect(try strata("verify", log).exitCode == 0)
        #expect(try !later.tell(["--log", log]).isEmpty)
        #expect(try later.strata("verify").exitCode == 0)
        let own = try strata("shared", "trim", first.path, "--before", "t5")
        #expect(own.exitCode == 2 && own.error.contains("no address of a shared log"), "\(own)")
    }
}
