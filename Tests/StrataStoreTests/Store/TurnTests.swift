import Foundation
import StrataModel
import StrataStore
import Testing

/// Rule 7 of CONTRIBUTING.md: after two conflicts a save holds the turn, other writers wait, and not for ever.
@Suite struct TurnTests {
    /// Saves an insertion on a thread of its own.
    private func saveElsewhere(_ fixture: StoreFixture) throws -> DispatchSemaphore {
        var changes = try fixture.changes()
        _ = try fixture.insert("Movie", ["title": .string("elsewhere")], into: &changes)
        let store = fixture.store
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [changes] in
            do { _ = try store.save(changes) } catch { Issue.record("\(error)") }
            done.signal()
        }
        while store.waitingSaveCount == 0 {
            if done.wait(timeout: .now()) == .success {
                done.signal()
                break
            }
            usleep(200)
        }
        return done
    }

    @Test func savesWithoutTheTurnWaitUntilItEnds() throws {
        let fixture = try StoreFixture()
        let turn = try fixture.store.takeTurn(limit: .seconds(60))
        let done = try saveElsewhere(fixture)
        #expect(done.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        // Its own saves go on, reads too, and so do leases of ids.
        var changes = try fixture.changes()
        let head = try fixture.store.head()
        let mine = try fixture.insert("Movie", ["title": .string("mine")], into: &changes)
        guard case .saved(let receipt) = try fixture.store.save(changes, turn: turn) else {
            Issue.record("the save with the turn should be saved")
            return
        }
        #expect(receipt.previousHead == head)
        #expect(try fixture.values(mine) != nil)
        turn.end()
        #expect(done.wait(timeout: .now() + .seconds(20)) == .success)
    }

    @Test func aTurnEndsAtItsLimitOrWhenItIsForgotten() throws {
        let fixture = try StoreFixture()
        let kept = try fixture.store.takeTurn(limit: .milliseconds(100))
        #expect(try saveElsewhere(fixture).wait(timeout: .now() + .seconds(20)) == .success)
        withExtendedLifetime(kept) {}
        _ = try fixture.store.takeTurn(limit: .seconds(60))
        #expect(try saveElsewhere(fixture).wait(timeout: .now() + .seconds(20)) == .success)
        // A turn that is over is none: its saves are like any other.
        var changes = try fixture.changes()
        _ = try fixture.insert("Movie", ["title": .string("late")], into: &changes)
        guard case .saved = try fixture.store.save(changes, turn: kept) else {
            Issue.record("the save should be saved")
            return
        }
    }

    @Test func turnsAreTakenOneAfterTheOther() throws {
        let fixture = try StoreFixture()
        let first = try fixture.store.takeTurn(limit: .seconds(60))
        let store = fixture.store
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try store.takeTurn(limit: .seconds(60)).end() } catch { Issue.record("\(error)") }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        first.end()
        #expect(done.wait(timeout: .now() + .seconds(20)) == .success)
    }

    @Test func closingEndsATurn() throws {
        let fixture = try StoreFixture()
        let turn = try fixture.store.takeTurn(limit: .seconds(60))
        let done = try saveElsewhere(fixture)
        fixture.store.close()
        #expect(done.wait(timeout: .now() + .seconds(20)) == .success)
        withExtendedLifetime(turn) {}
    }
}
