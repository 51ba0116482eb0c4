import Foundation
import Strata

@Entity final class Review: ManagedObject {
    var date: Date?
    var customerReview: String?
    var name: String?
    var rating: Float = 0
    @Attribute(.indexed) var restaurantID: Int32
    var uuid: String
}

@Entity final class RestaurantPhoto: ManagedObject {
    @Attribute(.externalStorage) var photo: Data?
    var date: Date?
    @Attribute(.indexed) var restaurantID: Int32
    var uuid: String
}

@Entity(.index("dateTaken", "title"), .userInfo(["app": "Photorama"])) final class Photo: ManagedObject {
    @Attribute(.unique) var photoID: String
    var title: String?
    @Attribute(.indexed, .preservesValueInHistoryOnDeletion) var dateTaken: Date?
    @Attribute(.transformable(by: "RemoteURL")) var remoteURL: URL?
}
