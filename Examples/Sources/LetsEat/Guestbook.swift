import Strata

/// The only type of the app that uses the store: it takes and returns plain structs, and keeps objects inside.
struct Guestbook {
    let context: ManagedObjectContext

    func add(_ item: ReviewItem) {
        let review = Review(context: context)
        review.uuid = item.uuid
        review.restaurantID = item.restaurantID
        review.date = item.date
        review.name = item.name
        review.rating = item.rating
        review.customerReview = item.customerReview
    }

    func add(_ item: PhotoItem) {
        let photo = RestaurantPhoto(context: context)
        photo.uuid = item.uuid
        photo.restaurantID = item.restaurantID
        photo.date = item.date
        photo.photo = item.photo
    }

    /// The reviews of a restaurant, newest first.
    func fetchReviews(by restaurantID: Int32) throws -> [ReviewItem] {
        let request = try FetchRequest<Review>(format: "restaurantID = %i", restaurantID)
            .sorted(by: \.date, isAscending: false)
        return try context.fetch(request).map(ReviewItem.init)
    }

    /// The photos of a restaurant, newest first.
    func fetchPhotos(by restaurantID: Int32) throws -> [PhotoItem] {
        let request = try FetchRequest<RestaurantPhoto>(format: "restaurantID = %i", restaurantID)
            .sorted(by: \.date, isAscending: false)
        return try context.fetch(request).map(PhotoItem.init)
    }

    /// Saves if there are changes.
    ///
    /// - Returns: Whether there were any.
    func saveIfNeeded() throws -> Bool {
        guard context.hasChanges else { return false }
        try context.save()
        return true
    }
}
