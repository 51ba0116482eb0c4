import Foundation
public import StrataModel

/// What a merge policy overruled in a save; kept with the transaction in the log.
public struct ConflictRecord: Sendable, Hashable, Codable {
    /// The conflict with base, theirs and mine. Values over 1 KiB read as nil: the log has them.
    public let conflict: MergeConflict
    /// Whose values were saved.
    public let winner: Winner
    /// The policy's name.
    public let policy: String

    /// The side whose values were saved; `values` where a custom policy gave its own, or neither side won.
    public enum Winner: String, Sendable, Hashable, Codable {
        case theirs, mine, values
    }

    init(_ conflict: MergeConflict, winner: Winner, policy: String) {
        self.conflict = conflict.withoutLargeValues
        self.winner = winner
        self.policy = policy
    }

    /// The name under which records stand among a transaction's metadata.
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
                Property(
                    name: $0.name, base: Self.short($0.base), theirs: Self.short($0.theirs), mine: Self.short($0.mine))
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
