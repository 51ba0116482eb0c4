import Foundation
import Strata

/// A guest's review of a restaurant.
@Entity final class Review: ManagedObject {
    var date: Date?
    @Attribute(.length(...2000)) var customerReview: String?
    @Attribute(.length(...100)) var name: String?
    @Attribute(.range(0...5)) var rating: Float = 0
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
