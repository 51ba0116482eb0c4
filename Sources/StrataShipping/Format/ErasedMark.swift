// A mark at a target (TargetNames.swift): text. Each line is an erasure, as base64 of its maintenance record
// (MaintenanceRecord.swift), that was made in a copy in order to write older segments again, and that no transaction of
// the log records. It says which transaction records lost texts, and what their digests are now.

import Foundation
import StrataModel

/// A record of the erasures that were applied to a target's files.
struct ErasedMark {
    let records: [ErasureRecord]

    func encoded() throws -> Data {
        let lines = try records.map { record in
            Data(try MaintenanceRecord.erased(record).encoded().array).base64EncodedString() + "\n"
        }
        return Data(lines.joined().utf8)
    }

    /// The erasures in all marks of a lineage.
    ///
    /// - Throws: `corrupt` for a mark that cannot be read.
    static func records(at target: any ShippingTarget, of lineage: UUID) throws -> [ErasureRecord] {
        try target.entries(under: TargetName.erased(from: lineage), after: nil).flatMap { entry in
            try target.read(entry.name)?.split(separator: UInt8(ascii: "\n")).map { line in
                guard let bytes = Data(base64Encoded: Data(line)),
                    case .erased(let record) = try bytes.withUnsafeBytes({ try MaintenanceRecord($0) })
                else {
                    throw StrataError(
                        .corrupt, "A mark of erasures at the target cannot be read.",
                        context: .init(path: "\(target.label)/\(entry.name)"))
                }
                return record
            } ?? []
        }
    }
}
