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

extension ManagedObjectContext {
    /// The movie with a title.
    func movie(_ title: String) throws -> Movie {
        guard let movie = try fetch(FetchRequest<Movie>().where { $0.title == title }).first else {
            throw StrataError(.referentialIntegrity, "There is no movie \(title).")
        }
        return movie
    }

    /// The member with a name.
    func member(_ name: String) throws -> FamilyMember {
        guard let member = try fetch(FetchRequest<FamilyMember>().where { $0.name == name }).first else {
            throw StrataError(.referentialIntegrity, "There is no \(name).")
        }
        return member
    }
}
