import Locking
import Testing

@testable import StrataStore

@Suite struct BackgroundThreadTests {
    private struct Failure: Error, Equatable { let name: String }

    @Test func bothBodiesHaveEndedWhenItReturns() throws {
        var sum = 0
        let count = try BackgroundThread.run("test.beside") {
            for number in 1...10_000 { sum += number }
        } beside: {
            42
        }
        #expect(sum == 50_005_000 && count == 42)
    }

    @Test func bothBodiesRunAtOnce() throws {
        let steps = Locked<[String]>([])
        func waitFor(_ step: String) { while !steps.withLock({ $0.contains(step) }) {} }
        try BackgroundThread.run("test.beside") {
            steps.withLock { $0.append("first") }
            waitFor("second")
            steps.withLock { $0.append("end") }
        } beside: {
            waitFor("first")
            steps.withLock { $0.append("second") }
            waitFor("end")
        }
        #expect(steps.withLock { $0 } == ["first", "second", "end"])
    }

    @Test func theFirstBodysErrorIsToldBeforeTheSeconds() {
        var ended = 0
        #expect(throws: Failure(name: "second")) {
            try BackgroundThread.run("test.beside") {
                ended += 1
            } beside: {
                throw Failure(name: "second")
            }
        }
        #expect(throws: Failure(name: "first")) {
            try BackgroundThread.run("test.beside") {
                throw Failure(name: "first")
            } beside: {
                ended += 1
            }
        }
        #expect(throws: Failure(name: "first")) {
            try BackgroundThread.run("test.beside") {
                throw Failure(name: "first")
            } beside: {
                throw Failure(name: "second")
            }
        }
        #expect(ended == 2)
    }
}
