import Foundation
import LMDB
import Locking
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Views that are kept behind the commits.
@Suite struct CatchingUpTests {
    private static func byTitle(_ condition: String? = nil) throws -> ViewDescription {
        var view = ViewDescription(
            name: "ByTitle", entityName: "Work", where: try condition.map { try FetchPredicate(format: $0) },
            keys: [ViewKey("title")],
            aggregates: [ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross")],
            orders: [ViewOrder("gross", isAscending: false)])
        view.upkeep = .catchingUp
        return view
    }

    private func fixture(
        _ views: [ViewDescription]? = nil, _ location: StoreLocation = .inMemory, _ keeping: ViewKeeping = .byHand,
        objects: Int = 20_000
    ) throws -> StoreFixture {
        var options = StoreOptions()
        options.viewKeeping = keeping
        options.viewStepLimits.objects = objects
        return try StoreFixture(
            location, model: try FilmViews.model(try views ?? [Self.byTitle()]), options: options)
    }

    private func film(_ title: String, _ gross: Int, _ fixture: StoreFixture) throws -> ObjectID {
        try fixture.insert("Film", ["title": .string(title), "gross": .decimal(Decimal(gross))])
    }

    private func rows(_ store: Store, at eventNumber: EventNumber? = nil, limit: Int = 0) throws -> [String] {
        let sort = limit > 0 ? [SortDescription("gross", isAscending: false)] : []
        return try store.read(at: try eventNumber ?? store.head()) { snapshot in
            try snapshot.rows(ViewRequest("ByTitle", sortedBy: sort, limit: limit)).map {
                $0.map { "\($0)" }.joined(separator: " ").replacing("\"", with: "")
            }
        }
    }

    private func kept(_ store: Store) throws -> Int { try store.views().reduce(0) { $0 + $1.groupCount } }

    // MARK: Reading

    @Test func rowsAreExactHoweverFarTheViewIsBehind() throws {
        let fixture = try fixture()
        let store = fixture.store
        let first = try film("A", 1, fixture)
        _ = try film("B", 5, fixture)
        // Nothing is kept yet, and a save did nothing for it.
        #expect(try kept(store) == 0 && store.viewState("ByTitle").phase == .building(0))
        #expect(try rows(store) == ["A 1 1", "B 1 5"])
        try store.keepViews()
        #expect(try kept(store) == 2 && store.viewState("ByTitle").lagInEvents == 0)
        let position = try store.head()
        try fixture.update(first, ["gross": .decimal(7)])
        _ = try film("C", 6, fixture)
        let state = try store.viewState("ByTitle")
        #expect(state.phase == .live && state.lagInEvents == 2 && state.eventNumber == position)
        #expect(try rows(store) == ["A 1 7", "B 1 5", "C 1 6"])
        #expect(try rows(store, limit: 2) == ["A 1 7", "C 1 6"])
        // The state of the view, one before it and one after it.
        #expect(try rows(store, at: position) == ["A 1 1", "B 1 5"])
        #expect(try rows(store, at: EventNumber(rawValue: position.rawValue - 1)) == ["A 1 1"])
        #expect(try rows(store, at: position.advanced(by: 1)) == ["A 1 7", "B 1 5"])
        #expect(try store.verify().isSound)
        let explained = try store.read(at: try store.head()) { try $0.explain(ViewRequest("ByTitle")).description }
        #expect(explained.contains("with what changed since \(position)"), "\(explained)")
        try fixture.delete(first)
        try store.keepViews()
        #expect(try rows(store) == ["B 1 5", "C 1 6"] && kept(store) == 2)
    }

    @Test func aViewIsBuiltInStepsThatGoOnWhereTheyWere() throws {
        let fixture = try fixture(objects: 3)
        let store = fixture.store
        var films: [ObjectID] = []
        for number in 0..<8 { films.append(try film("t\(number % 3)", number, fixture)) }
        try store.keepViews(steps: 1)
        #expect(try store.viewState("ByTitle").phase == .building(3.0 / 8))
        // Changes on both sides of where it is.
        try fixture.update(films[0], ["title": .string("t9")])
        try fixture.delete(films[1])
        try fixture.update(films[7], ["gross": .decimal(100)])
        #expect(try store.verify().isSound)
        try store.keepViews(steps: 1)
        #expect(try store.verify().isSound)
        let before = try rows(store)
        try store.keepViews()
        #expect(try store.viewState("ByTitle").phase == .live)
        #expect(try rows(store) == before && before == ["t0 2 9", "t1 2 104", "t2 2 7", "t9 1 0"])
    }

    // MARK: Failing

    /// A condition that fails on a title that is no pattern.
    private static let hostile = "NOT 'x' MATCHES title"
    private static let hostileTitle = "("

    @Test func anEventThatCannotBeFollowedStopsOneViewOnly() throws {
        var other = FilmViews.everything
        other.upkeep = .catchingUp
        let fixture = try fixture([try Self.byTitle(Self.hostile), other])
        let store = fixture.store
        _ = try film("A", 1, fixture)
        try store.keepViews()
        _ = try film("B", 2, fixture)
        let last = try store.head()
        let bad = try film(Self.hostileTitle, 3, fixture)
        let failing = try store.head()
        for number in 0..<5 { _ = try film("C", number, fixture) }
        try store.keepViews()
        let state = try store.viewState("ByTitle")
        guard case .failed(let failure) = state.phase else {
            Issue.record("\(state)")
            return
        }
        #expect(failure.eventNumber == failing && failure.object == bad && failure.attempts == 1)
        #expect(failure.reason.contains("pattern") && state.eventNumber == last)
        #expect(try store.viewState("Everything").lagInEvents == 0)
        // The past is answered, the present is not.
        #expect(try rows(store, at: last) == ["A 1 1", "B 1 2"])
        #expect { _ = try rows(store) } throws: { ($0 as? StrataError)?.code == .viewFailed }
        #expect { try store.wait(forView: "ByTitle", to: nil, timeout: .seconds(1)) } throws: {
            ($0 as? StrataError)?.code == .viewFailed
        }
        #expect(try store.verify().isSound)
        // It is tried again at once only by hand.
        try store.retryView("ByTitle")
        try store.keepViews()
        guard case .failed(let again) = try store.viewState("ByTitle").phase else { return }
        #expect(again.attempts == 2)
        try store.skipEvent(ofView: "ByTitle")
        try store.keepViews()
        #expect(try store.viewState("ByTitle").leftOut == [bad])
        #expect(try rows(store) == ["A 1 1", "B 1 2", "C 5 10"])
        try fixture.update(bad, ["gross": .decimal(9)])
        try store.keepViews()
        #expect(try rows(store).count == 3 && store.verify().isSound)
        try fixture.update(bad, ["title": .string("Z")])
        // It was behind, so that it changes is no sign of damage.
        #expect(try store.rebuild(view: "ByTitle"))
        #expect(try rows(store).last == "Z 1 9" && store.viewState("ByTitle").leftOut == [])
        #expect { try store.skipEvent(ofView: "ByTitle") } throws: { ($0 as? StrataError)?.code == .invalidRequest }
        #expect { try store.retryView("ByTitel") } throws: {
            ($0 as? StrataError)?.message.contains("ByTitle") == true
        }
    }

    /// A difference would say that the view was damaged.
    @Test func aViewThatLeavesAnObjectOutIsNotCompared() throws {
        let fixture = try fixture([try Self.byTitle(Self.hostile)])
        let store = fixture.store
        let bad = try film(Self.hostileTitle, 5, fixture)
        _ = try film("A", 1, fixture)
        try store.keepViews()
        #expect(try store.rebuild().isUnchanged)
        try store.keepViews()
        try store.skipEvent(ofView: "ByTitle")
        try fixture.update(bad, ["title": .string("Z")])
        for isWhole in [false, true] {
            try store.keepViews()
            let state = try store.viewState("ByTitle")
            #expect(state.leftOut == (isWhole ? [] : [bad]) && state.lagInEvents == 0)
            if isWhole {
                let limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 1)
                #expect(try store.rebuild(limits).isUnchanged && store.rebuild().isUnchanged)
            } else {
                #expect(try store.rebuild(view: "ByTitle"))
            }
            #expect(try rows(store) == ["A 1 1", "Z 1 5"])
        }
    }

    /// An erasure has emptied the view, and no worker has come to it yet.
    @Test func aViewThatIsNotBuiltYetIsNotCompared() throws {
        for isWhole in [false, true] {
            let fixture = try fixture()
            let store = fixture.store
            let first = try film("secret", 1, fixture)
            _ = try film("B", 2, fixture)
            try store.keepViews()
            #expect(try store.rebuild(view: "ByTitle"))
            _ = try store.erase(ErasureRequest(objects: [first], note: MaintenanceNote(author: "test")))
            #expect(try kept(store) == 0)
            #expect(try isWhole ? store.rebuild().isUnchanged : store.rebuild(view: "ByTitle"))
            #expect(try kept(store) == 1 && store.viewState("ByTitle").lagInEvents == 0)
            #expect(try store.rebuild(view: "ByTitle"))
        }
    }

    @Test func aViewGoesOnWhenTheObjectIsMended() throws {
        let fixture = try fixture([try Self.byTitle(Self.hostile)])
        let store = fixture.store
        let bad = try film(Self.hostileTitle, 3, fixture)
        try store.keepViews()
        guard case .failed(let failure) = try store.viewState("ByTitle").phase else {
            Issue.record("it has not failed")
            return
        }
        #expect(failure.object == bad)
        try fixture.update(bad, ["title": .string("A")])
        try store.retryView("ByTitle")
        try store.keepViews()
        #expect(try rows(store) == ["A 1 3"] && store.viewState("ByTitle").phase == .live)
    }

    // MARK: The log

    @Test func aTruncationLeavesWhatAViewHasNotSeen() throws {
        let fixture = try fixture()
        let store = fixture.store
        _ = try film("A", 1, fixture)
        try store.keepViews()
        let position = try store.head()
        for number in 0..<6 { _ = try film("B", number, fixture) }
        let head = try store.head()
        let report = try store.truncateHistory(through: head, MaintenanceNote(author: "test"))
        #expect(report.holds.map(\.kind) == [.view] && report.holds.first?.name == "ByTitle")
        #expect(try store.baseline()?.event == position)
        #expect(try store.verify().isSound)
        try store.keepViews()
        #expect(try rows(store) == ["A 1 1", "B 6 15"])
        // By force, the view is made anew.
        for number in 0..<3 { _ = try film("C", number, fixture) }
        _ = try store.truncateHistory(through: try store.head(), force: .holds, MaintenanceNote(author: "test"))
        try store.keepViews()
        #expect(try rows(store) == ["A 1 1", "B 6 15", "C 3 3"] && store.verify().isSound)
    }

    @Test func anErasureHasTheViewMadeAnew() throws {
        let fixture = try fixture()
        let store = fixture.store
        let first = try film("secret", 1, fixture)
        _ = try film("B", 2, fixture)
        try store.keepViews()
        try fixture.update(first, ["gross": .decimal(5)])
        let request = ErasureRequest(objects: [first], note: MaintenanceNote(author: "test"))
        _ = try store.erase(request)
        #expect(try kept(store) == 0)
        #expect(try rows(store) == ["B 1 2"])
        try store.keepViews()
        #expect(try rows(store) == ["B 1 2"] && store.verify().isSound)
    }

    @Test func anotherModelHasTheViewMadeAnew() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "catching-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try fixture(nil, .directory(url))
        _ = try film("A", 1, first)
        try first.store.keepViews()
        _ = try film("B", 2, first)
        first.store.close()
        var changed = try Self.byTitle()
        changed.version = 2
        for views in [[changed, FilmViews.films], [changed], [FilmViews.films]] {
            let next = try fixture(views, .directory(url))
            defer { next.store.close() }
            if views.first?.name == "ByTitle" {
                #expect(try rows(next.store) == ["A 1 1", "B 1 2"])
                try next.store.keepViews(steps: 1)
                #expect(try rows(next.store) == ["A 1 1", "B 1 2"])
            }
            #expect(try next.store.verify().isSound)
            #expect(try next.store.rebuild().isUnchanged)
        }
    }

    // MARK: The keeper

    @Test func oneProcessKeepsTheViewsAndTellsTheLag() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "keeper-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        let told = Locked<[ViewUpkeepState]>([])
        var options = StoreOptions()
        options.viewObserver = { _, state in told.withLock { $0.append(state) } }
        let fixture = try StoreFixture(
            .directory(url), model: try FilmViews.model([Self.byTitle()]), options: options)
        let store = fixture.store
        defer { store.close() }
        for number in 0..<20 { _ = try film("A", number, fixture) }
        try store.wait(forView: "ByTitle", to: nil, timeout: .seconds(20))
        #expect(try kept(store) == 1 && store.viewState("ByTitle").lagInEvents == 0)
        let head = try store.head()
        for _ in 0..<2_000 where told.withLock({ $0.last })?.eventNumber != head { usleep(5_000) }
        #expect(told.withLock { $0.last }?.eventNumber == head && told.withLock { $0.last }?.lagInEvents == 0)
        // Nobody else gets the lock while it is open.
        let files = BlobFiles(directory: store.path, ownership: .privateOnly)
        #expect(try files.tryLockViews() == nil)
        let limit = try film("B", 1, fixture)
        #expect(try store.read(at: try store.head()) { try $0.exists(limit) })
        try store.wait(forView: "ByTitle", to: nil, timeout: .seconds(20))
        #expect(try kept(store) == 2)
    }

    @Test(.timeLimit(.minutes(1))) func anObserverMayCloseTheStore() throws {
        let opened = Locked<Store?>(nil)
        let told = DispatchSemaphore(value: 0)
        var options = StoreOptions()
        options.viewObserver = { _, _ in
            opened.withLock { $0 }?.close()
            told.signal()
        }
        let url = FileManager.default.temporaryDirectory.appending(path: "keeper-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        let fixture = try StoreFixture(
            .directory(url), model: try FilmViews.model([Self.byTitle()]), options: options)
        opened.withLock { $0 = fixture.store }
        do {
            _ = try film("A", 1, fixture)
        } catch let error as StrataError where error.code == .storeClosed {
            // The observer was told of the first step before this save.
        }
        #expect(told.wait(timeout: .now() + 30) == .success)
        fixture.store.close()
        let files = BlobFiles(directory: fixture.store.path, ownership: .privateOnly)
        var lock: Int32?
        for _ in 0..<2_000 where lock == nil {
            lock = try files.tryLockViews()
            usleep(5_000)
        }
        #expect(lock != nil)
        if let lock { BlobFiles.unlock(lock) }
        opened.withLock { $0 = nil }
    }

    @Test func waitingEndsAfterItsTime() throws {
        let fixture = try fixture()
        _ = try film("A", 1, fixture)
        #expect { try fixture.store.wait(forView: "ByTitle", to: nil, timeout: .milliseconds(30)) } throws: {
            ($0 as? StrataError)?.code == .persistentStoreTimeout
        }
    }
}
