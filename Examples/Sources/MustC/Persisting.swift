import Strata

extension PersistentContainer {
    /// Saves the view context if it has changes.
    ///
    /// - Returns: Whether it had any.
    @MainActor func saveContextIfNeeded() throws -> Bool {
        guard viewContext.hasChanges else { return false }
        try viewContext.save()
        return true
    }
}

extension ManagedObjectContext {
    /// Runs `block` and saves its changes; if the save fails, rolls them back.
    func persist(_ block: () throws -> Void) throws {
        do {
            try block()
            try save()
        } catch {
            rollback()
            throw error
        }
    }
}
