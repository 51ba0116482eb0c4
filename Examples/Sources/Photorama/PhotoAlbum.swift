import Foundation
import Strata

/// The photos in the store.
struct PhotoAlbum: Sendable {
    let container: PersistentContainer

    static var byDateTaken: FetchRequest<Photo> {
        get throws { try FetchRequest<Photo>().sorted(by: \.dateTaken) }
    }

    /// Stores the photos of a feed that are not in the store yet.
    ///
    /// - Returns: The number of new photos.
    func importPhotos(of feed: PhotoFeed) async throws -> Int {
        let photos = feed.photos
        return try await container.performBackgroundTask { context in
            let offered = try FetchRequest<Photo>().where { $0.photoID.isIn(photos.map(\.photoID)) }
            var known = Set(try context.fetch(offered).map(\.photoID))
            for item in photos where known.insert(item.photoID).inserted {
                let photo = Photo(context: context)
                photo.photoID = item.photoID
                photo.title = item.title
                photo.dateTaken = item.dateTaken
                photo.remoteURL = item.remoteURL
            }
            let count = context.insertedObjects.count
            try context.save()
            return count
        }
    }
}
