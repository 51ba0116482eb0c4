import Foundation
import Locking
import StrataModel
@testable import StrataStore
import Testing

/// The writer's queue is fair by its order, whatever the scheduler does.
@Suite(.timeLimit(.minutes(30))) struct WriterThreadTests {
    /// What the writer did: groups of numbers, each the number of a submission by its arrival.
    private final class Record: Sendable {
        private struct State {
            var arrivals: [ObjectIdentifier: Int] = [:]
            var kept: [Submission] = []
            var groups: [[Int]] = []
        }
        private let state = Locked(State())

        /// Numbers a submission and hands it in, in one step.
        func submit(_ submission: Submission, to writer: WriterThread) -> Bool {
            state.withLock { state in
                state.arrivals[ObjectIdentifier(submission)] = state.kept.count
                state.kept.append(submission)
                return writer.submit(submission)
            }
        }

        func note(_ group: some Collection<Submission>) {
            guard !group.isEmpty else { return }
            state.withLock { state in
                state.groups.append(group.map { state.arrivals[ObjectIdentifier($0)] ?? -1 })
            }
        }

        var groups: [[Int]] { state.withLock(\.groups) }
    }

    private func writer(_ record: Record, gate: DispatchSemaphore? = nil) throws -> WriterThread {
        try WriterThread(
            name: "test",
            WriterThread.Duties(
                work: { group, joining in
                    record.note(group)
                    gate?.wait()
                    let all = Self.all(group, joining)
                    record.note(all.suffix(all.count - group.count))
                    return all.map { _ in .success(nil) }
                },
                holdLock: {}, releaseLock: {}))
    }

    /// A group with all who join it.
    private static func all(_ group: [Submission], _ joining: () -> [Submission]) -> [Submission] {
        var all = group
        while true {
            let more = joining()
            if more.isEmpty { return all }
            all += more
        }
    }

    private static func save() -> Submission {
        Submission(.save(ChangeSet(base: .zero, modelVersion: ModelVersion(rawValue: 1))))
    }

    @Test func nobodyIsPassedOverByWhoComesLater() throws {
        let record = Record()
        let writer = try writer(record)
        let isDone = DispatchGroup()
        for _ in 0..<8 {
            isDone.enter()
            Thread.detachNewThread {
                for _ in 0..<200 {
                    let submission = Self.save()
                    #expect(record.submit(submission, to: writer))
                    do { _ = try submission.wait() } catch { Issue.record(error) }
                }
                isDone.leave()
            }
        }
        isDone.wait()
        writer.stopAndWait()
        #expect(record.groups.flatMap(\.self) == Array(0..<1600))
        // Each waits for one save at a time, so none waits longer than for one save of each other.
        #expect(record.groups.allSatisfy { $0.count <= 8 })
    }

    @Test func allWhoWaitAreTakenTogether() throws {
        let record = Record()
        let gate = DispatchSemaphore(value: 0)
        let writer = try writer(record, gate: gate)
        let first = Self.save()
        #expect(record.submit(first, to: writer))
        while record.groups.isEmpty { usleep(100) }
        let others = (0..<50).map { _ in Self.save() }
        for submission in others { #expect(record.submit(submission, to: writer)) }
        gate.signal()
        gate.signal()
        for submission in [first] + others { #expect(throws: Never.self) { try submission.wait() } }
        writer.stopAndWait()
        #expect(record.groups == [[0], Array(1...50)])
    }

    // MARK: Saves on their callers' threads

    /// Who was let in to write, and whether two ever were at once.
    private final class Visits: Sendable {
        struct Visit {
            let thread: pthread_t
            /// Saves, with those that joined.
            var count: Int
            let isCurrent: Bool
        }
        private let state = Locked((inside: 0, most: 0, visits: [Visit]()))

        func enter(_ group: [Submission], _ writer: WriterThread?) {
            let visit = Visit(thread: pthread_self(), count: group.count, isCurrent: writer?.isCurrent ?? false)
            state.withLock { state in
                state.inside += 1
                state.most = max(state.most, state.inside)
                state.visits.append(visit)
            }
        }

        func leave(_ all: [Submission]) {
            state.withLock { state in
                state.inside -= 1
                state.visits[state.visits.count - 1].count = all.count
            }
        }

        var most: Int { state.withLock(\.most) }
        var all: [Visit] { state.withLock(\.visits) }
    }

    /// - Parameter takes: microseconds that a group takes, once all have joined it.
    private func writer(
        _ visits: Visits, gate: DispatchSemaphore? = nil, takes microseconds: UInt32 = 0
    ) throws -> WriterThread {
        let known = Locked<WriterThread?>(nil)
        let writer = try WriterThread(
            name: "test",
            WriterThread.Duties(
                work: { group, joining in
                    visits.enter(group, known.withLock { $0 })
                    gate?.wait()
                    let all = Self.all(group, joining)
                    usleep(microseconds)
                    visits.leave(all)
                    return all.map { _ in .success(nil) }
                },
                holdLock: {}, releaseLock: {}))
        known.withLock { $0 = writer }
        return writer
    }

    /// Saves on a thread of its own; the semaphore is signalled when the save is done.
    private func saveElsewhere(_ writer: WriterThread) -> DispatchSemaphore {
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let submission = Self.save()
            #expect(writer.submitOrWrite(submission))
            do { _ = try submission.wait() } catch { Issue.record(error) }
            isDone.signal()
        }
        return isDone
    }

    @Test func aSaveThatIsAloneIsWrittenOnItsCallersThread() throws {
        let visits = Visits()
        let writer = try writer(visits)
        for _ in 0..<3 {
            let submission = Self.save()
            #expect(writer.submitOrWrite(submission))
            _ = try submission.wait()
        }
        #expect(!writer.isCurrent)
        writer.stopAndWait()
        #expect(visits.all.count == 3)
        #expect(visits.all.allSatisfy { pthread_equal($0.thread, pthread_self()) != 0 && $0.isCurrent })
        #expect(!writer.submitOrWrite(Self.save()))
    }

    @Test func whoComesWhileACallerWritesIsLeftToTheWriter() throws {
        let visits = Visits()
        let gate = DispatchSemaphore(value: 0)
        let writer = try writer(visits, gate: gate)
        let first = saveElsewhere(writer)
        while visits.all.isEmpty { usleep(100) }
        let others = (0..<20).map { _ in Self.save() }
        // Were one of them written here, this would wait for the gate for ever.
        for submission in others { #expect(writer.submitOrWrite(submission)) }
        #expect(writer.waitingSaveCount == 20)
        gate.signal()
        gate.signal()
        first.wait()
        for submission in others { _ = try submission.wait() }
        // Nobody writes now, so the next one does, though others were there just now and are waited for.
        gate.signal()
        let last = Self.save()
        #expect(writer.submitOrWrite(last))
        _ = try last.wait()
        writer.stopAndWait()
        let all = visits.all
        #expect(all.map(\.count) == [1, 20, 1])
        #expect(all.map { pthread_equal($0.thread, pthread_self()) != 0 } == [false, false, true])
        #expect(pthread_equal(all[0].thread, all[1].thread) == 0)
        #expect(visits.most == 1)
    }

    @Test func whoComesInCompanyIsJoinedByAsManyAsAreExpected() throws {
        let visits = Visits()
        let gate = DispatchSemaphore(value: 0)
        let writer = try writer(visits, gate: gate)
        // Four have come before the first commit ends, and three of them save in the second.
        for _ in 0..<2 {
            let count = visits.all.count
            let first = saveElsewhere(writer)
            while visits.all.count == count { usleep(100) }
            let others = (0..<3).map { _ in Self.save() }
            for submission in others { #expect(writer.submitOrWrite(submission)) }
            gate.signal()
            gate.signal()
            first.wait()
            for submission in others { _ = try submission.wait() }
        }
        writer.stopAndWait()
        // The third is made by one who takes two of those who came, since three are expected; the last is left over.
        #expect(visits.all.map(\.count) == [1, 3, 3, 1])
        #expect(visits.all[2].isCurrent)
        #expect(pthread_equal(visits.all[2].thread, visits.all[1].thread) == 0)
        #expect(visits.most == 1)
    }

    @Test func whoIsExpectedIsWaitedForAndNoLonger() throws {
        let visits = Visits()
        let writer = try writer(visits, takes: 10_000)
        // Once in company, those who come again are waited for, for a part of what a commit takes.
        let areDone = DispatchGroup()
        for _ in 0..<4 {
            areDone.enter()
            Thread.detachNewThread {
                for _ in 0..<1_000 where writer.timesWaited < 10 || !visits.all.contains(where: { $0.count == 4 }) {
                    let submission = Self.save()
                    #expect(writer.submitOrWrite(submission))
                    do { _ = try submission.wait() } catch { Issue.record(error) }
                }
                areDone.leave()
            }
        }
        areDone.wait()
        #expect(writer.timesWaited >= 10 && visits.all.contains { $0.count == 4 })
        // Nobody is left behind where fewer come than are waited for.
        let one = Self.save()
        #expect(writer.submitOrWrite(one))
        _ = try one.wait()
        writer.stopAndWait()
        #expect(visits.most == 1)
    }

    /// Who is told that a save is done and saves again at once is nobody's company.
    @Test func whoIsLeftAloneIsNotTakenForTwo() throws {
        let visits = Visits()
        let writer = try writer(visits, takes: 500)
        for _ in 0..<10 {
            let others = (0..<4).map { _ in Self.save() }
            for submission in others { #expect(writer.submit(submission)) }
            for submission in others { _ = try submission.wait() }
            let (before, waited) = (visits.all.count, writer.timesWaited)
            for _ in 0..<20 {
                let submission = Self.save()
                #expect(writer.submitOrWrite(submission))
                _ = try submission.wait()
            }
            #expect(visits.all.dropFirst(before).allSatisfy { pthread_equal($0.thread, pthread_self()) != 0 })
            // The first may find that somebody is expected.
            #expect(writer.timesWaited <= waited + 1)
        }
        writer.stopAndWait()
        #expect(visits.all.allSatisfy { $0.count > 0 })
    }

    @Test func whoStopsTheWriterWaitsForACallerWhoWrites() throws {
        let visits = Visits()
        let gate = DispatchSemaphore(value: 0)
        let writer = try writer(visits, gate: gate)
        let save = saveElsewhere(writer)
        while visits.all.isEmpty { usleep(100) }
        let waiting = Self.save()
        #expect(writer.submitOrWrite(waiting))
        let hasStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            writer.stopAndWait()
            hasStopped.signal()
        }
        #expect(hasStopped.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        gate.signal()
        gate.signal()
        hasStopped.wait()
        save.wait()
        _ = try waiting.wait()
        #expect(visits.all.map(\.count) == [1, 1])
    }

    @Test func nobodyWritesBesideAnother() throws {
        let visits = Visits()
        let writer = try writer(visits)
        let areDone = DispatchGroup()
        for number in 0..<8 {
            areDone.enter()
            Thread.detachNewThread {
                for round in 0..<300 {
                    let submission = Self.save()
                    #expect(writer.submitOrWrite(submission))
                    do { _ = try submission.wait() } catch { Issue.record(error) }
                    // Now together, now one by one.
                    if round % 16 == 0 { usleep(UInt32(number * 50)) }
                }
                areDone.leave()
            }
        }
        areDone.wait()
        writer.stopAndWait()
        #expect(visits.most == 1)
        #expect(visits.all.reduce(0) { $0 + $1.count } == 2400)
    }
}
