import Foundation
import StrataGraph
import StrataModel

/// The sample collection: a property list and the pictures that it names.
struct SampleData: Decodable {
    struct Tie: Decodable {
        var name: String
        var searchKey: String
        var imageName: String
        var rating: Double
        var timesWorn: Int32
        var lastWorn: Date
        var isFavorite: Bool
        var url: String
        var tintColor: TieColor
    }

    var ties: [Tie]
    private let directory: URL

    init(directory: URL) throws {
        self.directory = directory
        let data = try Data(contentsOf: directory.appending(component: "SampleData.plist"))
        ties = try PropertyListDecoder().decode([Tie].self, from: data)
    }

    init(from decoder: any Decoder) throws {
        ties = try [Tie](from: decoder)
        directory = URL(filePath: ".")
    }

    /// Inserts the ties unless the store has some.
    ///
    /// - Returns: The number of ties inserted.
    func importIfNeeded(into context: ManagedObjectContext) throws -> Int {
        let known = try FetchRequest<BowTie>(where: .notEqual("searchKey", .null))
        guard try context.count(for: known) == 0 else { return 0 }
        for tie in ties {
            let bowTie = BowTie(context: context)
            bowTie.id = UUID()
            bowTie.name = tie.name
            bowTie.searchKey = tie.searchKey
            bowTie.rating = tie.rating
            bowTie.timesWorn = tie.timesWorn
            bowTie.lastWorn = tie.lastWorn
            bowTie.isFavorite = tie.isFavorite
            bowTie.url = URL(string: tie.url)
            bowTie.tintColor = tie.tintColor
            bowTie.photoData = try Data(contentsOf: directory.appending(component: "\(tie.imageName).png"))
        }
        try context.save()
        return ties.count
    }
}
