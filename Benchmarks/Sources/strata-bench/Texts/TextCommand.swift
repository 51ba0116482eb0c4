import ArgumentParser
import Foundation

/// Times full text beside SQLite's FTS5 over the same texts.
struct TextWorkload {
    struct Result: Codable {
        let measure: String
        /// Nanoseconds for an operation.
        let strata: Double
        /// The same without a full text.
        var without: Double?
        var sqlite: Double?
    }

    let count: Int
    let directory: URL
    private static let batch = 1_000
    private static let rounds = 7

    private func url(_ name: String) -> URL { directory.appending(path: name) }
    private func path(_ name: String) -> String { url(name).path(percentEncoded: false) }

    func run() throws -> [Result] {
        let texts = MadeTexts(count)
        return try inserting(texts) + building(texts)
    }

    private func note(_ result: Result) -> Result {
        let sqlite = result.sqlite.map { ", SQLite \(Quantity.time($0))" } ?? ""
        FileHandle.standardError.write(Data("\(result.measure): \(Quantity.time(result.strata))\(sqlite)\n".utf8))
        return result
    }

    /// Saves of a thousand texts, and of one, in turns.
    private func inserting(_ texts: MadeTexts) throws -> [Result] {
        let listed = try StrataTexts(at: url("listed.strata"), listsWords: true)
        let plain = try StrataTexts(at: url("plain.strata"), listsWords: false)
        let kept = try SQLiteTexts(path: path("kept.sqlite"), listsWords: true)
        var next = 0
        func turns(_ size: Int) throws -> [Double] {
            var times: [[Double]] = []
            for _ in 0...Self.rounds {
                let range = next..<min(next + size, texts.titles.count)
                next = range.upperBound
                times.append([
                    try nanoseconds { try listed.insert(texts, range) },
                    try nanoseconds { try plain.insert(texts, range) },
                    try nanoseconds { try kept.insert(texts, range) },
                ])
            }
            return (0..<3).map { column in
                times.dropFirst().map { $0[column] }.sorted()[Self.rounds / 2] / Double(size)
            }
        }
        let many = try turns(Self.batch), one = try turns(1)
        listed.close()
        plain.close()
        return [
            note(Result(measure: "save of 1,000 texts, per text", strata: many[0], without: many[1], sqlite: many[2])),
            note(Result(measure: "save of one text", strata: one[0], without: one[1], sqlite: one[2])),
        ]
    }

    /// Lists the words of texts that are there, and asks for them.
    private func building(_ texts: MadeTexts) throws -> [Result] {
        let plain = try StrataTexts(at: url("build.strata"), listsWords: false)
        let sqlite = try SQLiteTexts(path: path("build.sqlite"), listsWords: false)
        for first in stride(from: 0, to: count, by: 10_000) {
            let range = first..<min(count, first + 10_000)
            try plain.insert(texts, range)
            try sqlite.insert(texts, range)
        }
        plain.close()
        var made: StrataTexts?
        let own = try nanoseconds { made = try StrataTexts(at: url("build.strata"), listsWords: true) }
        let other = try nanoseconds { try sqlite.listWords() }
        guard let strata = made else { return [] }
        defer { strata.close() }
        var results = [
            note(
                Result(
                    measure: "words of \(Quantity.count(count)) texts, per text", strata: own / Double(count),
                    sqlite: other / Double(count)))
        ]
        var random = Random(seed: 3)
        func word(_ ranks: Range<Int>) -> String { texts.words[Int.random(in: ranks, using: &random)] }
        let frequent = (0..<20).map { _ in "\(word(5..<60)) \(word(5..<60))" }
        let middling = (0..<20).map { _ in "\(word(60..<600)) \(word(60..<600))" }
        let rare = (0..<20).map { _ in "\(word(600..<6_000)) \(word(60..<600))" }
        let prefixes = (0..<20).map { _ in String(word(20..<2_000).prefix(3)) + "*" }
        let phrases = (0..<20).map { _ in "\"\(word(0..<30)) \(word(0..<60))\"" }
        for (name, queries) in [
            ("best 10 of two frequent words", frequent), ("best 10 of two words", middling),
            ("best 10 of a rare word and another", rare), ("best 10 of a prefix", prefixes),
            ("best 10 of a phrase", phrases),
        ] {
            for query in queries {
                guard try strata.count(query) == sqlite.count(query) else {
                    throw ValidationError("\(query): the peers find different numbers of texts.")
                }
            }
            let ours = try time(queries) { _ = try strata.best($0, 10) }
            let theirs = try time(queries) { _ = try sqlite.best($0, 10) }
            results.append(note(Result(measure: name, strata: ours, sqlite: theirs)))
        }
        for (name, queries) in [("count of two words", middling), ("count of a prefix", prefixes)] {
            let ours = try time(queries) { _ = try strata.count($0) }
            let theirs = try time(queries) { _ = try sqlite.count($0) }
            results.append(note(Result(measure: name, strata: ours, sqlite: theirs)))
        }
        return results
    }

    private func time(_ queries: [String], _ body: (String) throws -> Void) throws -> Double {
        try median(Self.rounds) { _ in
            try nanoseconds { for query in queries { try body(query) } } / Double(queries.count)
        }
    }
}

/// `strata-bench text [--texts 100000]`
struct TextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "text", abstract: "Times full text beside SQLite's FTS5 over the same texts.")

    @Option(help: "How many texts there are.") var texts = 100_000
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard texts >= 10_000 else { throw ValidationError("There is too little to be measured.") }
    }

    func run() throws {
        try folder.run { directory in
            try TextWorkload(count: texts, directory: directory).run()
        } print: { results in
            print(
                """
                | measure | Strata | without | FTS5 | / without | / FTS5 |
                |---|--:|--:|--:|--:|--:|
                """)
            for result in results {
                func time(_ value: Double?) -> String { value.map(Quantity.time) ?? "" }
                func ratio(_ value: Double?) -> String { value.map { Quantity.ratio(result.strata / $0) } ?? "" }
                print(
                    "| \(result.measure) | \(time(result.strata)) | \(time(result.without)) | \(time(result.sqlite)) "
                        + "| \(ratio(result.without)) | \(ratio(result.sqlite)) |")
            }
        }
    }
}
