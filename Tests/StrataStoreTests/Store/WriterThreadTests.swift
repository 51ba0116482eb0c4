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
                    group.forEach { $0.finish(.success(nil)) }
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
}
