import StrataModel

/// A save that is on its way.
package struct SaveInProgress {
    let store: Store
    let submission: Submission

    /// Blocks until the save is committed or refused; to be called once.
    ///
    /// - Throws: as `Store.save`.
    package func wait() throws -> SaveOutcome {
        guard let outcome = try submission.wait() else { throw store.closedError }
        store.feed.notify()
        return outcome
    }
}
