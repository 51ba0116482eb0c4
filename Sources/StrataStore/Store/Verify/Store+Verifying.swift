import LMDB
import StrataModel

extension Store {
    /// Checks the store as of now and names everything that is wrong; nothing is changed, and a store open for reading
    /// only can be verified too.
    ///
    /// It reads one snapshot for its whole length, so the file grows by what is written meanwhile. A full verification
    /// runs on two threads, with a reader each, and needs room for a second set of views under the system's temporary directory.
    ///
    /// - Throws: when the store is closed, `noSpace` when there is no room for that; damage is a problem in the report,
    ///   not an error.
    package func verify(
        _ depth: VerificationDepth = .full, progress: ProgressHandler? = nil
    ) throws -> VerificationReport {
        try checkOpen()
        do {
            guard depth == .full else {
                return try core.environment.read {
                    try Verifier(core, blobs, $0, depth, progress).run(beside: nil)
                }
            }
            return try core.environment.readTwice { first, second in
                try Verifier(core, blobs, first, depth, progress).run(beside: second)
            }
        } catch {
            throw core.publicError(error, during: "verify")
        }
    }
}
