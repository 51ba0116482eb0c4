import Foundation
import StrataGraph
import StrataModel
import StrataShipping

/// A target as the command line writes it: a directory, or `s3://bucket/prefix`.
enum TargetText {
    /// The paragraph for the help of commands that take a target.
    static let help =
        "TARGET is a directory, or s3://BUCKET/PREFIX with the access keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
        + "(and AWS_SESSION_TOKEN), the region in AWS_REGION, and the address of another server than Amazon's in "
        + "AWS_ENDPOINT_URL."

    static func target(_ text: String) throws -> any ShippingTarget {
        guard text.hasPrefix("s3:") else {
            guard !text.isEmpty else { throw UsageError("The target has no name.") }
            return DirectoryTarget(URL(filePath: text, directoryHint: .isDirectory))
        }
        guard text.hasPrefix("s3://") else {
            throw UsageError("'\(text)' is no address of a bucket, such as s3://my-bucket/Movies.")
        }
        do {
            return try BucketProgram.target(text)
        } catch let error as StrataError where error.code == .invalidRequest {
            throw UsageError(error.message)
        }
    }

    /// Whether the text names something that a store was shipped to, and not a backup.
    static func isTarget(_ text: String) -> Bool {
        text.hasPrefix("s3:")
            || !FileManager.default.fileExists(atPath: text + "/data.mdb")
                && FileManager.default.fileExists(atPath: text + "/" + TargetName.mark)
    }

    /// A moment of a log that is not here: a word that reads as no number, transaction or date is a tag.
    static func moment(_ text: String, now: Date = Date()) throws -> HistoryMoment {
        if let number = UInt64(text) { return .event(EventNumber(rawValue: number)) }
        if text.hasPrefix("t"), let number = UInt64(text.dropFirst()) {
            return .transaction(TransactionNumber(rawValue: number))
        }
        if text.hasPrefix("tag:") { return .tag(String(text.dropFirst(4))) }
        do {
            return .date(try Moment.date(text, now: now))
        } catch is UsageError {
            return .tag(text)
        }
    }

    static func lineage(_ text: String?) throws -> UUID? {
        guard let text else { return nil }
        guard let lineage = UUID(uuidString: text) else { throw UsageError("'\(text)' is not the id of a lineage.") }
        return lineage
    }
}
