import HTTPTypes
import Hummingbird
import NIOCore
import Strata

/// The addresses of reviews and ratings.
struct ReviewRoutes: Sendable {
    let store: ReviewStore

    func add(to router: Router<ServiceContext>) {
        router.get("restaurants/:restaurant/reviews", use: list)
        router.post("restaurants/:restaurant/reviews", use: make)
        router.get("restaurants/:restaurant/rating", use: rating)
        router.get("ratings", use: ratings)
        router.get("reviews/:review", use: read)
        router.put("reviews/:review", use: replace)
        router.patch("reviews/:review", use: patch)
        router.delete("reviews/:review", use: delete)
    }

    // MARK: Reading

    private struct List: Encodable {
        let reviews: [ReviewResource]
        /// The moment of the list, for its next pages.
        let at: UInt64
        let next: String?
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let page = try Page(request)
        let (reviews, moment) = try await store.reviews(of: try Self.restaurant(context), page)
        let hasNext = reviews.count == page.limit && page.offset + page.limit <= Page.deepest
        let next = hasNext ? page.next(of: request.uri.path, at: moment) : nil
        var response = try Self.json(List(reviews: reviews, at: moment.rawValue, next: next))
        if let next { response.headers[.link] = "<\(next)>; rel=\"next\"" }
        return response
    }

    @Sendable private func read(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let review = try await store.review(try Self.number(context))
        let tags = (request.headers[.ifNoneMatch] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
        // A weak tag means the same here.
        if tags.contains(where: { $0 == review.tag.description || $0 == "W/\(review.tag)" || $0 == "*" }) {
            return Response(status: .notModified, headers: [.eTag: review.tag.description])
        }
        return try Self.answer(review)
    }

    private struct Standing: Encodable {
        let restaurant: Int32
        let average: Double
        let reviews: Int

        init(_ rating: Ratings) {
            (restaurant, average, reviews) = (rating.restaurantID, rating.average, rating.reviews)
        }
    }

    @Sendable private func rating(_ request: Request, _ context: ServiceContext) async throws -> Response {
        guard let rating = try await store.rating(of: try Self.restaurant(context)) else {
            throw Problem(.notFound, "The restaurant has no reviews.", remedy: "Write the first.")
        }
        return try Self.json(Standing(rating))
    }

    @Sendable private func ratings(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let count = try Page.number("limit", request, 1...Page.largest) ?? 10
        return try Self.json(["ratings": try await store.best(count).map(Standing.init)])
    }

    // MARK: Writing

    @Sendable private func make(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let restaurant = try Self.restaurant(context)
        guard let key = request.headers[.idempotencyKey], (1...200).contains(key.utf8.count) else {
            throw Problem(
                .badRequest, "A new review needs an Idempotency-Key.",
                remedy: "Make a UUID, and send the same one with every attempt to make this review.")
        }
        let draft = try await request.json(ReviewDraft.self, context)
        let (review, isReplayed) = try await store.add(draft, to: restaurant, key: key, origin(request, context))
        var response = try Self.answer(review, .created)
        response.headers[.location] = "/reviews/\(review.number)"
        if isReplayed { response.headers[.idempotencyReplayed] = "true" }
        return response
    }

    @Sendable private func replace(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let precondition = try Self.precondition(request)
        let draft = try await request.json(ReviewDraft.self, context)
        return try Self.answer(
            try await store.replace(try Self.number(context), by: draft, if: precondition, origin(request, context)))
    }

    /// With `base` in place of `If-Match`, the change is merged with what others have saved since.
    @Sendable private func patch(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (number, origin) = (try Self.number(context), origin(request, context))
        if let base = try Page.number("base", request, 1...Int.max), request.headers[.ifMatch] == nil {
            let patch = try await request.json(ReviewPatch.self, context)
            return try Self.answer(
                try await store.merge(number, patch, base: EventNumber(rawValue: UInt64(base)), origin))
        }
        let precondition = try Self.precondition(request)
        let patch = try await request.json(ReviewPatch.self, context)
        return try Self.answer(try await store.patch(number, patch, if: precondition, origin))
    }

    @Sendable private func delete(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let precondition = try Self.precondition(request)
        try await store.delete(try Self.number(context), if: precondition, origin(request, context))
        return Response(status: .noContent)
    }

    // MARK: Parts of requests and answers

    private func origin(_ request: Request, _ context: ServiceContext) -> ReviewStore.Origin {
        .init(author: request.author, requestID: context.id)
    }

    static func restaurant(_ context: ServiceContext) throws -> Int32 {
        guard let restaurant = context.parameters.get("restaurant", as: Int32.self), restaurant > 0 else {
            throw Problem(.badRequest, "A restaurant has a number.", remedy: "Send it as in /restaurants/17/reviews.")
        }
        return restaurant
    }

    private static func number(_ context: ServiceContext) throws -> UInt64 {
        guard let number = context.parameters.get("review", as: UInt64.self) else {
            throw Problem(.badRequest, "A review has a number.", remedy: "Send it as in /reviews/12.")
        }
        return number
    }

    private static func precondition(_ request: Request) throws -> Precondition {
        let tags = request.headers[values: .ifMatch]
        guard !tags.isEmpty else {
            throw Problem(
                .preconditionRequired, "A change needs an If-Match.",
                remedy: "Read the review, and send its ETag as If-Match; or send a PATCH with ?base=REVISION.")
        }
        return Precondition(tags.joined(separator: ","))
    }

    private static func answer(_ review: ReviewResource, _ status: HTTPResponse.Status = .ok) throws -> Response {
        var response = try json(review, status)
        response.headers[.eTag] = review.tag.description
        return response
    }

    static func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONText.encoder.encode(value))))
    }
}
