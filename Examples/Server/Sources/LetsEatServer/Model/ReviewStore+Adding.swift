import Crypto
import Foundation
import Strata

extension ReviewStore {
    /// Makes a review once: the same request under the same key again finds what the first has made.
    ///
    /// - Returns: the review, and whether it was there already.
    /// - Throws: a problem for another request under the key, and for a review that was deleted since.
    func add(
        _ draft: ReviewDraft, to restaurant: Int32, key: String, _ origin: Origin
    ) async throws -> (review: ReviewResource, isReplayed: Bool) {
        let digest = try Self.digest(of: draft, restaurant)
        return try await container.performBackgroundTask { context in
            if let known = try known(key, digest, in: context) { return (known, true) }
            let review = Review(context: context)
            review.uuid = UUID().uuidString
            review.restaurantID = restaurant
            review.date = .now
            draft.write(to: review)
            let receipt = Receipt(context: context)
            receipt.key = key
            receipt.digest = digest
            receipt.date = .now
            receipt.reviewNumber = Int64(review.objectID.row)
            do {
                try save(context, origin)
            } catch let error as StrataError where error.code == .constraintMerge {
                // The same request came twice at once, and the other was first.
                guard let known = try known(key, digest, in: container.newBackgroundContext()) else { throw error }
                return (known, true)
            }
            return (try ReviewResource(review, in: context), false)
        }
    }

    /// What was made under a key.
    private func known(_ key: String, _ digest: String, in context: ManagedObjectContext) throws -> ReviewResource? {
        guard let receipt = try context.fetch(FetchRequest<Receipt>().where { $0.key == key }).first else { return nil }
        guard receipt.digest == digest else {
            throw Problem(
                .unprocessableContent, "Another request was sent under this Idempotency-Key.",
                remedy: "Make a new key for each new review, and use it again only to repeat the same request.")
        }
        do {
            return try ReviewResource(existing(UInt64(receipt.reviewNumber), in: context), in: context)
        } catch let error as StrataError where error.code == .referentialIntegrity {
            throw Problem(
                .gone, "The review was made by an earlier request under this key, and was deleted since.",
                remedy: "Make a new key to make the review again.")
        }
    }

    private static func digest(of draft: ReviewDraft, _ restaurant: Int32) throws -> String {
        let text = "\(restaurant) \(try JSONText.text(draft))"
        return Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }
}
