import Foundation
import StrataGraph
import StrataModel

/// Follows a ring of to-ones: each hop depends on the one before.
enum Hops: Workload {
    static let lines = [LineName.hop]
    private static let nodes = 1_000
    private static let hops = 100_000

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard bench.isWanted(.hop) else { return }
        var random = Random(seed: 8)
        let order = (0..<nodes).shuffled(using: &random)
        /// Which node follows each.
        var next = order
        for index in order.indices { next[order[index]] = order[(index + 1) % nodes] }
        var contenders = [
            try strata(stores.directory.appending(path: "nodes.strata", directoryHint: .isDirectory), next)
        ]
        if stores.peers.contains(.lmdb) { contenders.append(try lmdb(stores.path("nodes.lmdb"), next)) }
        if stores.peers.contains(.sqlite) { contenders.append(try sqlite(stores.path("nodes.sqlite"), next)) }
        try bench.compare(.hop, operations: hops, contenders)
    }

    private static func strata(_ url: URL, _ next: [Int]) throws -> Contender {
        let container = try PersistentContainer(name: "nodes", entities: [Node.self], at: .url(url))
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let nodes = next.indices.map { number in
            let node = Node(context: context)
            node.number = Int32(number)
            return node
        }
        for (node, target) in zip(nodes, next) { node.next = nodes[target] }
        try context.save()
        return Contender(peer: .strata) { _ in
            // Objects do not keep their context.
            try withExtendedLifetime((container, context)) {
                var (node, sum) = (nodes[0], 0)
                for _ in 0..<hops {
                    sum &+= Int(node.number)
                    guard let following = node.next else { throw BenchError("The chain has an end.") }
                    node = following
                }
                return sum
            }
        }
    }

    private static func lmdb(_ path: String, _ next: [Int]) throws -> Contender {
        let database = try BareLMDB(path: path)
        try database.write { transaction in
            for (number, target) in next.enumerated() {
                try database.put(transaction, database.objects, UInt64(number), size: 44) { row in
                    row.storeBytes(of: UInt64(target), toByteOffset: 32, as: UInt64.self)
                }
            }
        }
        return Contender(peer: .lmdb) { _ in
            var (node, sum): (UInt64, Int) = (0, 0)
            for _ in 0..<hops {
                sum &+= Int(node)
                node = try database.read { transaction in
                    try database.get(transaction, node) { $0.loadUnaligned(fromByteOffset: 32, as: UInt64.self) }
                }
            }
            return sum
        }
    }

    private static func sqlite(_ path: String, _ next: [Int]) throws -> Contender {
        let database = try SQLiteDatabase(path: path)
        try database.run("CREATE TABLE node (id INTEGER PRIMARY KEY, next INTEGER NOT NULL); BEGIN")
        let insertion = try database.prepare("INSERT INTO node VALUES (?, ?)")
        for (number, target) in next.enumerated() {
            insertion.bind(1, number)
            insertion.bind(2, target)
            try insertion.forEach { _ in }
        }
        try database.run("COMMIT")
        let step = try database.prepare("SELECT next FROM node WHERE id = ?")
        return Contender(peer: .sqlite) { _ in
            var (node, sum) = (0, 0)
            for _ in 0..<hops {
                sum &+= node
                step.bind(1, node)
                try step.forEach { node = $0.integer(0) }
            }
            return sum
        }
    }
}
