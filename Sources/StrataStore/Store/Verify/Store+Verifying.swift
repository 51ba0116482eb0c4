import LMDB
import StrataModel

extension Store {
    /// Checks the store as of now and reports everything that is wrong. Changes nothing, and works for a store that is
    /// open for reading only.
    ///
    /// It reads one state for its whole length, so commits made meanwhile make the file grow. A full verification uses
    /// two threads with a reader each, and needs room for a second set of views in the system's temporary directory.
    ///
    /// - Throws: `storeClosed`; `noSpace` if there is no room for that. Damage is a problem in the report, not an
    ///   error.
    package func verify(
        _ depth: VerificationDepth = .full, progress: ProgressHandler? = nil
    ) throws -> VerificationReport {
        try checkOpen()
        do {
            guard depth == .full else {
                return try file.environment.read { try run(depth, $0, nil, progress) }
            }
            return try file.environment.readTwice { try run(depth, $0, $1, progress) }
        } catch {
            throw file.publicError(error, during: "verify")
        }
    }

    /// Pages that are not those that were written are named once; then their contents are checked.
    private func run(
        _ depth: VerificationDepth, _ first: ReadTransaction, _ second: ReadTransaction?, _ progress: ProgressHandler?
    ) throws -> VerificationReport {
        try first.judgingByStructure {
            let verifier = Verifier(file, blobs, first, depth, progress)
            guard let second else { return try verifier.run(beside: nil) }
            return try second.judgingByStructure { try verifier.run(beside: second) }
        }
    }
}
