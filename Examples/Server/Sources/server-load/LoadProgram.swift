import ArgumentParser
import Foundation
import LetsEatServer

/// `server-load`: loads a server of its own, kills it, and checks that nothing that it acknowledged is lost or doubled.
@main struct LoadProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-load",
        abstract: "Loads letseat-server, kills it under load, and checks that nothing is lost or doubled.",
        discussion: """
            It starts the server that was built beside it, on a free port and a new store. First it measures a steady mix \
            of reads and writes. Then it goes on while the server is killed with SIGKILL and started again. A client \
            repeats a request without an answer under the same Idempotency-Key. At the end it compares what the server \
            has with what it acknowledged. Client and server share the machine's cores.
            """)

    @Option(help: "Seconds of the steady load, and again with kills.") var seconds = 8
    @Option(help: "How many requests are under way at once.") var connections = 32
    @Option(help: "How often the server is killed.") var kills = 3
    @Option(help: "The share of writes among the requests, in percent.") var writes = 30
    @Option(help: "The directory of the store; a temporary one by default, which is removed.") var store: String?

    func validate() throws {
        guard (1...600).contains(seconds), (1...1000).contains(connections) else {
            throw ValidationError("--seconds is from 1 to 600, --connections from 1 to 1000.")
        }
        guard (0...100).contains(kills), (1...99).contains(writes) else {
            throw ValidationError("--kills is from 0 to 100, --writes from 1 to 99.")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "server-load-\(UUID().uuidString)")
        let storeURL = store.map { URL(filePath: $0) } ?? folder
        defer { if store == nil { try? FileManager.default.removeItem(at: folder) } }
        let problems: [String] = try await Receiver.receiving { receiver, webhook in
            try await findProblems(storeURL, receiver, webhook)
        }
        for problem in problems { print("WRONG: \(problem)") }
        guard problems.isEmpty else { throw ExitCode(1) }
        print("Nothing that was acknowledged is lost, and nothing is there twice.")
    }

    private func findProblems(_ storeURL: URL, _ receiver: Receiver, _ webhook: String) async throws -> [String] {
        let server = ServerProcess(storeURL: storeURL, webhook: webhook)
        try server.start()
        defer { server.kill() }
        let ledger = Ledger()
        let client = Client(address: server.address, connections: connections)
        let load = Load(client: client, ledger: ledger, workers: connections, writeShare: Double(writes) / 100)
        try await load.prepare()

        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("Steady load: \(connections) requests at once, \(writes)% writes; client and server share \(cores) cores")
        let steady = await load.run(for: .seconds(seconds))
        print(steady.table)

        print("The same, and the server is killed \(kills) times with SIGKILL")
        async let hit = load.run(for: .seconds(seconds))
        var returns: [Duration] = []
        for _ in 0..<kills {
            try await Task.sleep(for: .seconds(Double(seconds) / Double(kills + 1)))
            server.kill()
            let start = ContinuousClock.now
            try server.start()
            returns.append(.now - start)
        }
        print(await hit.table)
        if !returns.isEmpty {
            print("  listening again after \(returns.map(\.inMilliseconds).joined(separator: ", ")) ms")
        }

        let check = Check(client: client, ledger: ledger, receiver: receiver)
        var problems = try await check.problems()
        try await client.shutdown()
        let status = server.end()
        if status != 0 { problems.append("The server ended with status \(status) when it was told to end.") }
        let start = ContinuousClock.now
        problems += try LetsEatService.problems(ofStoreAt: storeURL)
        print("  the store was verified in \((ContinuousClock.now - start).inMilliseconds) ms")
        return problems
    }
}

extension Duration {
    var inMilliseconds: String { (self / .milliseconds(1)).formatted(.number.precision(.fractionLength(1))) }
}
