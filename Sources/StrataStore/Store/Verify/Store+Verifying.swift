import LMDB
import Logging
import StrataModel

extension Store {
    /// Checks the store as of now and reports everything that is wrong. Changes nothing, and works for a store that is
    /// open for reading only.
    ///
    /// It reads one state for its whole length, so commits made meanwhile make the file grow. A full verification uses
    /// two threads with a reader each, and needs room for a second set of views in the system's temporary directory.
    ///
    /// - Throws: `storeClosed`; `persistentStoreTimeout` while another process rebuilds the views or migrates the store in
    ///   steps; `noSpace` if there is no room for that. Damage is a problem in the report, not an
    ///   error.
    package func verify(
        _ depth: VerificationDepth = .full, progress: ProgressHandler? = nil
    ) throws -> VerificationReport {
        try checkOpen()
        do {
            return try file.openingViewTables {
                guard depth == .full else {
                    return try file.environment.read { try run(depth, $0, nil, progress) }
                }
                return try file.environment.readTwice { try run(depth, $0, $1, progress) }
            }
        } catch {
            throw file.publicError(error, during: "verify")
        }
    }

    /// Other processes may have changed the store in ways that are no damage.
    ///
    /// - Throws: `MissingViewTables`; `persistentStoreTimeout` while the views are those of no state.
    private func checkReadable(_ transaction: ReadTransaction) throws {
        var refusal: StrataError?
        do {
            try file.checkViewTables(transaction)
            refusal = try file.rebuildMark(transaction)?.refusal(path: path)
            if refusal == nil { refusal = try file.migrationMark(transaction)?.refusal(path: path) }
        } catch let missing as MissingViewTables {
            throw missing
        } catch {
            // The verification says what is wrong with the records.
            StoreLogger.shared.debug("the header or the head of \(path) cannot be read: \(error)")
        }
        if let refusal { throw refusal }
    }

    /// Pages that are not those that were written are named once; then their contents are checked.
    private func run(
        _ depth: VerificationDepth, _ first: ReadTransaction, _ second: ReadTransaction?, _ progress: ProgressHandler?
    ) throws -> VerificationReport {
        try first.judgingByStructure {
            try checkReadable(first)
            let verifier = Verifier(file, blobs, first, depth, progress)
            guard let second else { return try verifier.run(beside: nil) }
            return try second.judgingByStructure { try verifier.run(beside: second) }
        }
    }
}
