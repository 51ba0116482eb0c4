import ArgumentParser
import Foundation
import StrataGraph
import StrataModel

/// Opens a store in a process of its own and reads a hundred movies: only the system's file cache is warm.
enum ColdOpen: Workload {
    static let lines = [LineName.coldOpen]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard bench.isWanted(.coldOpen) else { return }
        let picks = stride(from: 0, to: stores.movies.count, by: max(1, stores.movies.count / 100)).prefix(100)
        let ids = picks.map { String(stores.strata.movieIDs[$0].rawValue) }
        let numbers = picks.map { String($0) }
        let paths: [(peer: Peer, path: String)] =
            [(.strata, stores.strata.url.path(percentEncoded: false))]
            + [(Peer.lmdb, "lmdb"), (.sqlite, "movies.sqlite"), (.grdb, "grdb.sqlite")].compactMap {
                stores.peers.contains($0.0) ? ($0.0, stores.path($0.1)) : nil
            }
            + (try writeArchives(stores))
        stores.close()
        var times: [Peer: [Double]] = [:]
        var memory: [Peer: [Double]] = [:]
        let rounds = 5
        for round in 0..<rounds {
            var answers: [(peer: Peer, answer: Int)] = []
            // Archives of a million take seconds, so they are read once.
            let isShort = round > 0 && bench.size > 500_000
            for (peer, path) in paths where !isShort || ![.propertyList, .json].contains(peer) {
                let result: ColdOpenProgram.Result = try ChildProgram.run(
                    ["cold-open", peer.rawValue, path] + (peer == .strata ? ids : numbers))
                times[peer, default: []].append(result.nanoseconds)
                memory[peer, default: []].append(Double(result.memoryBytes))
                answers.append((peer, result.answer))
            }
            try Bench.compare(answers, "The movies read cold")
        }
        bench.add(
            .coldOpen, operations: 1, rounds: rounds, paths.map(\.peer), times,
            memory: memory.mapValues { Int(Spread($0).median) })
    }

    private static func writeArchives(_ stores: MovieStores) throws -> [(Peer, String)] {
        var written: [(Peer, String)] = []
        guard !stores.peers.isDisjoint(with: [.propertyList, .json]) else { return written }
        let archive = MovieArchive(stores.movies)
        let (list, json) = (stores.path("movies.plist"), stores.path("movies.json"))
        if stores.peers.contains(.propertyList) {
            try archive.write(asPropertyListTo: URL(filePath: list))
            written.append((.propertyList, list))
        }
        if stores.peers.contains(.json) {
            try archive.write(asJSONTo: URL(filePath: json))
            written.append((.json, json))
        }
        return written
    }
}

/// `strata-bench cold-open PEER PATH MOVIE...`: the process that opens and reads.
struct ColdOpenProgram: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cold-open", shouldDisplay: false)

    struct Result: Codable {
        let nanoseconds: Double
        /// The largest resident memory, without that at the start, in bytes.
        let memoryBytes: Int
        /// The sum of the movies' years.
        let answer: Int
    }

    @Argument var peer: String
    @Argument var path: String
    @Argument var movies: [UInt64]

    func run() throws {
        guard let peer = Peer(rawValue: peer) else { throw ValidationError("There is no peer \(peer).") }
        let before = Self.residentBytes("VmRSS")
        var answer = 0
        let time = try nanoseconds { answer = try read(peer) }
        try ChildProgram.answer(
            Result(
                nanoseconds: time, memoryBytes: max(0, Self.residentBytes("VmHWM") - before), answer: answer))
    }

    private func read(_ peer: Peer) throws -> Int {
        let picks = movies.map { Int(clamping: $0) }
        switch peer {
        case .strata:
            let container = try StrataMovies.open(URL(filePath: path, directoryHint: .isDirectory))
            let context = container.newBackgroundContext()
            return try movies.reduce(0) { sum, id in
                try sum + Int(context.existingObject(with: ObjectID(rawValue: id), as: Movie.self).year)
            }
        case .lmdb: return try BareLMDB(path: path).sumOfYears(ofMovies: picks)
        case .sqlite: return try SQLiteMovies(path: path).sumOfYears(ofMovies: picks)
        case .grdb: return try GRDBMovies(path: path).sumOfYears(ofMovies: picks)
        case .tightGRDB: return try TightGRDBMovies(path: path).sumOfYears(ofMovies: picks)
        case .propertyList, .json:
            let archive = try MovieArchive.read(URL(filePath: path), as: peer)
            return picks.reduce(0) { $0 + Int(archive.movies[$1].year) }
        }
    }

    /// As Linux reports it; 0 on other systems.
    private static func residentBytes(_ name: String) -> Int {
        let kilobytes = Machine.lines("/proc/self/status", name).first.flatMap { line in
            line.split(separator: " ").first.flatMap { Int($0) }
        }
        return (kilobytes ?? 0) * 1024
    }
}
