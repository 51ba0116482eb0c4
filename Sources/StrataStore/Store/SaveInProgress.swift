import StrataModel

/// A submitted save.
package struct SaveInProgress {
    let store: Store
    let submission: Submission

    /// Blocks until the save is committed or refused; call it once.
    ///
    /// - Throws: as `Store.save`.
    package func wait() throws -> SaveOutcome {
        guard let outcome = try submission.wait() else { throw store.closedError }
        store.feed.notify()
        return outcome
    }
}
