import Foundation
import StrataGraph
import StrataStore
import Testing

@Suite(.verifiesStores) struct RetentionTests {
    /// A store with a movie whose title changes with each save.
    private func makeStore(saves: Int) throws -> (
        container: PersistentContainer, movie: ObjectID, moments: [EventNumber]
    ) {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let movie = Movie(context: context)
        var moments: [EventNumber] = []
        for number in 0..<saves {
            movie.title = "title \(number)"
            try context.save()
            moments.append(try container.head())
        }
        return (container, movie.objectID, moments)
    }

    private func title(_ container: PersistentContainer, _ id: ObjectID, at moment: EventNumber) throws -> String {
        try container.context(asOf: .event(moment)).existingObject(with: id, as: Movie.self).title
    }

    @Test func theStateAtTheMomentAndEverythingSinceStay() throws {
        let (container, movie, moments) = try makeStore(saves: 10)
        let before = try container.changes(from: .event(moments[4]), to: .now)
        let result = try container.truncateHistory(before: .event(moments[4]), author: "ann", reason: "enough")
        #expect(result.baseline?.eventNumber == moments[4] && result.holders.isEmpty)
        #expect(result.transactionCount > 0 && result.eventCount == 4)
        #expect(try container.historyBaseline() == result.baseline)
        for (number, moment) in moments.enumerated() {
            if number < 4 {
                let error = thrownError { _ = try container.context(asOf: .event(moment)) }
                #expect(error?.code == .historyDropped && error?.context.baseline == result.baseline)
            } else {
                #expect(try title(container, movie, at: moment) == "title \(number)")
            }
        }
        #expect(try container.changes(from: .event(moments[4]), to: .now) == before)
        #expect(try container.history(of: movie).count == 5)
        #expect(try container.blame(movie)["title"]?.eventNumber == moments[9])
        #expect(try container.transactions().count == 5)
        let error = thrownError { _ = try container.changes(from: .event(moments[2]), to: .now) }
        #expect(error?.code == .historyDropped)
        let dropped = thrownError { _ = try container.changes(in: TransactionNumber(rawValue: 2)) }
        #expect(dropped?.code == .historyDropped)
        #expect(try container.truncateHistory(before: .event(moments[2])).transactionCount == 0)
        #expect(try container.rebuildViews().isUnchanged)
    }

