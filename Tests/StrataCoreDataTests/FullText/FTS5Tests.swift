import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Full text beside SQLite's FTS5 over thousands of real texts: the same hits and the same ranks.
@Suite(.enabled(if: FTS5Texts.isThere, "STRATA_CORPUS is not set, or SQLite has no FTS5"))
struct FTS5Tests {
    /// A query for both, over words that SQLite knows by other names.
    private struct Query {
        var strata = ""
        var sqlite = ""

        mutating func append(_ text: String) {
            strata += text
            sqlite += text
        }

        mutating func append(words: [String], isPrefix: Bool = false) {
            strata += "\"\(words.joined(separator: " "))\""
            sqlite += "\"\(words.map(FTS5Texts.hex).joined(separator: " "))\""
            if isPrefix { append("*") }
        }
    }

    private func random(_ generator: inout SeededGenerator, _ texts: FTS5Texts) -> Query {
        var query = Query()
        func words(_ count: Int) -> [String] {
            for _ in 0..<100 {
                let text = texts.texts.randomElement(using: &generator) ?? ("", "")
                let terms = FTS5Texts.terms(Bool.random(using: &generator) ? text.title : text.plot)
                guard terms.count >= count else { continue }
                let start = Int.random(in: 0...terms.count - count, using: &generator)
                return Array(terms[start..<start + count])
            }
            return ["the"]
        }
        func phrase() { query.append(words: words(Int.random(in: 0..<3, using: &generator) == 0 ? 2 : 1)) }
        switch Int.random(in: 0..<9, using: &generator) {
        case 0...1: phrase()
        case 2:
            phrase()
            query.append(" AND ")
            phrase()
        case 3:
            phrase()
            query.append(" OR ")
            phrase()
        case 4:
            phrase()
            query.append(" NOT ")
            phrase()
        case 5:
            let word = words(1)[0]
            let prefix = String(word.prefix(max(1, word.count / 2)))
            query.append(words: FTS5Texts.terms(prefix).isEmpty ? [word] : FTS5Texts.terms(prefix), isPrefix: true)
        case 6:
            query.append("NEAR(")
            let first = words(1)
            query.append(words: first)
            query.append(" ")
            // A word may be near itself.
            let isSame = Int.random(in: 0..<3, using: &generator) == 0
            query.append(words: isSame ? first : words(Int.random(in: 1...2, using: &generator)))
            query.append(", \(Int.random(in: 0...6, using: &generator)))")
        case 7:
            query.append(Bool.random(using: &generator) ? "title : " : "plot : ")
            phrase()
        default:
            query.append("(")
            phrase()
            query.append(" OR ")
            phrase()
            query.append(") AND ")
            phrase()
        }
        return query
    }

    @Test func hitsAndRanksAreThoseOfFTS5OverTheSameWords() throws {
        let texts = try FTS5Texts(isCut: true)
        #expect(texts.texts.count >= 2_000)
        var generator = SeededGenerator(seed: 5)
        var (hits, found) = (0, 0)
        for _ in 0..<600 {
            let query = random(&generator, texts)
            let sqlite = try texts.found(bySQLite: query.sqlite)
            let strata = try texts.found(byStrata: query.strata)
            try #require(Set(sqlite.keys) == Set(strata.keys), "\(query.strata)")
            for (id, rank) in strata {
                let other = sqlite[id] ?? 0
                try #require(abs(rank - other) <= 1e-9 * max(1, abs(other)), "\(query.strata): \(rank), \(other)")
            }
            hits += sqlite.count
            if !sqlite.isEmpty { found += 1 }
        }
        #expect(found > 300 && hits > 10_000)
    }

    /// What FTS5's own words (`unicode61`) find otherwise: SQLite cuts at every sign, Strata keeps an apostrophe, a point,
    /// a comma or a low line between letters or digits, and folds case in full (ß, ligatures).
    @Test func hitsOverRawTextsDifferOnlyWhereWordsDo() throws {
        let texts = try FTS5Texts(isCut: false)
        let joined = /[\p{L}\p{N}]['’.,;_·‿][\p{L}\p{N}]|_|[^\x00-\x7F]/
        var generator = SeededGenerator(seed: 6)
        var (same, differing) = (0, 0)
        for _ in 0..<300 {
            let text = texts.texts.randomElement(using: &generator) ?? ("", "")
            let words = FTS5Texts.terms(text.plot).filter {
                $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
            guard let word = words.randomElement(using: &generator) else { continue }
            let sqlite = try texts.found(bySQLite: "\"\(word)\"")
            let strata = try texts.found(byStrata: "\"\(word)\"")
            same += sqlite.keys.count { strata[$0] != nil }
            for id in Set(sqlite.keys).symmetricDifference(strata.keys) {
                differing += 1
                let number = try #require(texts.ids.firstIndex(of: id))
                let whole = texts.texts[number].title + " " + texts.texts[number].plot
                #expect(whole.contains(joined), "\(word) in \(whole)")
            }
        }
        #expect(same > differing)
    }
}
