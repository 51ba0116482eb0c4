// The file `strata.target`: two lines of text, "Strata target 1" and the store's id.

package import Foundation
import StrataModel

/// Says which store a target belongs to.
package struct TargetMark: Sendable, Hashable {
    package let identifier: UUID

    private static let title = "Strata target "
    private static let version = "1"

    package init(identifier: UUID) { self.identifier = identifier }

    private var data: Data { Data("\(Self.title)\(Self.version)\n\(identifier.uuidString.lowercased())\n".utf8) }

    /// The mark of a target; nil if nothing was shipped to it.
    ///
    /// - Throws: `targetIncomplete` if the file is something else.
    package static func read(_ target: some ShippingTarget) throws -> TargetMark? {
        guard let data = try target.read(TargetName.mark) else { return nil }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        guard lines.count == 2, lines[0].hasPrefix(title), let identifier = UUID(uuidString: String(lines[1])) else {
            throw StrataError(
                .targetIncomplete, "The file \(TargetName.mark) is damaged, or of another program.",
                context: .init(path: target.label))
        }
        guard lines[0].dropFirst(title.count) == version else {
            throw StrataError(
                .targetIncomplete, "The target was written by a newer version of Strata.",
                context: .init(path: target.label))
        }
        return TargetMark(identifier: identifier)
    }

    /// Checks that the target is there, and is the one of this store.
    ///
    /// - Throws: `targetUnavailable` if it has no mark, as the empty directory that is left of a disk that is away;
    ///   `divergedLog` if it belongs to another store.
    package func confirm(_ target: some ShippingTarget) throws {
        guard let found = try Self.read(target) else { throw TargetPresence.isAway(target.label) }
        try check(found, target)
    }

    /// Makes the target one of this store.
    ///
    /// - Throws: `divergedLog` if it belongs to another.
    package func claim(_ target: some ShippingTarget) throws {
        if try Self.read(target) == nil { _ = try target.write(data, to: TargetName.mark) }
        guard let found = try Self.read(target) else {
            throw StrataError(
                .targetUnavailable, "A file that was just written to the target is not there.",
                context: .init(path: target.label))
        }
        try check(found, target)
    }

    private func check(_ found: TargetMark, _ target: some ShippingTarget) throws {
        guard found == self else {
            throw StrataError(
                .divergedLog,
                "The target belongs to another store (\(found.identifier.uuidString.lowercased())). "
                    + "Ship this store to a target of its own.", context: .init(path: target.label))
        }
    }
}
