import Foundation

/// The values of the n-th movie, which every peer stores; the same in every run.
struct MovieRow {
    let index: Int
    let title: String
    let year: Int32
    let rating: Double
    let genre: String
    let votes: Int32
    /// Which of the owners.
    let owner: Int

    /// One title in five has letters beyond ASCII.
    private static let words = [
        "Amélie", "Blue", "Café", "Dark", "Evening", "Fire", "Garden", "House", "Iron", "Jour", "King", "Long",
        "Moon", "Night", "Ocean", "Paris", "Quiet", "River", "Silver", "Tower", "Under", "Voyage", "Winter", "Young",
    ]
    private static let genres = ["Comedy", "Crime", "Documentary", "Drama", "Noir", "Science fiction", "Western"]

    /// - Parameter owner: the owner; a random one if nil.
    init(_ index: Int, owners: Int, owner: Int? = nil) {
        var seeds = Random(seed: UInt64(index))
        var random = Random(seed: seeds.next())
        func word() -> String { Self.words[Int.random(in: 0..<Self.words.count, using: &random)] }
        self.index = index
        title = "\(word()) \(word()) \(word()) \(index)"
        year = Int32.random(in: 1900...2029, using: &random)
        rating = Double.random(in: 0...5, using: &random)
        genre = Self.genres[Int.random(in: 0..<Self.genres.count, using: &random)]
        votes = Int32.random(in: 0..<1_000_000, using: &random)
        let picked = Int.random(in: 0..<owners, using: &random)
        self.owner = owner ?? picked
    }

    static func ownerName(_ owner: Int) -> String { "Owner \(owner)" }

    /// The bytes of an owner's values: an id and the name.
    static func ownerValueBytes(_ owner: Int) -> Int { 8 + ownerName(owner).utf8.count }

    /// The folded title, as an app stores it to search by: SQLite folds only ASCII itself.
    var foldedTitle: String { Self.folded(title) }

    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    /// The bytes of the values: 8 for an id, a Double or a link, 4 for a number of 32 bits, UTF-8 for texts.
    var valueBytes: Int { 8 + title.utf8.count + 4 + 8 + genre.utf8.count + 4 + 8 }
}

/// The movies of one size of store, ten for an owner on average; each row is made on demand.
struct Movies {
    let count: Int
    let owners: Int

    init(count: Int) {
        self.count = count
        owners = max(1, count / 10)
    }

    subscript(index: Int) -> MovieRow { MovieRow(index, owners: owners) }

    func rows(_ range: Range<Int>) -> [MovieRow] { range.map { self[$0] } }
}
