import Foundation

/// The database of OO1 as values (Cattell, Skeen: Object Operations Benchmark, ACM TODS 17(1), 1992): parts numbered
/// from 1, each with three connections, nine tenths of which go to the nearest hundredth of the parts.
struct Catalog {
    struct Part {
        let id, x, y: Int
        let type: String
        let build: Date
        /// Three ids of parts.
        let targets: [Int]
        let lengths: [Int]
        let types: [String]
    }

    let count: Int
    let parts: [Part]

    init(count: Int) {
        self.count = count
        var random = Random(seed: 1992)
        parts = (1...count).map { Self.part($0, of: count, &random) }
    }

    /// - Parameter total: the number of parts there are once this one is.
    static func part(_ id: Int, of total: Int, _ random: inout Random) -> Part {
        let ids = (0..<3).map { _ in target(of: id, total, &random) }
        return Part(
            id: id, x: Int.random(in: 0..<100_000, using: &random), y: Int.random(in: 0..<100_000, using: &random),
            type: "part-type\(Int.random(in: 0..<10, using: &random))",
            build: Date(timeIntervalSince1970: Double(Int.random(in: 0..<315_360_000, using: &random))),
            targets: ids, lengths: ids.map { _ in Int.random(in: 0..<100_000, using: &random) },
            types: ids.map { _ in "conn-type\(Int.random(in: 0..<10, using: &random))" })
    }

    private static func target(of id: Int, _ total: Int, _ random: inout Random) -> Int {
        let zone = max(1, total / 100)
        guard Double.random(in: 0..<1, using: &random) < 0.9 else { return Int.random(in: 1...total, using: &random) }
        // A zone that would reach beyond an end of the numbers is moved inside.
        let first = min(max(1, id - zone / 2), max(1, total - zone + 1))
        return Int.random(in: first...min(total, first + zone - 1), using: &random)
    }

    /// The parts that the n-th insertion adds; they may be connected to all earlier parts and to each other.
    func insertion(_ number: Int) -> [Part] {
        var random = Random(seed: UInt64(5000 + number))
        let before = count + number * 100
        return (1...100).map { Self.part(before + $0, of: before + $0, &random) }
    }
}

/// A store of one catalogue.
protocol CatalogPeer: AnyObject {
    func reopen() throws
    /// - Returns: how many parts were found.
    func look(up ids: [Int]) throws -> Int
    /// - Returns: how many visits were made, the start and duplicates counted.
    func traverse(from id: Int, depth: Int, isReverse: Bool) throws -> Int
    /// Adds the parts and commits durably.
    func insert(_ parts: [Catalog.Part]) throws
    /// The number of parts, the number of connections, and a sum over all of their values.
    func summary() throws -> [Int]
}
