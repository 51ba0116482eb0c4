import Foundation

/// A node as the process that started it sees it.
final class NodeProcess {
    /// The number of its place in the run; the same after it was killed and started again.
    let index: Int
    private let process = Process()
    private let input = Pipe()

    /// Starts the node. Its reports go to the inbox.
    init(_ index: Int, named name: String, store: URL, log: String, reportingTo inbox: NodeInbox) throws {
        self.index = index
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["node", "--name", name, "--store", store.path(percentEncoded: false), "--log", log]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let number = process.processIdentifier
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let bytes = output.fileHandleForReading.availableData
                if bytes.isEmpty { break }
                rest += bytes
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Data(rest[..<end])
                    rest = Data(rest[(end + 1)...])
                    inbox.put(Self.report(line), from: index, process: number)
                }
            }
            inbox.put(nil, from: index, process: number)
        }
    }

    deinit { kill() }

    var number: Int32 { process.processIdentifier }

    private static func report(_ line: Data) -> NodeReport {
        do {
            return try JSONDecoder().decode(NodeReport.self, from: line)
        } catch {
            return .failed("a report cannot be read: \(String(decoding: line, as: UTF8.self))")
        }
    }

    func order(_ order: NodeOrder) throws { try input.fileHandleForWriting.write(contentsOf: order.line()) }

    /// Ends it as a power cut does.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Has it end by itself, but kills it if it has not within five seconds.
    func end() throws {
        try input.fileHandleForWriting.close()
        for _ in 0..<500 where process.isRunning { usleep(10_000) }
        kill()
    }
}

/// What the nodes have reported. `reports` is guarded by `condition`.
final class NodeInbox: @unchecked Sendable {
    struct Entry {
        let node: Int
        let process: Int32
        /// Nil at the end of the process.
        let report: NodeReport?
    }

    private let condition = NSCondition()
    private var reports: [Entry] = []

    func put(_ report: NodeReport?, from node: Int, process: Int32) {
        condition.withLock {
            reports.append(Entry(node: node, process: process, report: report))
            condition.signal()
        }
    }

    /// The next report; nil if none has come until then.
    func next(until end: Date) -> Entry? {
        condition.withLock {
            while reports.isEmpty { if !condition.wait(until: end) { return nil } }
            return reports.removeFirst()
        }
    }
}
