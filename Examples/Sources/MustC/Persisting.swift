import Strata

extension PersistentContainer {
    /// Saves the view context if it has changes.
    ///
    /// - Returns: whether it had any.
    @MainActor func saveContextIfNeeded() throws -> Bool {
        guard viewContext.hasChanges else { return false }
        try viewContext.save()
        return true
    }
}

extension ManagedObjectContext {
    /// Runs `block` and saves what it did; what cannot be saved is taken back.
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
