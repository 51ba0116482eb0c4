import Strata

/// What the guests of a restaurant think of it, in numbers.
struct Rating: Hashable, Sendable {
    var restaurantID: Int32
    var reviewCount: Int
    var average: Double

    /// A row for each restaurant with reviews, which the store keeps in step with every save.
    static let view = ViewSource(Review.self, named: "Ratings")
        .grouped(by: \.restaurantID)
        .counting(as: "reviews")
        .averaging(\.rating, as: "average")
        .ordered(by: "average", ascending: false)
        .description
}

extension Rating {
    /// - Parameter row: the columns of the view.
    init?(_ row: [String: AttributeValue]) {
        guard case .integer(let restaurant)? = row["restaurantID"], case .integer(let count)? = row["reviews"],
            case .double(let average)? = row["average"]
        else { return nil }
        self.init(restaurantID: Int32(restaurant), reviewCount: Int(count), average: average)
    }
}

extension Guestbook {
    /// The average rating and the number of reviews of a restaurant; nil without reviews.
    func fetchRating(of restaurantID: Int32) throws -> Rating? {
        let request = ViewFetchRequest("Ratings").where(.equal("restaurantID", .integer(Int64(restaurantID))))
        return try context.fetchRows(request).dictionaries.first.flatMap(Rating.init)
    }

    /// The restaurants with the best average ratings.
    func fetchBest(_ count: Int) throws -> [Rating] {
        let request = ViewFetchRequest("Ratings").sorted(by: "average", ascending: false).prefix(count)
        return try context.fetchRows(request).dictionaries.compactMap(Rating.init)
    }
}
