import Foundation

/// What both peers store: the n-th film.
struct FilmRow {
    let title: String
    let year: Int32
    let rating: Double
    let votes: Int32
    /// Which of the directors.
    let director: Int

    /// One title in five has letters beyond ASCII.
    private static let words = [
        "Amélie", "Blue", "Café", "Dark", "Evening", "Fire", "Garden", "House", "Iron", "Jour", "King", "Long",
        "Moon", "Night", "Ocean", "Paris", "Quiet", "River", "Silver", "Tower", "Under", "Voyage", "Winter", "Young",
    ]

    init(_ index: Int, directors: Int, _ random: inout Random) {
        func word() -> String { Self.words[Int.random(in: 0..<Self.words.count, using: &random)] }
        title = "\(word()) \(word()) \(word()) \(index)"
        year = Int32.random(in: 1900...2029, using: &random)
        rating = Double.random(in: 0...5, using: &random)
        votes = Int32.random(in: 0..<1_000_000, using: &random)
        director = Int.random(in: 0..<directors, using: &random)
    }

    /// As an app keeps it beside the title to search by: SQLite folds only ASCII itself.
    var foldedTitle: String { Self.folded(title) }

    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}
