import Foundation
import StrataGraph
import StrataStore
import Testing

@Suite(.verifiesStores) struct EntityRetentionTests {
    /// Two movies whose titles change with each save, one of them deleted at the end, and a member who stays.
    private func makeStore(at location: PersistentStoreLocation = .inMemory) throws -> (
        container: PersistentContainer, kept: ObjectID, gone: ObjectID, member: ObjectID, moments: [EventNumber]
    ) {
        let container = try makeContainer(at: location)
        let context = container.newBackgroundContext()
        let (kept, gone) = (Movie(context: context), Movie(context: context))
        let member = FamilyMember(context: context)
        var moments: [EventNumber] = []
        for number in 0..<10 {
            kept.title = "title \(number)"
            if number < 5 { gone.title = "lost \(number)" } else if number == 5 { context.delete(gone) }
            member.name = "Ann \(number)"
            try context.save()
            moments.append(try container.head())
        }
        return (container, kept.objectID, gone.objectID, member.objectID, moments)
    }

    @Test func earlierStatesOfTheEntityThrowAndThoseOfOthersStay() throws {
        let (container, kept, gone, member, moments) = try makeStore()
        let plan = try container.plannedTruncation(ofEntities: ["Movie"], before: .event(moments[7]))
        let result = try container.truncateHistory(
            ofEntities: ["Movie"], before: .event(moments[7]), author: "ann", reason: "a month")
        #expect(result.eventNumber == moments[7] && result.eventCount == plan.eventCount && result.eventCount > 8)
        #expect(try container.historyBaseline() == nil)
        for (number, moment) in moments.enumerated() {
            let past = try container.context(asOf: .event(moment))
            #expect(try past.existingObject(with: member, as: FamilyMember.self).name == "Ann \(number)")
            if number >= 7 {
                #expect(try past.existingObject(with: kept, as: Movie.self).title == "title \(number)")
                #expect(try past.count(for: FetchRequest<Movie>()) == 1)
            } else {
                let error = thrownError { _ = try past.existingObject(with: kept, as: Movie.self).title }
                #expect(error?.code == .historyDropped && error?.context.entityName == "Movie")
                #expect(error?.context.baseline?.eventNumber == moments[7])
                for format in ["title == 'title \(number)'", "rating > 0", "TRUEPREDICATE"] {
                    let request = try FetchRequest<Movie>(where: FetchPredicate(format: format))
                    #expect(thrownError { _ = try past.fetch(request) }?.code == .historyDropped, "\(format)")
                }
            }
        }
        let history = try container.history(of: kept)
        #expect(history.filter(\.isThinned).count == 8 && !history.contains(where: \.isErased))
        #expect(try container.blame(kept)["title"]?.eventNumber == history.map(\.eventNumber).max())
        for event in try container.history(of: gone) {
            #expect(event.isThinned && !event.description.contains("lost"), "\(event)")
        }
        #expect(try container.history(of: member).allSatisfy { !$0.isThinned })
        for (from, to) in [(0, 9), (5, 7), (6, 8)] {
            let error = thrownError {
                _ = try container.changes(from: .event(moments[from]), to: .event(moments[to]))
            }
            #expect(error?.code == .historyDropped)
        }
        #expect(try container.changes(from: .event(moments[7]), to: .now).count == 2)
        let context = container.newBackgroundContext()
        #expect(thrownError { _ = try context.restore(gone, at: moments[4]) }?.code == .historyDropped)
        let thinning = try #require(try container.transactions().first { $0.reason == "a month" })
        #expect(thinning.author == "ann")
        #expect(try container.truncateHistory(ofEntities: ["Movie"], before: .event(moments[7])).eventNumber == nil)
        let unknown = thrownError { try container.truncateHistory(ofEntities: ["Film"], before: .now) }
        #expect(unknown?.code == .unknownEntity)
        #expect(try container.rebuildViews().isUnchanged)
    }

    @Test func theRetentionOfTheOptionsThinsWhenTheStoreIsOpen() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "retention-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = PersistentStoreLocation.url(folder.appending(path: "a.strata"))
        let made = try makeStore(at: location)
        made.container.close()
        var options = PersistentStoreOptions(durability: .disposable)
        options.historyRetention = .entities(["Movie": .transactions(3)])
        let container = try PersistentContainer(
            name: "Test", entities: [Movie.self, FamilyMember.self], at: location, options: options)
        try container.loadPersistentStores()
        defer { container.close() }
        container.store.waitForRetention()
        #expect(try container.historyBaseline() == nil)
        #expect(try container.history(of: made.kept).filter(\.isThinned).count == 7)
        #expect(try container.history(of: made.member).allSatisfy { !$0.isThinned })
        #expect(try container.verify().isSound)
        try container.truncateHistory(to: .entities(["FamilyMember": .whatIsHeld], others: .transactions(6)))
        #expect(try container.historyBaseline() != nil)
        #expect(try container.history(of: made.member).filter(\.isThinned).count > 3)
        #expect(try container.verify().isSound)
    }
}
