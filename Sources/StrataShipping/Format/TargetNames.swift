// The files of a target. Numbers in names are decimal with 20 digits, so that names are in the order of the log.
//
//   strata.target                               which store the target belongs to (TargetMark.swift)
//   log/LINEAGE/FIRST-LAST-DIGEST.segment       transactions FIRST through LAST (Segment.swift)
//   snapshots/LINEAGE/LAST-DIGEST/SHA256.part   a piece of a copy of the store after transaction LAST
//   snapshots/LINEAGE/LAST-DIGEST/SHA256.manifest    the pieces of that copy (SnapshotManifest.swift); written last
//   blobs/AB/SHA256                             a large value; AB are the first two digits of its name
//   erased/LINEAGE/EVENT.mark                   the erasures up to event EVENT were made in the target's files, too
//   erasures/…                                  reserved: lists of erasures that a restore applies
//
// DIGEST is the beginning of the digest of transaction LAST: 16 hexadecimal digits. So logs that differ have different
// names, and every shipper writes the same content under the same name, except for values that were erased since.

package import Foundation
package import StrataModel

/// The names of files at a target.
package enum TargetName {
    package static var mark: String { TargetPresence.fileName }
    package static let log = "log/"
    package static let snapshots = "snapshots/"
    package static let blobs = "blobs/"
    package static let erasures = "erasures/"
    package static let erased = "erased/"

    package static func log(of lineage: UUID) -> String { log + lineage.uuidString.lowercased() + "/" }
    package static func snapshots(of lineage: UUID) -> String {
        snapshots + lineage.uuidString.lowercased() + "/"
    }

    package static func erased(from lineage: UUID) -> String { erased + lineage.uuidString.lowercased() + "/" }

    /// Says that the erasures up to an event were made in the target's files.
    package static func erased(from lineage: UUID, through event: EventNumber) -> String {
        erased(from: lineage) + number(event.rawValue) + markSuffix
    }

    /// Nil if a file is no such mark.
    package static func erasedEvent(_ name: String, of lineage: UUID) -> EventNumber? {
        let prefix = erased(from: lineage)
        guard name.hasPrefix(prefix), name.hasSuffix(markSuffix) else { return nil }
        return value(name.dropFirst(prefix.count).dropLast(markSuffix.count)).map(EventNumber.init(rawValue:))
    }

    private static let markSuffix = ".mark"

    /// The marks of large values that the store had lost when they were to be shipped. Ends with `/`.
    package static let lost = "lost/"
    package static func lost(_ digest: Data) -> String { lost + Hexadecimal.text(digest) }

    package static func blob(_ digest: Data) -> String {
        let name = Hexadecimal.text(digest)
        return blobs + name.prefix(2) + "/" + name
    }

    /// 20 digits.
    static func number(_ number: TransactionNumber) -> String { self.number(number.rawValue) }

    private static func number(_ value: UInt64) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
    }

    static func number(_ text: Substring) -> TransactionNumber? {
        value(text).map(TransactionNumber.init(rawValue:))
    }

    private static func value(_ text: Substring) -> UInt64? { text.utf8.count == 20 ? UInt64(text) : nil }

    /// The beginning of a digest, as names have it.
    static func short(_ digest: [UInt8]) -> String { Hexadecimal.text(digest.prefix(8)) }

    /// The lineage in the name of a file of the log or of a snapshot.
    static func lineage(_ name: String, under prefix: String) -> UUID? {
        guard name.hasPrefix(prefix) else { return nil }
        return UUID(uuidString: String(name.dropFirst(prefix.count).prefix { $0 != "/" }))
    }
}

/// A segment by its name: which transactions it has, and where their log goes on.
package struct SegmentName: Sendable, Hashable {
    package let first: TransactionNumber
    package let last: TransactionNumber
    /// The beginning of the last transaction's digest.
    package let digest: String
    package let lineage: UUID

    package init(first: TransactionNumber, last: TransactionNumber, digest: [UInt8], lineage: UUID) {
        self.first = first
        self.last = last
        self.digest = TargetName.short(digest)
        self.lineage = lineage
    }

    /// Nil if a file is no segment.
    package init?(_ name: String) {
        guard let lineage = TargetName.lineage(name, under: TargetName.log), name.hasSuffix(Self.suffix) else {
            return nil
        }
        let parts = name.dropFirst(TargetName.log(of: lineage).count).dropLast(Self.suffix.count).split(separator: "-")
        guard parts.count == 3, let first = TargetName.number(parts[0]), let last = TargetName.number(parts[1]),
            first > .zero, first <= last, parts[2].count == 16
        else { return nil }
        self.first = first
        self.last = last
        digest = String(parts[2])
        self.lineage = lineage
    }

    private static let suffix = ".segment"

    package var text: String {
        TargetName.log(of: lineage) + "\(TargetName.number(first))-\(TargetName.number(last))-\(digest)\(Self.suffix)"
    }
}

/// A snapshot by its name: after which transaction it was made.
package struct SnapshotName: Sendable, Hashable {
    package let last: TransactionNumber
    /// The beginning of the last transaction's digest.
    package let digest: String
    package let lineage: UUID

    package init(last: TransactionNumber, digest: [UInt8], lineage: UUID) {
        self.last = last
        self.digest = TargetName.short(digest)
        self.lineage = lineage
    }

    /// Nil if a file does not belong to a snapshot.
    package init?(_ name: String) {
        guard let lineage = TargetName.lineage(name, under: TargetName.snapshots) else { return nil }
        let parts = name.dropFirst(TargetName.snapshots(of: lineage).count).split(separator: "/")
        guard parts.count == 2 else { return nil }
        let position = parts[0].split(separator: "-")
        guard position.count == 2, let last = TargetName.number(position[0]), position[1].count == 16 else {
            return nil
        }
        self.last = last
        digest = String(position[1])
        self.lineage = lineage
    }

    static let manifestSuffix = ".manifest"

    /// Ends with `/`.
    package var folder: String {
        TargetName.snapshots(of: lineage) + "\(TargetName.number(last))-\(digest)/"
    }

    package func part(_ digest: Data) -> String { folder + Hexadecimal.text(digest) + ".part" }
    package func manifest(_ digest: Data) -> String { folder + Hexadecimal.text(digest) + Self.manifestSuffix }
}
