import Foundation
import Strata

/// What the service does with reviews, each in a context of its own on a thread that may block.
struct ReviewStore: Sendable {
    let container: PersistentContainer

    /// What stands in the log beside a change.
    struct Origin: Sendable {
        var author: String?
        var requestID: String?
    }

    func review(_ number: UInt64) async throws -> ReviewResource {
        try await container.performBackgroundTask { context in
            try ReviewResource(existing(number, in: context), in: context)
        }
    }

    /// The reviews of a restaurant, newest first, and the moment that they are of.
    func reviews(of restaurant: Int32, _ page: Page) async throws -> (reviews: [ReviewResource], at: EventNumber) {
        try await container.performBackgroundTask { _ in
            let moment = try page.moment ?? container.head()
            let context = try container.context(asOf: .event(moment))
            let request = try Self.newest(of: restaurant).limited(to: page.limit, offset: page.offset)
            return (try context.fetch(request).map { try ReviewResource($0, in: context) }, moment)
        }
    }

    static func newest(of restaurant: Int32) throws -> FetchRequest<Review> {
        try FetchRequest<Review>().where { $0.restaurantID == restaurant }.sorted(by: \.date, isAscending: false)
    }

    func best(_ count: Int) async throws -> [Ratings] {
        try await container.performBackgroundTask { try Guestbook(context: $0).fetchBest(count) }
    }

    func rating(of restaurant: Int32) async throws -> Ratings? {
        try await container.performBackgroundTask { try Guestbook(context: $0).fetchRatings(of: restaurant) }
    }

    // MARK: For changes

    /// - Throws: `referentialIntegrity` if there is no such review.
    func existing(_ number: UInt64, in context: ManagedObjectContext) throws -> Review {
        let uri = "strata://\(container.storeIdentifier.uuidString)/\(Review.entityName)/p\(number)"
        guard let uri = URL(string: uri) else { preconditionFailure("\(uri) is no URI.") }
        let id = try container.objectID(forURIRepresentation: uri)
        return try context.existingObject(with: id, as: Review.self)
    }

    /// Saves, and saves again if the disk did not say whether the changes are on it: they are saved once.
    func save(_ context: ManagedObjectContext, _ origin: Origin, expecting: [ObjectID: EventNumber?] = [:]) throws {
        context.transactionAuthor = origin.author
        context.transactionCorrelationID = origin.requestID
        for _ in 1...2 {
            do {
                return try context.save(expecting: expecting)
            } catch let error as StrataError where error.code == .inDoubt { continue }
        }
        try context.save(expecting: expecting)
    }
}
