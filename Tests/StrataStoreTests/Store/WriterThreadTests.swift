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

        func note(_ group: [Submission]) {
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
                work: { group in
                    record.note(group)
                    gate?.wait()
                    return group.map { _ in .success(nil) }
                },
                holdLock: {}, releaseLock: {}))
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
            let count: Int
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

        func leave() { state.withLock { $0.inside -= 1 } }

        var most: Int { state.withLock(\.most) }
        var all: [Visit] { state.withLock(\.visits) }
    }

    /// - Parameter takes: microseconds that a group takes.
    private func writer(
        _ visits: Visits, gate: DispatchSemaphore? = nil, takes microseconds: UInt32 = 0
    ) throws -> WriterThread {
        let known = Locked<WriterThread?>(nil)
        let writer = try WriterThread(
            name: "test",
            WriterThread.Duties(
                work: { group in
                    visits.enter(group, known.withLock { $0 })
                    gate?.wait()
                    usleep(microseconds)
                    visits.leave()
                    return group.map { _ in .success(nil) }
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
        // Others were there just now, so the next one is not taken for somebody who is alone.
        gate.signal()
        let last = Self.save()
        #expect(writer.submitOrWrite(last))
        _ = try last.wait()
        let visitsSoFar = visits.all
        #expect(visitsSoFar.map(\.count) == [1, 20, 1])
        #expect(visitsSoFar.allSatisfy { pthread_equal($0.thread, pthread_self()) == 0 })
        #expect(pthread_equal(visitsSoFar[1].thread, visitsSoFar[2].thread) != 0)
        #expect(pthread_equal(visitsSoFar[0].thread, visitsSoFar[1].thread) == 0)
        // As soon as the writer has nothing to do, who is alone writes here again.
        let isHere = (0..<10_000).contains { _ in
            gate.signal()
            let alone = Self.save()
            #expect(writer.submitOrWrite(alone))
            do { _ = try alone.wait() } catch { Issue.record(error) }
            return visits.all.last.map { pthread_equal($0.thread, pthread_self()) != 0 } ?? false
        }
        #expect(isHere)
        writer.stopAndWait()
        #expect(visits.most == 1)
    }

    @Test func theLastWhoIsWaitedForWritesForAll() throws {
        let visits = Visits()
        let writer = try writer(visits, takes: 10_000)
        // Once in company, those who come again are waited for, for a part of what a commit takes.
        let isHere = (0..<1_000).contains { _ in
            let others = (0..<3).map { _ in Self.save() }
            for submission in others { #expect(writer.submit(submission)) }
            let last = Self.save()
            #expect(writer.submitOrWrite(last))
            do { for submission in others + [last] { _ = try submission.wait() } } catch { Issue.record(error) }
            return visits.all.contains {
                $0.count == 4 && pthread_equal($0.thread, pthread_self()) != 0 && $0.isCurrent
            }
        }
        #expect(isHere)
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
            let before = visits.all.count
            for _ in 0..<20 {
                let submission = Self.save()
                #expect(writer.submitOrWrite(submission))
                _ = try submission.wait()
            }
            // The first may find that somebody is expected.
            #expect(visits.all.dropFirst(before + 1).allSatisfy { pthread_equal($0.thread, pthread_self()) != 0 })
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
