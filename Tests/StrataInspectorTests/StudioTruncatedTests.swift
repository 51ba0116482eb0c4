import Testing

@testable import StrataInspector

/// Studio on a store whose history begins later than with its first transaction.
@Suite struct StudioTruncatedTests {
    private let visit: StudioVisit

    init() throws {
        visit = try StudioVisit()
        let trimmed = try Tool.run("history", "trim", visit.store.path, "--before", "t3", "--force")
        #expect(trimmed.exitCode == 0, "\(trimmed.error)")
    }

    @Test func theTimelineSaysItsFirstTransaction() throws {
        let page = try visit.page("timeline")
        let first = try #require(page["first"].number)
        #expect(first == 4 && page["parts"][0]["first"].number == first)
        #expect(try visit.page("model", ["at": "4"])["moment"]["transaction"].number == 4)
        _ = try visit.page("model", ["at": "2"], status: 404)
    }

    @Test func theFirstTransactionHasNonePrevious() throws {
        #expect(try visit.page("transaction/4")["previous"].number == nil)
        #expect(try visit.page("transaction/5")["previous"].number == 4)
        _ = try visit.page("transaction/3", status: 404)
    }
}
