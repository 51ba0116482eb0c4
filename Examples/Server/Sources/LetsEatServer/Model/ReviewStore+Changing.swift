import Strata

extension ReviewStore {
    /// Replaces a review if it still is what the client has seen.
    func replace(
        _ number: UInt64, by draft: ReviewDraft, if precondition: Precondition, _ origin: Origin
    ) async throws -> ReviewResource {
        try await change(number, if: precondition, origin) { review, _ in draft.write(to: review) }
    }

    /// Changes some values of a review if it still is what the client has seen.
    func patch(
        _ number: UInt64, _ patch: ReviewPatch, if precondition: Precondition, _ origin: Origin
    ) async throws -> ReviewResource {
        try await change(number, if: precondition, origin) { review, _ in
            for (name, value) in patch.values { try review.setValue(value, forKey: name) }
        }
    }

    /// Deletes a review if it still is what the client has seen.
    func delete(_ number: UInt64, if precondition: Precondition, _ origin: Origin) async throws {
        try await container.performBackgroundTask { context in
            let review = try existing(number, in: context)
            let seen = try expect(precondition, of: review, in: context)
            context.delete(review)
            try save(context, origin, expecting: [review.objectID: seen])
        }
    }

    /// Merges changes that were made to an older revision with those that others have saved since, property by property.
    ///
    /// - Throws: `merge` with base, theirs and mine of each property that both have changed; then nothing is saved.
    func merge(
        _ number: UInt64, _ patch: ReviewPatch, base: EventNumber, _ origin: Origin
    ) async throws -> ReviewResource {
        try await container.performBackgroundTask { context in
            let review = try existing(number, in: context)
            let (seen, present) = (try values(of: review.objectID, at: base), try review.frozen())
            var conflicts: [MergeConflict.Property] = []
            for (name, mine) in patch.values.sorted(by: { $0.key < $1.key }) {
                let (base, theirs) = (try seen.value(forKey: name), try present.value(forKey: name))
                if theirs == base || theirs == mine {
                    try review.setValue(mine, forKey: name)
                } else if mine != base {
                    conflicts.append(.init(name: name, base: base, theirs: theirs, mine: mine))
                }
            }
            guard conflicts.isEmpty else {
                let conflict = MergeConflict(
                    objectID: review.objectID, entityName: Review.entityName, isDeletedInStore: false,
                    isDeletedHere: false, properties: conflicts)
                var problem = Problem(
                    StrataError(.merge, "Others changed the same.", context: .init(conflicts: [conflict])))
                problem.current = try ReviewResource(review, in: context)
                throw problem
            }
            // A save that comes in between is merged as well. If it conflicts, this save fails with the conflict.
            try save(context, origin)
            return try ReviewResource(review, in: context)
        }
    }

    private func values(of id: ObjectID, at revision: EventNumber) throws -> FrozenObject<Review> {
        let past = try container.context(asOf: .event(revision))
        do {
            return try past.existingObject(with: id, as: Review.self).frozen()
        } catch let error as StrataError where error.code == .referentialIntegrity {
            throw Problem(
                .badRequest, "base is no revision of this review.", remedy: "Send the revision that the change is of.")
        }
    }

    // MARK: Preconditions

    private func change(
        _ number: UInt64, if precondition: Precondition, _ origin: Origin,
        _ change: @escaping @Sendable (Review, ManagedObjectContext) throws -> Void
    ) async throws -> ReviewResource {
        try await container.performBackgroundTask { context in
            let review = try existing(number, in: context)
            let seen = try expect(precondition, of: review, in: context)
            try change(review, context)
            // The check that counts is part of the commit: nothing comes between the two.
            try save(context, origin, expecting: [review.objectID: seen])
            return try ReviewResource(review, in: context)
        }
    }

    /// - Returns: the revision of the review.
    /// - Throws: a problem with the present review if it is another one than the client has seen.
    private func expect(
        _ precondition: Precondition, of review: Review, in context: ManagedObjectContext
    ) throws -> EventNumber? {
        let seen = try context.revision(of: review)
        guard precondition.holds(for: seen) else {
            var problem = Problem(StrataError(.persistentStoreSaveConflicts, "It has another revision."))
            problem.current = try ReviewResource(review, in: context)
            throw problem
        }
        return seen
    }
}
