import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Prints what saves over PostgreSQL take, beside the same appends without a store; `STRATA_SHARED_SPEED=1` asks for it.
@Suite(.enabled(if: TestLog.address != nil && SharedSpeed.isAsked, "STRATA_SHARED_SPEED=1 asks for these figures."))
struct SharedSpeedTests {
    private func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
    }

    /// The median, and the value that 99 of 100 do not exceed.
    private func spread(_ times: [Duration]) -> String {
        let sorted = times.map(milliseconds).sorted()
        func at(_ part: Double) -> String {
            String(format: "%.2f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))])
        }
        return "median \(at(0.5)) ms, 99 of 100 within \(at(0.99)) ms"
    }

    private func time(_ count: Int, _ body: () throws -> Void) rethrows -> [Duration] {
        try (0..<count).map { _ in
            let start = ContinuousClock.now
            try body()
            return .now - start
        }
    }

    @Test func saves() throws {
        let connection = try TestLog.postgres.make()
        let log = PersistentStoreLog(connection)
        let (first, second) = (
            try RaceWorld.container(at: .inMemory, log: log), try RaceWorld.container(at: .inMemory, log: log)
        )
        defer {
            first.close()
            second.close()
        }
        let context = first.newBackgroundContext()
        func save() throws {
            try context.insertNewObject(forEntityName: "Note").setValue("a note of some length", forKey: "text")
            try context.save()
        }
        _ = try time(50, save)
        let saves = try time(400, save)
        let arrivals = try time(200) {
            try save()
            try second.wait(for: first.token())
        }
        // The same bytes, appended to a log of their own.
        let made = try connection.connect().readAll().suffix(400)
        let bare = try TestLog.postgres.make().connect()
        _ = try bare.open(founder: SharedLogIdentity(identifier: UUID(), lineage: UUID(), createdMicroseconds: 0))
        var end = SharedLogEnd.start
        var appends: [Duration] = []
        for transaction in made {
            var next = transaction
            next.number = TransactionNumber(rawValue: end.transaction.rawValue + 1)
            next.firstEvent = end.event.advanced(by: 1)
            let start = ContinuousClock.now
            #expect(try bare.append([next], after: end) == .appended)
            appends.append(.now - start)
            end = next.end
        }
        print("save: \(spread(saves))")
        print("bare append: \(spread(appends))")
        print("save to arrival at another store: \(spread(arrivals))")
    }

    @Test func newStore() throws {
        let log = PersistentStoreLog(try TestLog.postgres.make())
        let first = try RaceWorld.container(at: .inMemory, log: log)
        defer { first.close() }
        let context = first.newBackgroundContext()
        for _ in 0..<10 {
            for number in 0..<1_000 {
                try context.insertNewObject(forEntityName: "Note").setValue("note \(number)", forKey: "text")
            }
            try context.save()
        }
        let times = try time(1) { try RaceWorld.container(at: .inMemory, log: log).close() }
        print("a new store of 10,000 objects: \(milliseconds(times[0])) ms")
    }
}

enum SharedSpeed {
    static let isAsked = ProcessInfo.processInfo.environment["STRATA_SHARED_SPEED"] != nil
}
