import LMDB
import StrataModel

extension Store {
    /// Checks the store as of now and names everything that is wrong; nothing is changed, and a store open for reading
    /// only can be verified too.
    ///
    /// It holds one read transaction for its whole length, so the file grows by what is written meanwhile. A full
    /// verification needs room for a second set of views under the system's temporary directory.
    ///
    /// - Throws: when the store is closed, `noSpace` when there is no room for that; damage is a problem in the report,
    ///   not an error.
    package func verify(
        _ depth: VerificationDepth = .full, progress: ProgressHandler? = nil
    ) throws -> VerificationReport {
        try checkOpen()
        do {
            return try core.environment.read { transaction in
                try Verifier(core, blobs, transaction, depth, progress).run()
            }
        } catch {
            throw core.publicError(error, during: "verify")
        }
    }
}
