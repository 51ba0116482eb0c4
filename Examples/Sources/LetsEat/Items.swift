import Foundation

/// A review as a plain struct, which screens, tasks and tests use without a context.
struct ReviewItem: Codable, Hashable, Sendable {
    var uuid: String
    var restaurantID: Int32
    var date: Date?
    var name: String?
    var rating: Float
    var customerReview: String?
}

extension ReviewItem {
    init(_ review: Review) {
        self.init(
            uuid: review.uuid, restaurantID: review.restaurantID, date: review.date, name: review.name,
            rating: review.rating, customerReview: review.customerReview)
    }
}

/// A photo as a plain struct.
struct PhotoItem: Hashable, Sendable {
    var uuid: String
    var restaurantID: Int32
    var date: Date?
    var photo: Data?
}

extension PhotoItem {
    init(_ photo: RestaurantPhoto) {
        self.init(uuid: photo.uuid, restaurantID: photo.restaurantID, date: photo.date, photo: photo.photo)
    }
}
