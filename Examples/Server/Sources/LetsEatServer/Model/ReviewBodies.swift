import Foundation
import Strata

/// A review as the service gives it.
struct ReviewResource: Codable, Hashable, Sendable {
    /// The number in its address, `/reviews/12`.
    var number: UInt64
    /// The newest event on its row, which is its entity tag.
    var revision: UInt64
    var review: ReviewItem
}

extension ReviewResource {
    /// - Throws: what reading the store throws.
    init(_ review: Review, in context: ManagedObjectContext) throws {
        self.init(
            number: review.objectID.row, revision: try context.revision(of: review)?.rawValue ?? 0,
            review: ReviewItem(review))
    }

    var tag: EntityTag { EntityTag(EventNumber(rawValue: revision)) }
}

/// A whole review as a client sends it, to be made or to replace another.
struct ReviewDraft: Codable, Hashable, Sendable {
    var name: String?
    var rating: Float
    var customerReview: String?
    var date: Date?

    func write(to review: Review) {
        review.name = name
        review.rating = rating
        review.customerReview = customerReview
        if let date { review.date = date }
    }
}

/// Some values of a review as a client sends them (RFC 7396): what is missing stays, and null clears.
struct ReviewPatch: Hashable, Sendable {
    /// By the names of the properties.
    let values: [String: AttributeValue]
}

extension ReviewPatch: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        var values: [String: AttributeValue] = [:]
        for name in container.allKeys {
            if try container.decodeNil(forKey: name) {
                values[name.stringValue] = .null
                continue
            }
            switch name.stringValue {
            case "name", "customerReview":
                values[name.stringValue] = .string(try container.decode(String.self, forKey: name))
            case "rating": values["rating"] = .float(try container.decode(Float.self, forKey: name))
            case "date": values["date"] = .date(try container.decode(Date.self, forKey: name))
            case let other:
                throw Problem(
                    .badRequest, "A review has no \(other) that can be changed.",
                    remedy: "Send some of name, rating, customerReview and date.")
            }
        }
        if values["rating"] == .null {
            throw Problem(.badRequest, "rating cannot be null.", remedy: "Send a number from 0 to 5.")
        }
        self.init(values: values)
    }
}
