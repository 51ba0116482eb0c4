import StrataModel

// A save that was prepared under an older model, and made under a newer one that extends it (`Schema.extends`): rows
// differ only in the version that they name.

extension ChangeSet {
    /// The same changes under another model with the same rows.
    func rewritten(for version: ModelVersion) -> ChangeSet {
        var other = self
        other.modelVersion = version
        for index in insertions.indices {
            other.insertions[index].image = insertions[index].image.rewritten(for: version)
        }
        for index in updates.indices {
            other.updates[index].image = updates[index].image.rewritten(for: version)
        }
        return other
    }
}

extension SaveOutcome {
    /// The same with rows for a context that has another model with the same rows.
    func rewritten(for version: ModelVersion) -> SaveOutcome {
        switch self {
        case .saved(var receipt):
            receipt.derived = receipt.derived?.mapValues { $0.rewritten(for: version) }
            return .saved(receipt)
        case .stale(var staleness):
            staleness.objects = staleness.objects.map { object in
                Staleness.StaleObject(
                    id: object.id, theirs: object.theirs?.rewritten(for: version), revision: object.revision)
            }
            return .stale(staleness)
        }
    }
}
