import Foundation
import Strata

/// What a request with an idempotency key has made, so that the same request again makes nothing.
///
/// It is saved with the review, in one transaction: there is never one without the other.
@Entity final class Receipt: ManagedObject {
    @Attribute(.unique) var key: String
    /// The digest of the request. Another request under the same key has another digest, and is refused.
    var digest: String
    var reviewNumber: Int64 = 0
    @Attribute(.indexed) var date: Date
}
