import Foundation
import Strata

/// A guest's review of a restaurant.
@Entity final class Review: ManagedObject {
    var date: Date?
    var customerReview: String?
    var name: String?
    var rating: Float = 0
    @Attribute(.indexed) var restaurantID: Int32 = 0
    var uuid: String
}

/// A guest's photo of a restaurant.
@Entity final class RestaurantPhoto: ManagedObject {
    @Attribute(.externalStorage) var photo: Data?
    var date: Date?
    @Attribute(.indexed) var restaurantID: Int32 = 0
    var uuid: String
}
