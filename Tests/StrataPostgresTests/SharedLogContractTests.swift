import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// What every shared log does.
@Suite struct SharedLogContractTests {
    /// A transaction as a log sees it: bytes, with a digest that nobody checks.
    private func transaction(
        after end: SharedLogEnd, id: UUID = .ofTransaction(), events: Int = 2, sizeInBytes: Int = 100
    ) -> SharedTransaction {
        SharedTransaction(
            number: TransactionNumber(rawValue: end.transaction.rawValue + 1), id: id,
            firstEvent: EventNumber(rawValue: end.event.rawValue + 1), eventCount: events,
            digest: (0..<32).map { _ in UInt8.random(in: 0...255) },
            bytes: Data((0..<sizeInBytes).map { UInt8(truncatingIfNeeded: $0) }))
    }

    private func identity() -> SharedLogIdentity {
        SharedLogIdentity(identifier: UUID(), lineage: UUID(), createdMicroseconds: 1_234_567_890_123)
    }

    /// A begun log with some transactions.
    private func filled(_ client: any SharedLog, _ count: Int) throws -> [SharedTransaction] {
        _ = try client.open(founder: identity())
        var made: [SharedTransaction] = []
        for _ in 0..<count { made.append(transaction(after: made.last?.end ?? .start)) }
        if !made.isEmpty { #expect(try client.append(made, after: .start) == .appended) }
        return made
    }

    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        do {
            try body()
        } catch SharedLogFailure.refused(let error) {
            return error.code
        } catch {
            Issue.record("\(error)")
        }
        return nil
    }

    @Test(arguments: TestLog.all) func theFirstToOpenALogNamesIt(log: TestLog) throws {
        let connection = try log.make()
        let (first, second) = (try connection.connect(), try connection.connect())
        let (mine, theirs) = (identity(), identity())
        #expect(try first.open(founder: mine).identity == mine)
        let (found, end) = try second.open(founder: theirs)
        #expect(found == mine && end == .start)
    }

    @Test(arguments: TestLog.all) func whatWasAppendedIsReadInOrder(log: TestLog) throws {
        let connection = try log.make()
        let client = try connection.connect()
        var made = try filled(client, 3)
        let more = transaction(after: made[2].end, events: 7, sizeInBytes: 0)
        #expect(try client.append([more], after: made[2].end) == .appended)
        made.append(more)
        let other = try connection.connect()
        #expect(try other.read(after: .zero, limitInBytes: 1 << 20) == made)
        #expect(try other.read(after: made[1].number, limitInBytes: 1 << 20) == Array(made[2...]))
        #expect(try other.read(after: made[3].number, limitInBytes: 1 << 20) == [])
        #expect(try other.open(founder: identity()).end == more.end)
        #expect(try other.digest(of: made[1].number) == made[1].digest)
        #expect(try other.digest(of: TransactionNumber(rawValue: 9)) == nil)
    }

