import Foundation
public import StrataModel

/// A conflict of a save, and how a merge policy resolved it. The log keeps it with the transaction.
public struct ConflictRecord: Sendable, Hashable, Codable {
    /// The conflict with its three values. Values over 1 KiB are replaced by nil, since the log has them.
    public let conflict: MergeConflict
    /// The side whose values were saved.
    public let winner: Winner
    /// The name of the policy.
    public let policy: String
    /// The object that has the unique value which the object of the conflict did not get; nil for other conflicts.
    public let holder: ObjectID?

    /// The side whose values were saved; `values` where a custom policy gave its own, or neither side won.
    public enum Winner: String, Sendable, Hashable, Codable {
        /// The values of the store.
        case theirs
        /// The values of the context.
        case mine
        /// Values of a custom policy, or none of either side.
        case values
    }

    init(_ conflict: MergeConflict, winner: Winner, policy: String, holder: ObjectID? = nil) {
        self.conflict = conflict.withoutLargeValues
        self.holder = holder
        self.winner = winner
        self.policy = policy
    }

    /// The key of the records in the metadata of a transaction.
    static let metadataKey = "strata.conflicts"

    static func encode(_ records: [ConflictRecord]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(records), as: UTF8.self)
    }

    static func decode(_ text: String) throws -> [ConflictRecord] {
        try JSONDecoder().decode([ConflictRecord].self, from: Data(text.utf8))
    }
}

extension MergeConflict {
    private static let largestValue = 1024

    fileprivate var withoutLargeValues: MergeConflict {
        MergeConflict(
            objectID: objectID, entityName: entityName, isDeletedInStore: isDeletedInStore,
            isDeletedHere: isDeletedHere,
            properties: properties.map {
                $0.isEncrypted
                    ? Property(name: $0.name, base: .null, theirs: .null, mine: .null)
                    : Property(
                        name: $0.name, base: Self.short($0.base), theirs: Self.short($0.theirs),
                        mine: Self.short($0.mine))
            })
    }

    private static func short(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .string(let text) where text.utf8.count > largestValue: .null
        case .data(let data) where data.count > largestValue: .null
        case .composite: .null
        default: value
        }
    }
}

extension ConflictRecord: CustomStringConvertible {
    /// The conflict, and how it was resolved.
    public var description: String { "\(conflict); \(policy) took \(winner)" }
}
