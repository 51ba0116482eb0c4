import Foundation

/// The whole graph as one Codable value, as apps without a database keep it.
struct MovieArchive: Codable {
    struct Movie: Codable {
        let title: String
        let year: Int32
        let rating: Double
        let genre: String
        let votes: Int32
        let owner: Int
    }

    let owners: [String]
    let movies: [Movie]

    init(_ movies: Movies) {
        owners = (0..<movies.owners).map(MovieRow.ownerName)
        self.movies = (0..<movies.count).map { index in
            let row = movies[index]
            return Movie(
                title: row.title, year: row.year, rating: row.rating, genre: row.genre, votes: row.votes,
                owner: row.owner)
        }
    }

    func write(asPropertyListTo url: URL) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        try encoder.encode(self).write(to: url)
    }

    func write(asJSONTo url: URL) throws { try JSONEncoder().encode(self).write(to: url) }

    static func read(_ url: URL, as peer: Peer) throws -> MovieArchive {
        let data = try Data(contentsOf: url)
        return peer == .json
            ? try JSONDecoder().decode(Self.self, from: data) : try PropertyListDecoder().decode(Self.self, from: data)
    }
}