    @Test(arguments: TestLog.all) func aReadEndsOnceItsLimitIsExceeded(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 5)
        #expect(try client.read(after: .zero, limitInBytes: 1) == [made[0]])
        #expect(try client.read(after: .zero, limitInBytes: 101) == Array(made[..<2]))
    }

    @Test(arguments: TestLog.all) func anAppendForAnEarlierEndGetsWhatItMissed(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 4)
        let late = transaction(after: made[1].end)
        #expect(try client.append([late], after: made[1].end) == .overtaken(Array(made[2...])))
        #expect(try client.append([transaction(after: .start)], after: .start) == .overtaken(made))
        #expect(try client.readAll() == made)
    }

    @Test(arguments: TestLog.all) func aRepeatedAppendIsTheSameAppend(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 2)
        let pair = [transaction(after: made[1].end)]
        let both = pair + [transaction(after: pair[0].end)]
        #expect(try client.append(both, after: made[1].end) == .appended)
        #expect(try client.append(both, after: made[1].end) == .appended)
        let next = transaction(after: both[1].end)
        #expect(try client.append([next], after: both[1].end) == .appended)
        // Also when others have appended since.
        #expect(try client.append(both, after: made[1].end) == .appended)
        #expect(try client.readAll() == made + both + [next])
    }

    @Test(arguments: TestLog.all) func anotherTransactionUnderAKnownIDIsRefused(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 2)
        let impostor = transaction(after: made[1].end, id: made[0].id)
        #expect(code { _ = try client.append([impostor], after: made[1].end) } == .divergedLog)
        // The saver that lost its answer has not received yet what it has saved itself.
        let again = transaction(after: made[0].end, id: made[1].id)
        #expect(try client.append([again], after: made[0].end) == .overtaken([made[1]]))
        #expect(try client.readAll() == made)
    }

    @Test(arguments: TestLog.all) func anAppendAfterAnotherHistoryIsRefused(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 2)
        var other = made[0].end
        other.digest[5] ^= 1
        #expect(code { _ = try client.append([transaction(after: other)], after: other) } == .divergedLog)
        var last = made[1].end
        last.digest[0] ^= 1
        #expect(code { _ = try client.append([transaction(after: last)], after: last) } == .divergedLog)
        // A log that was restored to an earlier state.
        let later = transaction(after: made[1].end)
        #expect(code { _ = try client.append([transaction(after: later.end)], after: later.end) } == .divergedLog)
        #expect(try client.readAll() == made)
    }

    @Test(arguments: TestLog.all) func aWaitEndsWithNewsOrItsTime(log: TestLog) async throws {
        let connection = try log.make()
        let (client, other) = (try connection.connect(), try connection.connect())
        let made = try filled(client, 1)
        #expect(try other.wait(after: .zero, timeout: .seconds(5)) == made[0].number)
        #expect(try other.wait(after: made[0].number, timeout: .milliseconds(30)) == made[0].number)
        // Timed where it waits: the task may begin late among other tests.
        let waiting = BlockingWork {
            let begin = ContinuousClock.now
            let number = try other.wait(after: made[0].number, timeout: .seconds(20))
            return (number, ContinuousClock.now - begin)
        }
        let next = transaction(after: made[0].end)
        #expect(try client.append([next], after: made[0].end) == .appended)
        // The appending side tells others while it waits itself.
        _ = try client.wait(after: next.number, timeout: .milliseconds(50))
        let (number, duration) = try await waiting.value
        #expect(number == next.number && duration < .seconds(10))
    }

    @Test(arguments: TestLog.all) func closingAClientEndsItsWaits(log: TestLog) async throws {
        let client = try log.make().connect()
        let made = try filled(client, 1)
        let waiting = BlockingWork { try client.wait(after: made[0].number, timeout: .seconds(60)) }
        client.close()
        await #expect(throws: SharedLogFailure.self) { try await waiting.value }
        #expect(throws: SharedLogFailure.self) { try client.read(after: .zero, limitInBytes: 1) }
    }

    @Test(arguments: TestLog.all) func rowNumbersAreGivenOnce(log: TestLog) throws {
        let connection = try log.make()
        let clients = try (0..<3).map { _ in try connection.connect() }
        _ = try filled(clients[0], 0)
        var given: [UInt64] = []
        for round in 0..<10 { given += Array(try clients[round % 3].leaseRows(UInt64(round + 1))) }
        #expect(given == Array(1...55))
    }

    @Test(arguments: TestLog.all) func largeValuesAreKeptUnderTheirDigests(log: TestLog) throws {
        let connection = try log.make()
        let client = try connection.connect()
        _ = try filled(client, 0)
        let (digest, value) = (Data(repeating: 7, count: 32), Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(try client.blob(digest: digest) == nil)
        try client.put(blob: value, digest: digest)
        try client.put(blob: value, digest: digest)
        try client.put(blob: Data(), digest: Data(repeating: 8, count: 32))
        let other = try connection.connect()
        #expect(try other.blob(digest: digest) == value)
        #expect(try other.blob(digest: Data(repeating: 8, count: 32)) == Data())
    }

    @Test(arguments: TestLog.all) func anAppendNeedsTheLargeValuesThatItNames(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 1)
        let digests = (1...3).map { Data(repeating: UInt8($0), count: 32) }
        for digest in digests { try client.put(blob: digest + digest, digest: digest) }
        #expect(try client.upkeep.blobDigests(after: nil, limit: 2) == Array(digests[..<2]))
        #expect(try client.upkeep.blobDigests(after: digests[1], limit: 2) == [digests[2]])
        // The caller does not know of what others have appended.
        #expect(try client.upkeep.remove(blobs: [digests[0]], at: .zero) == false)
        #expect(try client.blob(digest: digests[0]) != nil)
        #expect(try client.upkeep.remove(blobs: Array(digests[..<2]), at: made[0].number))
        #expect(try client.upkeep.remove(blobs: Array(digests[..<2]), at: made[0].number))
        #expect(try client.upkeep.blobDigests(after: nil, limit: 9) == [digests[2]])
        var next = transaction(after: made[0].end)
        next.blobs = digests
        #expect(try client.append([next], after: made[0].end) == .lacking(Array(digests[..<2])))
        #expect(try client.readAll() == made)
        for digest in digests[..<2] { try client.put(blob: digest + digest, digest: digest) }
        #expect(try client.append([next], after: made[0].end) == .appended)
        // Repeated, it is the same append, whatever became of the values.
        #expect(try client.upkeep.remove(blobs: digests, at: next.number))
        #expect(try client.append([next], after: made[0].end) == .appended)
        next.blobs = []
        #expect(try client.readAll() == made + [next])
    }

    @Test(arguments: TestLog.all) func aLogIsCutBehindItsSnapshot(log: TestLog) throws {
        let client = try log.make().connect()
        let made = try filled(client, 6)
        #expect(try client.upkeep.beginning() == SharedLogBeginning(cut: .start, snapshot: nil))
        #expect(try client.upkeep.dropCut(limit: 9) == 0)
        // Without a snapshot that has it, nothing is cut.
        #expect(code { try client.upkeep.cut(through: made[2].end) } == .divergedLog)
        var snapshot = SharedSnapshot(
            id: UUID(), end: made[3].end, pieces: 2, sizeInBytes: 5, sum: Data(repeating: 3, count: 32))
        try client.upkeep.put(piece: Data([1, 2, 3]), at: 0, of: snapshot.id)
        #expect(try client.upkeep.publish(snapshot) == false)
        try client.upkeep.put(piece: Data([4, 5]), at: 1, of: snapshot.id)
        var other = snapshot
        other.end.digest[3] ^= 1
        #expect(code { _ = try client.upkeep.publish(other) } == .divergedLog)
        #expect(try client.upkeep.publish(snapshot) && client.upkeep.publish(snapshot))
        #expect(try client.upkeep.piece(1, of: snapshot.id) == Data([4, 5]))
        #expect(code { try client.upkeep.cut(through: made[4].end) } == .divergedLog)
        #expect(code { try client.upkeep.cut(through: other.end) } == .divergedLog)
        try client.upkeep.cut(through: made[2].end)
        try client.upkeep.cut(through: made[1].end)
        #expect(try client.upkeep.beginning() == SharedLogBeginning(cut: made[2].end, snapshot: snapshot))
        // What was cut off is gone at once, whatever is still to be dropped.
        for _ in 0..<2 {
            #expect(code { _ = try client.read(after: made[1].number, limitInBytes: 1) } == .historyDropped)
            #expect(code { _ = try client.digest(of: made[1].number) } == .historyDropped)
            let late = transaction(after: made[1].end)
            #expect(code { _ = try client.append([late], after: made[1].end) } == .historyDropped)
            #expect(try client.digest(of: made[2].number) == made[2].digest)
            #expect(try client.read(after: made[2].number, limitInBytes: 1 << 20) == Array(made[3...]))
            let next = transaction(after: made[2].end)
            #expect(try client.append([next], after: made[2].end) == .overtaken(Array(made[3...])))
            let dropped = [try client.upkeep.dropCut(limit: 2), try client.upkeep.dropCut(limit: 2)]
            #expect(dropped == [2, 1] || dropped == [0, 0])
        }
        // A newer snapshot takes its place, an older one does not.
        snapshot.id = UUID()
        snapshot.pieces = 1
        snapshot.end = made[5].end
        try client.upkeep.put(piece: Data([9]), at: 0, of: snapshot.id)
        #expect(try client.upkeep.publish(snapshot))
        var older = snapshot
        older.id = UUID()
        older.end = made[4].end
        try client.upkeep.put(piece: Data([8]), at: 0, of: older.id)
        #expect(try client.upkeep.publish(older))
        #expect(try client.upkeep.beginning().snapshot == snapshot)
        #expect(try client.upkeep.piece(0, of: older.id) == nil && client.upkeep.piece(0, of: snapshot.id) == Data([9]))
        try client.upkeep.cut(through: made[5].end)
        #expect(try client.upkeep.dropCut(limit: 9) == 3)
        // A log without transactions goes on from its last one.
        #expect(try client.open(founder: nil).end == made[5].end)
        let next = transaction(after: made[5].end)
        #expect(try client.append([next], after: made[5].end) == .appended)
        #expect(try client.read(after: made[5].number, limitInBytes: 1) == [next])
    }

    @Test(arguments: TestLog.all) func logsOfOneServerAreApart(log: TestLog) throws {
        let (first, second) = (try log.make().connect(), try log.make().connect())
        let made = try filled(first, 2)
        let others = try filled(second, 1)
        #expect(try first.readAll() == made && second.readAll() == others)
    }

    @Test(arguments: TestLog.all) func clientsThatAppendAtOnceShareOneOrder(log: TestLog) async throws {
        let connection = try log.make()
        _ = try filled(try connection.connect(), 0)
        let ids = try await withThrowingTaskGroup(of: [UUID].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let client = try connection.connect()
                    var end = SharedLogEnd.start
                    var ids: [UUID] = []
                    while ids.count < 20 {
                        let next = transaction(after: end)
                        switch try client.append([next], after: end) {
                        case .appended:
                            ids.append(next.id)
                            end = next.end
                        case .overtaken(let missing): end = missing.last?.end ?? end
                        case .lacking(let digests): Issue.record("\(digests)")
                        }
                    }
                    return ids
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let all = try connection.connect().readAll()
        #expect(all.map(\.number.rawValue) == Array(1...80))
        #expect(Set(all.map(\.id)) == Set(ids.joined()))
        // Those of one client are in the order in which it made them.
        for mine in ids { #expect(all.map(\.id).filter { Set(mine).contains($0) } == mine) }
        for (before, after) in zip(all, all.dropFirst()) {
            #expect(after.firstEvent == before.end.event.advanced(by: 1))
        }
    }
}
