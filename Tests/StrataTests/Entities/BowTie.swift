import Foundation
import Strata

/// Known to its transformer alone.
struct TieColor: Hashable, Codable {
    var red: Double, green: Double, blue: Double
}

@Entity final class BowTie: ManagedObject {
    var name: String
    var isFavorite: Bool = false
    var lastWorn: Date?
    @Attribute(.range(0...5)) var rating: Double = 0
    @Attribute(.indexed) var searchKey: String?
    var timesWorn: Int32 = 0
    @Attribute(.unique) var id: UUID
    var url: URL?
    @Attribute(.externalStorage) var photoData: Data?
    @Attribute(.transformable(by: "TieColor")) var tintColor: TieColor?

    convenience init(name: String, context: ManagedObjectContext) {
        self.init(context: context)
        self.name = name
    }

    override func awakeFromInsert() { id = UUID() }
}
