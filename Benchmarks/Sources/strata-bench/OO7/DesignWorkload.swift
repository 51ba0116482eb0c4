import ArgumentParser
import Foundation
import StrataGraph

/// Runs OO7 on both peers, cold and hot, and checks every count.
struct DesignWorkload {
    let design: Design
    let directory: URL
    /// Of Strata's store.
    let durability: PersistentStoreDurability

    struct Result: Codable {
        let operation: String
        let count: Int
        let strataCold: Double
        let sqliteCold: Double
        let strataHot: Double
        let sqliteHot: Double
        let isTraversal: Bool
        var ratio: Double { strataHot / sqliteHot }
        var isReached: Bool { ratio <= Bar.traversal.reach }
    }

    struct Report: Codable {
        let size: String
        let connectionsPerPart: Int
        let strataBuild: Double
        let sqliteBuild: Double
        var strataBytes = 0
        var sqliteBytes = 0
        var results: [Result] = []
    }

    /// The first run is cold; of the others the first and the last do not count, as in the original's runner.
    private static let hotRuns = 5

    func run() throws -> Report {
        let folder = directory.appending(path: "oo7-\(design.size.name)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let store = folder.appending(path: "design.strata", directoryHint: .isDirectory)
        let file = folder.appending(path: "design.sqlite")
        var strata: StrataDesign?
        var sqlite: SQLiteDesign?
        let strataBuild = try nanoseconds { strata = try StrataDesign(at: store, durability, design) }
        let sqliteBuild = try nanoseconds { sqlite = try SQLiteDesign(path: file.path(percentEncoded: false), design) }
        guard let strata, let sqlite else { throw ValidationError("No store was made.") }
        var report = Report(
            size: design.size.name, connectionsPerPart: design.size.connectionsPerPart, strataBuild: strataBuild,
            sqliteBuild: sqliteBuild)
        report.strataBytes = store.allocatedBytes
        report.sqliteBytes = file.allocatedBytes
        try compare(strata, sqlite, "building")
        for operation in DesignOperation.allCases where operation != .delete {
            if operation == .insert {
                report.results += try structural(strata, sqlite)
            } else {
                report.results.append(try measure(operation, strata, sqlite))
            }
            try compare(strata, sqlite, operation.rawValue)
        }
        return report
    }

    private func measure(
        _ operation: DesignOperation, _ strata: StrataDesign, _ sqlite: SQLiteDesign
    ) throws -> Result {
        var times = Times()
        for round in 0...Self.hotRuns {
            if round == 0 {
                try strata.reopen()
                try sqlite.reopen()
            }
            try times.add(operation, design, strata, sqlite)
        }
        return times.result(operation, design)
    }

    /// Insert and delete take turns, so that every run finds the same design.
    private func structural(_ strata: StrataDesign, _ sqlite: SQLiteDesign) throws -> [Result] {
        var inserts = Times()
        var deletes = Times()
        try strata.reopen()
        try sqlite.reopen()
        for _ in 0...Self.hotRuns {
            try inserts.add(.insert, design, strata, sqlite)
            try compare(strata, sqlite, "insert")
            try deletes.add(.delete, design, strata, sqlite)
        }
        return [inserts.result(.insert, design), deletes.result(.delete, design)]
    }

    private struct Times {
        var strata: [Double] = []
        var sqlite: [Double] = []

        mutating func add(
            _ operation: DesignOperation, _ design: Design, _ strata: StrataDesign, _ sqlite: SQLiteDesign
        ) throws {
            self.strata.append(try time(operation, design, strata))
            self.sqlite.append(try time(operation, design, sqlite))
        }

        private func time(
            _ operation: DesignOperation, _ design: Design, _ peer: some DesignPeer
        ) throws -> Double {
            var count = 0
            let time = try nanoseconds { count = try peer.run(operation) }
            let expected = operation.expected(design)
            guard count == expected else {
                throw ValidationError(
                    "\(operation.rawValue) gives \(count) and not \(expected) with \(type(of: peer)).")
            }
            return time
        }

        private func hot(_ times: [Double]) -> Double {
            let counted = times.dropFirst(2).dropLast()
            return counted.reduce(0, +) / Double(counted.count)
        }

        func result(_ operation: DesignOperation, _ design: Design) -> Result {
            let result = Result(
                operation: operation.rawValue, count: operation.expected(design), strataCold: strata[0],
                sqliteCold: sqlite[0], strataHot: hot(strata), sqliteHot: hot(sqlite),
                isTraversal: operation.isTraversal)
            FileHandle.standardError.write(
                Data(
                    "\(result.operation): \(Quantity.time(result.strataHot)), \(Quantity.time(result.sqliteHot))\n".utf8
                ))
            return result
        }
    }

    private func compare(_ strata: StrataDesign, _ sqlite: SQLiteDesign, _ step: String) throws {
        let (ours, theirs) = (try strata.summary(), try sqlite.summary())
        guard ours == theirs else {
            throw ValidationError("After \(step) the peers differ: \(ours) and \(theirs)")
        }
    }
}
