import StrataModel
import StrataStore
import Testing

@testable import StrataShipping

/// Waiting for a store whose views are being rebuilt.
@Suite struct StoreWaitTests {
    private func refusal(_ text: String, _ code: StrataError.Code = .persistentStoreTimeout) -> StrataError {
        StrataError(code, text)
    }

    @Test func aRebuildThatGoesOnIsWaitedFor() throws {
        let wait = StoreWait(limit: .milliseconds(500), interval: .milliseconds(60))
        var (count, reports) = (0, [String]())
        let result = try wait.run {
            count += 1
            // It stands still for a while, but not for as long as the limit, and takes longer than that in all.
            if count < 12 { throw refusal("\(count / 2) of 6") }
            return "shipped"
        } report: {
            reports.append($0.message)
        }
        #expect(result == "shipped" && count == 12 && reports == ["0 of 6"])
    }

    @Test func aRebuildThatStandsStillIsNot() {
        let wait = StoreWait(limit: .milliseconds(50), interval: .milliseconds(5))
        var (count, reports) = (0, 0)
        let error = #expect(throws: StrataError.self) {
            try wait.run {
                count += 1
                throw refusal(count < 3 ? "2 of 6" : "3 of 6")
            } report: { _ in
                reports += 1
            }
        }
        #expect(error?.message == "3 of 6" && reports == 1 && count > 3)
    }

    @Test func otherFailuresAreThrownAtOnce() {
        var reports = 0
        let error = #expect(throws: StrataError.self) {
            try StoreWait().run {
                throw refusal("full", .noSpace)
            } report: { _ in
                reports += 1
            }
        }
        #expect(error?.code == .noSpace && reports == 0)
    }
}
