import Foundation
import Strata

/// A tie of the collection: what it looks like, how it is liked, and how often it was worn.
@Entity final class BowTie: ManagedObject {
    var name: String?
    @Attribute(.indexed) var searchKey: String?
    var isFavorite: Bool = false
    var lastWorn: Date?
    @Attribute(.range(0...5)) var rating: Double = 0
    var timesWorn: Int32 = 0
    var id: UUID?
    var url: URL?
    @Attribute(.externalStorage) var photoData: Data?
    @Attribute(.transformable(by: TieColorTransformer.name)) var tintColor: TieColor?
}

/// A colour by its three parts, each from 0 to 255.
struct TieColor: Codable, Hashable, Sendable {
    var red: Int
    var green: Int
    var blue: Int
}
