import Foundation
import Strata

/// What a guest says of a restaurant.
@Entity final class Review: ManagedObject {
    var date: Date?
    var customerReview: String?
    var name: String?
    var rating: Float = 0
    @Attribute(.indexed) var restaurantID: Int32 = 0
    var uuid: String
}

/// What a guest has seen there.
@Entity final class RestaurantPhoto: ManagedObject {
    @Attribute(.externalStorage) var photo: Data?
    var date: Date?
    @Attribute(.indexed) var restaurantID: Int32 = 0
    var uuid: String
}
