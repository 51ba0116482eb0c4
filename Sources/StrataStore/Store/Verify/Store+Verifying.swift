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
                return try file.environment.read {
                    try Verifier(file, blobs, $0, depth, progress).run(beside: nil)
                }
            }
            return try file.environment.readTwice { first, second in
                try Verifier(file, blobs, first, depth, progress).run(beside: second)
            }
        } catch {
            throw file.publicError(error, during: "verify")
        }
    }
}
