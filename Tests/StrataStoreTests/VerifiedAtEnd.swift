import StrataModel
import StrataStore
import Testing

/// Verifies a store when the test that wrote to it is over: checksums, chains, indexes and links against objects, and
/// that replaying the log gives the live views. A test that closes its store has said what it wanted to say.
final class VerifiedAtEnd {
    private let store: Store
    private let accepted: (VerificationProblem) -> Bool

    /// - Parameter accepted: problems that the test makes on purpose.
    init(_ store: Store, accepting accepted: @escaping (VerificationProblem) -> Bool) {
        self.store = store
        self.accepted = accepted
    }

    deinit {
        do {
            let report = try store.verify()
            let problems = report.problems.filter { !accepted($0) }
            if !problems.isEmpty {
                Issue.record("the store is not sound: \(problems.map(\.description).joined(separator: "\n"))")
            }
        } catch let error as StrataError where error.code == .storeClosed {
            return
        } catch {
            Issue.record("the store cannot be verified: \(error)")
        }
    }
}
