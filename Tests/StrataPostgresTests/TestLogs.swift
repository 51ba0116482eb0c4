import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// The logs of the contract, and where their tests find them.
enum TestLog: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory
    case postgres

    /// The server that `make test-shared` has started; nil without one.
    static let address = ProcessInfo.processInfo.environment["STRATA_POSTGRES"]

    /// Those that can be tested here. Without a server the tests of PostgreSQL say that they did not run.
    static let all: [TestLog] = address == nil ? [.memory] : [.memory, .postgres]

    /// How often nodes and the server are killed; 0 where that would disturb others.
    static let killRounds = rounds("STRATA_KILL_ROUNDS")
    /// How often the weather between nodes and the server changes.
    static let partitionRounds = rounds("STRATA_PARTITION_ROUNDS")

    private static func rounds(_ name: String) -> Int {
        address == nil ? 0 : ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? 0
    }

    /// The beginning of the names of the networks that the stores are in; nil if they are on this machine's.
    static let networks = ProcessInfo.processInfo.environment["STRATA_NETWORKS"]

    /// A file on the server's disk that makes room when it is deleted; nil if the disk is not small.
    static let ballast = ProcessInfo.processInfo.environment["STRATA_POSTGRES_BALLAST"]

    /// A role that the server asks for a password.
    static let passwordRole = address == nil ? nil : ProcessInfo.processInfo.environment["STRATA_POSTGRES_ROLE"]

    /// The folder with the server's socket.
    static let socketFolder = address.flatMap { address in
        address.firstRange(of: "host=").map { String(address[$0.upperBound...].prefix { $0 != "&" }) }
    }

    var testDescription: String { rawValue }

    /// A new log. Each client of it has its own connections.
    func make(timeout: Duration = .seconds(10)) throws -> SharedLogConnection {
        switch self {
        case .memory: return MemoryLog().connection(timeout: timeout)
        case .postgres:
            let address = try #require(TestLog.address)
            _ = try Self.made.get()
            return PersistentStoreLog.postgres(address, lineage: "test \(UUID().uuidString)", timeout: timeout)
                .connection
        }
    }

    private static let made = Result { try PostgresSetup.makeTables(at: address ?? "") }
}

/// Says that tests need a server.
let needsServer: Comment = "make test-shared starts the PostgreSQL that this test needs."

extension SharedLog {
    /// Everything in the log, in order.
    func readAll() throws(SharedLogFailure) -> [SharedTransaction] {
        var all: [SharedTransaction] = []
        while true {
            let more = try read(after: all.last?.number ?? .zero, limitInBytes: 1 << 20)
            if more.isEmpty { return all }
            all += more
        }
    }
}

extension PersistentContainer {
    /// Saves a note with this text.
    @discardableResult func saveNote(_ text: String, author: String? = nil) throws -> ObjectID {
        let context = newBackgroundContext()
        context.transactionAuthor = author
        let note = try context.insertNewObject(forEntityName: "Note")
        try note.setValue(text, forKey: "text")
        try context.save()
        return note.objectID
    }
}
