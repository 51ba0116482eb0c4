import Foundation

/// A query that both peers run.
enum MovieQuery: String, CaseIterable {
    case equality = "indexed equality"
    case range = "range of 100 in order"
    case prefix = "prefix"
    case twoIndexes = "two-index AND"
    case toManyAny = "to-many ANY"
    case unindexedCount = "unindexed count"
    case topTen = "top 10, unindexed sort"
    case groupCount = "group by, count"
    case indexedCount = "indexed count"
    case contains = "CONTAINS[cd] scan"

    /// The bar: Strata's time divided by SQLite's.
    var mostRatio: Double {
        switch self {
        case .unindexedCount, .topTen, .contains: Bar.query.scan
        default: Bar.query.indexed
        }
    }
}

/// The arguments of one run of a query.
struct MovieArgument {
    let title: String
    /// The first two words of a title.
    let prefix: String
    /// All its words, which few titles share.
    let longPrefix: String
    let year: Int32
    let rating: Double
    let votes: Int32
    let part: String

    init(_ rows: Movies, _ random: inout Random) {
        let row = rows[Int.random(in: 0..<rows.count, using: &random)]
        title = row.title
        let words = row.title.split(separator: " ")
        prefix = words.prefix(2).joined(separator: " ") + " "
        longPrefix = words.prefix(3).joined(separator: " ") + " "
        year = row.year
        rating = row.rating
        votes = row.votes
        part = ["CAFE", "amelie", "river", "Silver k", "no such"].randomElement(using: &random) ?? ""
    }
}

/// The answer of a query, which must be the same for both peers.
enum MovieAnswer: Equatable {
    /// The numbers of movies or owners, in order if the query has one.
    case objects([Int])
    case number(Int)
    case groups([Int: Int])
}
