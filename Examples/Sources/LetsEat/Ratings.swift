import Strata

/// What the guests of a restaurant think of it, in numbers: a row for each restaurant with reviews, which the store
/// keeps in step with every save.
@View struct Ratings: Hashable {
    static let source = ViewSource(Review.self).ordered(by: "average", ascending: false)
    @Key(\Review.restaurantID) var restaurantID: Int32
    @Count var reviews: Int
    @Average(\Review.rating) var average: Double
}

extension Guestbook {
    /// The average rating and the number of reviews of a restaurant; nil without reviews.
    func fetchRatings(of restaurantID: Int32) throws -> Ratings? {
        try context.rows(of: Ratings.self).where { $0.restaurantID == restaurantID }.first()
    }

    /// The restaurants with the best average ratings.
    func fetchBest(_ count: Int) throws -> [Ratings] {
        try context.rows(of: Ratings.self).sorted(by: \.average, .descending).prefix(count)
    }
}
