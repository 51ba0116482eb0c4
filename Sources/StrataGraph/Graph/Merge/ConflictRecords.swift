import StrataModel

/// Gathers the conflicts of one merge: those that make it fail, and records of the values that the policy overruled.
struct ConflictRecords {
    let policy: MergePolicy
    private(set) var overruled: [ConflictRecord] = []
    private(set) var failed: [MergeConflict] = []

    init(_ policy: MergePolicy) { self.policy = policy }

    mutating func note(_ conflict: MergeConflict, _ resolution: MergeResolution) {
        guard let winner = resolution.winner else { return failed.append(conflict) }
        if !conflict.isAgreed { overruled.append(ConflictRecord(conflict, winner: winner, policy: policy.name)) }
    }

    /// - Parameter message: the message for the number of objects, such as `2 objects`.
    /// - Throws: `merge` with every conflict that came out as `fail`.
    func throwFailed(_ message: (_ objects: String, _ count: Int) -> String) throws {
        guard let first = failed.first else { return }
        throw StrataError(
            .merge, message(failed.count == 1 ? "an object" : "\(failed.count) objects", failed.count),
            context: .init(entityName: first.entityName, objectID: first.objectID, conflicts: failed))
    }
}

extension MergeResolution {
    /// The side that won; nil if neither did.
    var winner: ConflictRecord.Winner? {
        switch self {
        case .fail: nil
        case .theirs, .allTheirs: .theirs
        case .mine, .allMine: .mine
        case .values: .values
        }
    }
}

extension MergeConflict {
    /// Whether both sides wrote the same, so that nothing is overruled.
    var isAgreed: Bool {
        !isDeletedHere && !isDeletedInStore && properties.allSatisfy { $0.theirs.isIdentical(to: $0.mine) }
    }
}
