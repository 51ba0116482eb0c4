import Foundation
import LMDB
import Locking
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// What saves leave to be tidied is done between them, by the writer's thread, and holds nobody up for long.
@Suite struct TidyingTests {
    /// What a writer has done, in order, and how much there is to tidy.
    private final class Diary: Sendable {
        private struct State {
            var due = 0
            var lines: [String] = []
            var isElsewhere = true
        }
        private let state = Locked(State())
        private let owner = pthread_self()
        /// What a save leaves.
        let left: Int

        init(left: Int) { self.left = left }

        func save(_ count: Int) {
            state.withLock { state in
                state.lines.append("save \(count)")
                state.due += left
            }
        }

        func tidy() {
            let isHere = pthread_equal(pthread_self(), owner) != 0
            state.withLock { state in
                state.lines.append("tidy")
                state.due -= 1
                state.isElsewhere = state.isElsewhere && !isHere
            }
        }

        var due: Int { state.withLock(\.due) }
        var lines: [String] { state.withLock(\.lines) }
        var isElsewhere: Bool { state.withLock(\.isElsewhere) }
    }

    private func writer(_ diary: Diary, tidyGate: DispatchSemaphore? = nil) throws -> WriterThread {
        try WriterThread(
            name: "test",
            WriterThread.Duties(
                work: { group, _ in
                    if group.contains(where: \.isSave) { diary.save(group.count) }
                    return group.map { _ in .success(nil) }
                },
                isTidyingDue: { diary.due > 0 },
                tidy: {
                    diary.tidy()
                    tidyGate?.wait()
                },
                holdLock: {}, releaseLock: {}))
    }

    private static func save() -> Submission {
        Submission(.save(ChangeSet(base: .zero, modelVersion: ModelVersion(rawValue: 1))))
    }

    private static func wait(until isTrue: () throws -> Bool) rethrows -> Bool {
        let end = Date(timeIntervalSinceNow: 20)
        while Date() < end {
            if try isTrue() { return true }
            usleep(200)
        }
        return try isTrue()
    }

    @Test func theWriterTidiesWhatACallersSaveLeft() throws {
        let diary = Diary(left: 3)
        let writer = try writer(diary)
        let save = Self.save()
        #expect(writer.submitOrWrite(save))
        _ = try save.wait()
        #expect(Self.wait { diary.due == 0 })
        // So it does after a save that it has done itself.
        let other = Self.save()
        #expect(writer.submit(other))
        _ = try other.wait()
        #expect(Self.wait { diary.due == 0 })
        writer.stopAndWait()
        #expect(diary.lines == ["save 1", "tidy", "tidy", "tidy", "save 1", "tidy", "tidy", "tidy"])
        #expect(diary.isElsewhere)
    }

    @Test func whoWaitsGoesFirst() throws {
        let diary = Diary(left: 2)
        let gate = DispatchSemaphore(value: 0)
        let writer = try writer(diary, tidyGate: gate)
        let first = Self.save()
        #expect(writer.submitOrWrite(first))
        _ = try first.wait()
        #expect(Self.wait { diary.lines.count == 2 })
        // While the first part is being tidied.
        let others = (0..<2).map { _ in Self.save() }
        for save in others { #expect(writer.submitOrWrite(save)) }
        gate.signal()
        for save in others { _ = try save.wait() }
        for _ in 0..<4 { gate.signal() }
        #expect(Self.wait { diary.due == 0 })
        writer.stopAndWait()
        #expect(diary.lines == ["save 1", "tidy", "save 2", "tidy", "tidy", "tidy"])
    }

    @Test func nothingIsTidiedInATurnNorAfterTheEnd() throws {
        let diary = Diary(left: 1_000_000_000)
        let gate = DispatchSemaphore(value: 0)
        let writer = try writer(diary, tidyGate: gate)
        let turn = SaveTurn(limit: .seconds(60)) { [weak writer] in writer?.wake() }
        let asking = Submission(.turn(turn))
        #expect(writer.submit(asking))
        _ = try asking.wait()
        let save = Submission(.save(ChangeSet(base: .zero, modelVersion: ModelVersion(rawValue: 1))), turn: turn)
        #expect(writer.submit(save))
        _ = try save.wait()
        usleep(20_000)
        #expect(diary.lines == ["save 1"])
        turn.end()
        #expect(Self.wait { diary.lines.count == 2 })
        let hasStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            writer.stopAndWait()
            hasStopped.signal()
        }
        // Until it has been told to stop it takes jobs, of which the diary says nothing.
        #expect(Self.wait { !writer.submit(Submission(.run {})) })
        gate.signal()
        #expect(hasStopped.wait(timeout: .now() + .seconds(20)) == .success)
        #expect(diary.lines == ["save 1", "tidy"])
    }

    @Test func entriesMoveOnWithoutAnotherSave() throws {
        var options = StoreOptions()
        options.bufferLimits = .eager
        let fixture = try StoreFixture(options: options)
        let tables = fixture.store.file.tables
        let limits = options.bufferLimits
        for _ in 0..<20 {
            for number in 0..<10 { _ = try fixture.insert("Movie", ["title": .string("Movie \(number)")]) }
            func isTooFull() throws -> Bool {
                try fixture.store.file.environment.read { transaction in
                    try tables.buffered.contains { try $0.surplus(transaction, limits) > 0 }
                }
            }
            try #require(try Self.wait { try !isTooFull() }, "a buffer stays too full")
        }
        let main = try fixture.store.file.environment.read { try $0.count(tables.indexes.main) }
        #expect(main > 0)
        #expect(try fixture.store.verify().isSound)
    }
}
