import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Several stores over one log whose connections fail.
@Suite struct SharedRunTests {
    private struct Cluster {
        let connection: SharedLogConnection
        var nodes: [PersistentContainer] = []

        /// - Parameter faults: of every node's connection.
        init(_ log: TestLog, count: Int, _ faults: LogFaults, seed: UInt64) throws {
            connection = try log.make(timeout: .seconds(20))
            let source = connection
            for number in 0..<count {
                let faulty = SharedLogConnection(name: "node \(number)", timeout: source.timeout) {
                    FaultyLog(try source.connect(), faults, seed: seed &* 100 &+ UInt64(number))
                }
                nodes.append(try RaceWorld.container(at: .inMemory, log: PersistentStoreLog(faulty)))
            }
        }

        /// Brings all to the end of the log, verifies each, and says what is wrong.
        func settle() throws {
            for node in nodes { try node.catchUp() }
            let ends = try nodes.map { try $0.store.logPosition() }
            #expect(Set(ends).count == 1)
            for node in nodes {
                let report = try node.verify()
                #expect(report.isSound, "\(report)")
            }
        }

        func close() { for node in nodes { node.close() } }
    }

    /// Every read of every node is what the log says of its moment, and no update is lost.
    @Test(arguments: TestLog.all, RandomTesting.seeds(unlessAsked: [1, 2, 3]))
    func nodesWorkOnOneGraph(log: TestLog, seed: UInt64) async throws {
        let cluster = try Cluster(log, count: 3, .wild, seed: seed)
        defer { cluster.close() }
        try RaceWorld.fill(cluster.nodes[0])
        for node in cluster.nodes { try node.catchUp() }
        let reports = try await withThrowingTaskGroup(of: RaceReport.self) { group in
            for number in 0..<6 {
                let node = cluster.nodes[number % 3]
                group.addTask {
                    try await node.performBackgroundTask { _ in
                        var worker = RaceWorker(node, seed: seed &* 100 &+ UInt64(number), name: "worker \(number)")
                        for _ in 0..<30 { try worker.step() }
                        return worker.report
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try cluster.settle()
        for node in cluster.nodes { #expect(try RaceCheck.problems(node, reports) == []) }
    }

    /// Acknowledged saves are in the log once and in the order of time, and nodes read prefixes of it.
    @Test(arguments: TestLog.all, RandomTesting.seeds(unlessAsked: [4, 5]))
    func savesAreOnceAndInTheOrderOfTime(log: TestLog, seed: UInt64) async throws {
        let cluster = try Cluster(log, count: 3, .wild, seed: seed)
        defer { cluster.close() }
        let recorded = Locked(SharedHistory())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<9 {
                let node = cluster.nodes[number % 3]
                group.addTask {
                    try await node.performBackgroundTask { context in
                        for round in 0..<20 {
                            let save = Self.save("\(number)/\(round)", context, node: number % 3)
                            let look = try Self.look(node, number % 3)
                            recorded.withLock {
                                $0.saves.append(save)
                                $0.looks.append(look)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try cluster.settle()
        var history = recorded.withLock { $0 }
        try history.take(try cluster.connection.connect().readAll())
        history.ends = try cluster.nodes.map { try $0.store.logPosition().digest }
        history.views = try cluster.nodes.map { "\(try RaceWorld.state($0.newBackgroundContext()))" }
        #expect(history.violations == [])
        #expect(history.saves.count == 180 && history.saves.contains { $0.outcome == .acknowledged })
    }

    private static func save(_ author: String, _ context: ManagedObjectContext, node: Int) -> SharedHistory.Save {
        let begin = ContinuousClock.now
        var outcome = SharedHistory.Outcome.unknown
        context.transactionAuthor = author
        do {
            try context.insertNewObject(forEntityName: "Note").setValue(author, forKey: "text")
            try context.save()
            outcome = .acknowledged
        } catch let error as StrataError {
            outcome = error.code == .inDoubt ? .unknown : .refused
            context.rollback()
        } catch {
            Issue.record("\(error)")
        }
        return SharedHistory.Save(author: author, node: node, begin: begin, end: .now, outcome: outcome)
    }

    private static func look(_ node: PersistentContainer, _ number: Int) throws -> SharedHistory.Look {
        let begin = ContinuousClock.now
        let position = try node.store.logPosition()
        return SharedHistory.Look(
            node: number, begin: begin, end: .now, transaction: position.transaction.rawValue, digest: position.digest)
    }
}
