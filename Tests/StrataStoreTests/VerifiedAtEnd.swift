import StrataModel
import StrataStore
import Testing

/// Verifies a store when the test that wrote to it is over: checksums, chains, indexes and links against objects, and
/// that replaying the log gives the live views. A test that closes its store has said what it wanted to say.
final class VerifiedAtEnd {
    private let store: Store

    init(_ store: Store) { self.store = store }

    deinit {
        do {
            let report = try store.verify()
            if !report.isSound {
                Issue.record("the store is not sound: \(report.problems.map(\.description).joined(separator: "\n"))")
            }
        } catch let error as StrataError where error.code == .storeClosed {
            return
        } catch {
            Issue.record("the store cannot be verified: \(error)")
        }
    }
}
