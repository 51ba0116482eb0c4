import Foundation
import Strata

/// The message that the webhook gets for one new review.
struct OutboxMessage: Hashable, Sendable {
    /// The same for the same message, however often it is sent: the transaction and the review.
    let key: String
    let body: String

    /// The new reviews of a transaction, as it saved them: later changes do not change what is sent.
    ///
    /// - Throws: what reading the log throws.
    static func messages(of change: TransactionChanges) throws -> [OutboxMessage] {
        try change.changes().filter { $0.entityName == Review.entityName && $0.kind == .inserted }.map { review in
            let key = "\(change.transaction.id.uuidString)/\(review.objectID.row)"
            let values = review.properties.map { ($0.key, JSONValue($0.after)) }
            let content = Content(
                key: key, kind: "review.created", number: review.objectID.row, date: change.transaction.date,
                review: Dictionary(uniqueKeysWithValues: values))
            return OutboxMessage(key: key, body: try JSONText.text(content))
        }
    }

    private struct Content: Encodable {
        let key: String
        let kind: String
        let number: UInt64
        let date: Date
        let review: [String: JSONValue]
    }
}
