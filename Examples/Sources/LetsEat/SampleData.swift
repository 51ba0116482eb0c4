import Foundation
import Strata

/// The reviews and photos of the sample data.
struct SampleData {
    private struct Content: Decodable {
        struct Photo: Decodable {
            var uuid: String
            var restaurantID: Int32
            var date: Date
            var fileName: String
        }

        var reviews: [ReviewItem]
        var photos: [Photo]
    }

    let reviews: [ReviewItem]
    let photos: [PhotoItem]

    init(directory: URL) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let content = try decoder.decode(
            Content.self, from: Data(contentsOf: directory.appending(component: "Reviews.json")))
        reviews = content.reviews
        photos = try content.photos.map { photo in
            PhotoItem(
                uuid: photo.uuid, restaurantID: photo.restaurantID, date: photo.date,
                photo: try Data(contentsOf: directory.appending(component: photo.fileName)))
        }
    }

    /// Adds the reviews and photos that the guestbook does not have yet, without saving.
    ///
    /// - Returns: The numbers of reviews and photos added.
    func addMissing(to guestbook: Guestbook) throws -> (reviews: Int, photos: Int) {
        let context = guestbook.context
        let reviews = try missing(reviews, of: Review.self, in: context, uuid: \.uuid)
        let photos = try missing(photos, of: RestaurantPhoto.self, in: context, uuid: \.uuid)
        reviews.forEach(guestbook.add)
        photos.forEach(guestbook.add)
        return (reviews.count, photos.count)
    }

    private func missing<Item, Object: ManagedObject>(
        _ items: [Item], of type: Object.Type, in context: ManagedObjectContext, uuid: (Item) -> String
    ) throws -> [Item] {
        try items.filter { try context.count(for: FetchRequest<Object>(format: "uuid = %@", uuid($0))) == 0 }
    }
}
