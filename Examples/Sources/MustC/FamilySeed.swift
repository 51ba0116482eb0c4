import Foundation
import Strata

/// The family of the sample data: names, each with movies.
struct FamilySeed: Decodable, Sendable {
    struct Member: Decodable, Sendable {
        var name: String
        var movies: [String]
    }

    var members: [Member]

    init(directory: URL) throws {
        let data = try Data(contentsOf: directory.appending(component: "Family.json"))
        self = try JSONDecoder().decode(FamilySeed.self, from: data)
    }

    /// Makes the family, after deleting members and movies that an earlier run left.
    func plant(in context: ManagedObjectContext) throws {
        try context.fetch(FetchRequest<FamilyMember>()).forEach(context.delete)
        try context.fetch(FetchRequest<Movie>(format: "familyMember == nil")).forEach(context.delete)
        for member in members {
            let familyMember = FamilyMember(context: context)
            familyMember.name = member.name
            for title in member.movies {
                let movie = Movie(context: context)
                movie.title = title
                movie.familyMember = familyMember
            }
        }
        try context.save()
    }
}