    /// The process has the store open twice.
    @Test func contextsOfAnotherContainerHoldTheHistory() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "held-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try makeContainer(at: .url(url))
        let second = try makeContainer(at: .url(url))
        defer {
            first.close()
            second.close()
        }
        let idle = first.newBackgroundContext()
        let moment = idle.eventNumber
        let context = second.newBackgroundContext()
        for number in 0..<3 {
            Movie(context: context).title = "\(number)"
            try context.save()
        }
        let held = try second.truncateHistory(before: .now)
        #expect(held.holders.map(\.kind) == [.context] && held.baseline?.eventNumber ?? moment == moment)
        #expect(try idle.count(for: FetchRequest<Movie>()) == 0)
        idle.refreshAllObjects()
        #expect(try second.truncateHistory(before: .now).holders.isEmpty && idle.count(for: FetchRequest<Movie>()) == 3)
    }

    @Test func aConsumerBehindTheCutStartsAnewFromTheBaseline() async throws {
        let (container, _, moments) = try makeStore(saves: 10)
        let mailer = try container.subscription(named: "mailer", from: .event(moments[2]))
        let held = try container.truncateHistory(before: .now)
        #expect(held.baseline?.eventNumber == moments[2])
        #expect(held.holders.map(\.kind) == [.subscription] && held.holders.first?.name == "mailer")
        let token = try mailer.acknowledged()
        let plan = try container.plannedTruncation(before: .event(moments[6]), holders: .overridden)
        #expect(plan.transactionCount == 4)
        let result = try container.truncateHistory(before: .event(moments[6]), holders: .overridden)
        let baseline = try #require(result.baseline)
        let error = thrownError { _ = try mailer.transactions() }
        #expect(error?.code == .historyDropped && error?.context.baseline == baseline)
        #expect(thrownError { _ = try container.transactions(since: token) }?.context.baseline == baseline)
        // The state there, and the transactions after it, are the whole of what is to be seen.
        _ = try container.context(asOf: .event(baseline.eventNumber))
        try container.removeSubscription(named: "mailer")
        let anew = try container.subscription(named: "mailer", from: .event(baseline.eventNumber))
        var seen: [EventNumber] = []
        for try await change in try anew.transactions() {
            seen.append(change.transaction.lastEvent)
            if seen.last == moments[9] { break }
        }
        #expect(seen == Array(moments[7...]))
        var all: [EventNumber] = []
        for try await change in try container.transactions(since: nil) {
            all.append(change.transaction.lastEvent)
            if all.last == moments[9] { break }
        }
        #expect(all == seen)
    }

    @Test func aContextHoldsTheHistoryThatItNeeds() throws {
        let (container, movie, moments) = try makeStore(saves: 10)
        let idle = container.newBackgroundContext()
        let shown = try idle.existingObject(with: movie, as: Movie.self)
        var past: ManagedObjectContext? = try container.context(asOf: .event(moments[3]))
        #expect(try past?.existingObject(with: movie, as: Movie.self).title == "title 3")
        let other = container.newBackgroundContext()
        for number in 10..<15 {
            try other.existingObject(with: movie, as: Movie.self).title = "title \(number)"
            try other.save()
        }
        let held = try container.truncateHistory(before: .now)
        #expect(held.baseline?.eventNumber == moments[3] && held.holders.map(\.kind) == [.context, .context])
        past = nil
        #expect(try container.truncateHistory(before: .now).baseline?.eventNumber == moments[9])
        #expect(shown.title == "title 9")
        idle.refreshAllObjects()
        #expect(shown.title == "title 14")
        #expect(try container.truncateHistory(before: .now).baseline?.eventNumber == container.head())
        #expect(try container.transactions().isEmpty && container.currentHistoryToken().transactionNumber > 0)
        shown.title = "after"
        try idle.save()
        #expect(try container.history(of: movie).count == 1)
    }

    /// As one of another process, of which a truncation knows nothing.
    @Test func aContextBehindTheCutGoesOnAfterReset() throws {
        let (container, movie, moments) = try makeStore(saves: 3)
        let behind = container.newBackgroundContext()
        #expect(behind.eventNumber == moments[2])
        let other = container.newBackgroundContext()
        try other.existingObject(with: movie, as: Movie.self).title = "other"
        try other.save()
        try container.truncateHistory(before: .now, holders: .overridden)
        let error = thrownError { _ = try behind.fetch(FetchRequest<Movie>()) }
        let head = try container.head()
        #expect(error?.code == .historyDropped && error?.context.baseline?.eventNumber == head)
        behind.reset()
        #expect(try behind.fetch(FetchRequest<Movie>()).map(\.title) == ["other"])
        try behind.existingObject(with: movie, as: Movie.self).title = "mine"
        try behind.save()
    }

    @Test func aRetentionSaysHowMuchStays() throws {
        let (container, _, moments) = try makeStore(saves: 10)
        #expect(try container.truncateHistory(to: .everything).transactionCount == 0)
        #expect(try container.truncateHistory(to: .transactions(50)).transactionCount == 0)
        #expect(try container.truncateHistory(to: .transactions(6)).baseline?.eventNumber == moments[3])
        #expect(try container.truncateHistory(to: .duration(.seconds(3600))).transactionCount == 0)
        #expect(try container.truncateHistory(to: .whatIsHeld).baseline?.eventNumber == moments[9])
        try container.setTag("now")
        #expect(try container.truncateHistory(to: .duration(.zero)).baseline?.eventNumber == moments[9])
        #expect(try container.tags() == ["now": moments[9]])
    }

    @Test func theRetentionOfTheOptionsIsAppliedWhenTheStoreIsOpen() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "retention-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = PersistentStoreLocation.url(folder.appending(path: "a.strata"))
        let container = try makeContainer(at: location)
        do {
            let context = container.newBackgroundContext()
            let movie = Movie(context: context)
            for number in 0..<10 {
                movie.title = "\(number)"
                try context.save()
            }
        }
        let last = try container.head()
        container.close()
        var options = PersistentStoreOptions(durability: .disposable)
        options.historyRetention = .transactions(3)
        let again = try PersistentContainer(
            name: "Test", entities: [Movie.self, FamilyMember.self], at: location, options: options)
        try again.loadPersistentStores()
        again.store.waitForRetention()
        #expect(try again.historyBaseline()?.eventNumber.rawValue == last.rawValue - 3)
        #expect(try again.verify().isSound)
        again.close()
    }
}
