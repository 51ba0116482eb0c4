import ArgumentParser
import Foundation
import StrataGraph

/// Runs OO1 on both peers: each measure ten times, of which the first is cold and the tenth is warm.
struct CatalogWorkload {
    let catalog: Catalog
    let directory: URL
    /// Of Strata's store.
    let durability: PersistentStoreDurability

    struct Result: Codable {
        let measure: String
        let count: Int
        let strataCold, sqliteCold, strataWarm, sqliteWarm: Double
        var ratio: Double { strataWarm / sqliteWarm }
    }

    struct Report: Codable {
        let parts: Int
        let strataBuild, sqliteBuild: Double
        let strataBytes, sqliteBytes: Int
        var results: [Result] = []
    }

    private static let runs = 10
    /// (3^8 - 1) / 2: seven hops over three connections each, duplicates counted.
    private static let visits = 3_280

    func run() throws -> Report {
        let folder = directory.appending(path: "oo1-\(catalog.count)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let store = folder.appending(path: "catalog.strata", directoryHint: .isDirectory)
        let file = folder.appending(path: "catalog.sqlite")
        var peers: (strata: StrataCatalog?, sqlite: SQLiteCatalog?)
        let strataBuild = try nanoseconds { peers.strata = try StrataCatalog(at: store, durability, catalog) }
        let sqliteBuild = try nanoseconds {
            peers.sqlite = try SQLiteCatalog(path: file.path(percentEncoded: false), catalog)
        }
        guard let strata = peers.strata, let sqlite = peers.sqlite else { throw ValidationError("No store was made.") }
        try compare(strata, sqlite, insertions: 0)
        var report = Report(
            parts: catalog.count, strataBuild: strataBuild, sqliteBuild: sqliteBuild, strataBytes: store.allocatedBytes,
            sqliteBytes: file.allocatedBytes)
        report.results = [
            try measure("lookup of 1,000 parts", strata, sqlite, expected: 1000) { peer, random, _ in
                try peer.look(up: (0..<1000).map { _ in Int.random(in: 1...catalog.count, using: &random) })
            },
            try measure("traversal, 7 hops", strata, sqlite, expected: Self.visits) { peer, random, _ in
                let start = Int.random(in: 1...catalog.count, using: &random)
                return try peer.traverse(from: start, depth: 7, isReverse: false)
            },
            try measure("reverse traversal, 7 hops", strata, sqlite, expected: nil) { peer, random, _ in
                let start = Int.random(in: 1...catalog.count, using: &random)
                return try peer.traverse(from: start, depth: 7, isReverse: true)
            },
            try measure("insert of 100 parts, committed", strata, sqlite, expected: 100) { peer, _, run in
                try peer.insert(catalog.insertion(run))
                return 100
            },
        ]
        try compare(strata, sqlite, insertions: Self.runs)
        return report
    }

    private func measure(
        _ name: String, _ strata: StrataCatalog, _ sqlite: SQLiteCatalog, expected: Int?,
        _ body: (any CatalogPeer, inout Random, Int) throws -> Int
    ) throws -> Result {
        try strata.reopen()
        try sqlite.reopen()
        var times: [(strata: Double, sqlite: Double)] = []
        var count = 0
        for run in 0..<Self.runs {
            var counts = (strata: 0, sqlite: 0)
            var random = Random(seed: UInt64(run))
            let strataTime = try nanoseconds { counts.strata = try body(strata, &random, run) }
            random = Random(seed: UInt64(run))
            let sqliteTime = try nanoseconds { counts.sqlite = try body(sqlite, &random, run) }
            guard counts.strata == counts.sqlite, expected == nil || counts.strata == expected else {
                throw ValidationError("\(name): Strata gives \(counts.strata), SQLite \(counts.sqlite).")
            }
            count = counts.strata
            times.append((strataTime, sqliteTime))
        }
        let last = times[Self.runs - 1]
        FileHandle.standardError.write(
            Data("\(name): \(Quantity.time(last.strata)), \(Quantity.time(last.sqlite))\n".utf8))
        return Result(
            measure: name, count: count, strataCold: times[0].strata, sqliteCold: times[0].sqlite,
            strataWarm: last.strata, sqliteWarm: last.sqlite)
    }

    private func compare(_ strata: StrataCatalog, _ sqlite: SQLiteCatalog, insertions: Int) throws {
        let (ours, theirs) = (try strata.summary(), try sqlite.summary())
        let parts = catalog.count + 100 * insertions
        guard ours == theirs, ours.starts(with: [parts, 3 * parts]) else {
            throw ValidationError("The peers differ: \(ours) and \(theirs), of \(parts) parts")
        }
    }
}
