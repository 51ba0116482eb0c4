import Foundation

/// A page of a photo feed: JSON as photo services send it.
struct PhotoFeed: Decodable {
    private struct Page: Decodable {
        var photo: [Item]
    }

    private struct Item: Decodable {
        enum CodingKeys: String, CodingKey {
            case id, title
            case dateTaken = "datetaken"
            case remoteURL = "url_z"
        }

        var id: String
        var title: String
        var dateTaken: Date
        var remoteURL: URL?
    }

    private enum CodingKeys: CodingKey {
        case photos
    }

    /// The photos that have an address; an app cannot show the others.
    let photos: [PhotoItem]

    init(from decoder: any Decoder) throws {
        let page = try decoder.container(keyedBy: CodingKeys.self).decode(Page.self, forKey: .photos)
        photos = page.photo.compactMap { item in
            item.remoteURL.map {
                PhotoItem(photoID: item.id, title: item.title, dateTaken: item.dateTaken, remoteURL: $0)
            }
        }
    }

    /// Reads a page from a file, as an app would from the network.
    init(contentsOf url: URL) throws {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .formatted(format)
        self = try decoder.decode(PhotoFeed.self, from: Data(contentsOf: url))
    }
}

/// A photo as the feed describes it, and as an archive would store it.
struct PhotoItem: Codable, Hashable, Sendable {
    var photoID: String
    var title: String
    var dateTaken: Date
    var remoteURL: URL
}
