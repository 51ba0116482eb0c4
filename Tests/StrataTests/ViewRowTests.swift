import Foundation
import Strata
import Testing

@Entity final class Playhouse: ManagedObject {
    var name: String
    @Relationship(inverse: \Screening.cinema) var screenings: ToMany<Screening>
}

@Entity final class Screening: ManagedObject {
    var date: Date
    var guests: Int64 = 0
    var price: Decimal = 0
    var isPublic: Bool = true
    var kind: EveningKind = EveningKind.film
    var note: String?
    var cinema: Playhouse?
}

enum EveningKind: Int16, Codable { case film, concert }

@View(version: 3) struct Evenings {
    static let source = ViewSource(Screening.self).where { $0.isPublic }.ordered(by: "guests", ascending: false)
    @Key(\Screening.cinema) var cinema: ObjectID?
    @Key(.year, of: \Screening.date) var year: Int
    @Count var screenings: Int
    @Sum(\Screening.guests) var guests: Int64
    @Average(\Screening.guests) var mean: Double
    @Max(\Screening.price) var dearest: Decimal?
    @Last(by: \Screening.date) var latest: ObjectID?
    @Top(2, by: \Screening.guests) var fullest: [ObjectID]
    var isLarge: Bool { guests > 40 }
}

@View struct Prices {
    static let source = ViewSource(Screening.self)
    @Key(bucketsOf: 5, of: \Screening.price) var from: Decimal
    @CountDistinct(\Screening.guests) var sizes: Int
    @Min(\Screening.date) var first: Date
    @First(by: \Screening.guests) var smallest: ObjectID?
}

@View struct ByKind {
    static let source = ViewSource(Screening.self)
    @Key(\Screening.kind) var kind: EveningKind
    @Key(\Screening.cinema?.name) var name: String?
    @Count(\Screening.note) var notes: Int
}

@View struct Fullest {
    static let source = ViewSource(Screening.self)
        .ranked(by: [SortDescription("cinema"), SortDescription("guests", isAscending: false)])
    @Key(\Screening.cinema) var cinema: ObjectID?
    @Key(\Screening.objectID) var screening: ObjectID
    @Max(\Screening.guests) var guests: Int64?
}

/// Structs with `@View`.
@Suite struct ViewRowTests {
    private func container(_ views: [ViewDescription]) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Playhouses", entities: [Playhouse.self, Screening.self], views: views, at: .inMemory)
        try container.loadPersistentStores()
        return container
    }

    @discardableResult
    private func screening(_ number: Int, _ cinema: Playhouse?, _ context: ManagedObjectContext) -> Screening {
        let screening = Screening(context: context)
        screening.date = Date(timeIntervalSince1970: Double(number) * 86_400 * 200)
        screening.guests = Int64(10 * number)
        screening.price = Decimal(number) * 2
        screening.isPublic = number != 1
        screening.kind = number < 2 ? .film : .concert
        screening.cinema = cinema
        return screening
    }

    private func filled(_ context: ManagedObjectContext) throws -> [Screening] {
        let cinema = Playhouse(context: context)
        cinema.name = "Kosmos"
        let screenings = (0..<6).map { screening($0, $0 < 4 ? cinema : nil, context) }
        screenings[2].note = "new"
        try context.save()
        return screenings
    }

    @Test func anObjectIsRankedAmongThoseOfItsGroup() throws {
        let container = try container([Fullest.view])
        let context = container.newBackgroundContext()
        let screenings = try filled(context)
        let (id, cinema) = (screenings[2].objectID, screenings[2].cinema?.objectID)
        let own = context.rows(of: Fullest.self).where { $0.cinema == cinema }.sorted(by: \.guests, .descending)
        let rank = try #require(try own.rank(of: { $0.screening == id }))
        #expect(rank.rank == 2 && rank.index == 1 && rank.count == 4)
        let around = try own.rows(around: { $0.screening == id }, before: 5, after: 1)
        #expect(around.map(\.guests) == [30, 20, 10] && around.map(\.screening)[1] == id)
        let other = screenings[5].objectID
        #expect(try own.rank(of: { $0.screening == other }) == nil)
        #expect(try own.dropFirst(2).prefix(1).map(\.guests) == [10])
    }

    @Test func aStructIsARowOfItsView() throws {
        let container = try container([Evenings.view, Prices.view, ByKind.view])
        let context = container.newBackgroundContext()
        #expect(Evenings.view.name == "Evenings" && Evenings.view.version == 3 && Prices.view.version == 1)
        let screenings = try filled(context)
        let all = try context.rows(of: Evenings.self).all()
        #expect(all.map(\.year) == [1972, 1970, 1971] && all.map(\.screenings) == [2, 1, 2])
        #expect(all.map(\.guests) == [90, 0, 50] && all.map(\.mean) == [45, 0, 25])
        #expect(all.first?.latest == screenings[5].objectID && all.first?.cinema == nil)
        #expect(all.map(\.isLarge) == [true, false, true])
        #expect(all.last?.fullest == [screenings[3].objectID, screenings[2].objectID])
        let prices = try context.rows(of: Prices.self).all()
        #expect(prices.map(\.from) == [0, 5, 10] && prices.map(\.sizes) == [3, 2, 1])
        #expect(prices.map(\.first) == [0, 600, 1_000].map { Date(timeIntervalSince1970: $0 * 86_400) })
        let kinds = try context.rows(of: ByKind.self).all()
        #expect(kinds.map(\.kind) == [.film, .concert, .concert] && kinds.map(\.name) == ["Kosmos", nil, "Kosmos"])
        #expect(kinds.map(\.notes) == [0, 0, 1])
        let report = try container.verify()
        #expect(report.isSound, "\(report)")
    }

    @Test func conditionsAndOrdersUseTheProperties() throws {
        let context = try container([Evenings.view, ByKind.view]).newBackgroundContext()
        _ = try filled(context)
        let sales = context.rows(of: Evenings.self)
        var guests: [Int64] = []
        for row in try sales.where({ $0.screenings > 0 }).sorted(by: \.guests, .descending).prefix(2) {
            guests.append(row.guests)
        }
        #expect(guests == [90, 50])
        let best = sales.sorted(by: \.guests, .descending)
        #expect(try best.explain(limit: 2).description.contains("in the order guests descending"))
        #expect(try best.first()?.guests == 90 && best.prefix(0).isEmpty)
        #expect(try best.dropFirst(1).prefix(1).map(\.guests) == [50])
        #expect(try sales.where { $0.guests > 40 && $0.year == 1971 }.all().map(\.dearest) == [6])
        #expect(try sales.where { $0.cinema == nil }.all().map(\.year) == [1972])
        #expect(try context.rows(of: ByKind.self).where { $0.kind == .film }.all().map(\.name) == ["Kosmos"])
    }

    @Test func rowsAreOfTheMomentOfTheirContext() throws {
        let container = try container([Evenings.view])
        let context = container.newBackgroundContext()
        let screenings = try filled(context)
        let moment = try container.head()
        screenings[5].guests = 1_000
        // Unsaved changes count, and the past stays.
        #expect(try context.rows(of: Evenings.self).where { $0.year == 1972 }.all().map(\.guests) == [1_040])
        try context.save()
        let past = try container.context(asOf: .event(moment))
        #expect(try past.rows(of: Evenings.self).sorted(by: \.guests, .descending).prefix(1).map(\.guests) == [90])
    }

    @MainActor @Test func rowsAreFollowedAsValues() async throws {
        let context = try container([Evenings.view]).viewContext
        let screenings = try filled(context)
        var seen: [[Int64]] = []
        let best = context.rows(of: Evenings.self).sorted(by: \.guests, .descending)
        for try await update in best.updates(limit: 2) {
            seen.append(try update.rows.values(of: Evenings.self).map(\.guests))
            if seen.count == 2 { break }
            screenings[2].guests = 200
            context.processPendingChanges()
        }
        #expect(seen == [[90, 50], [230, 90]])
    }

    @Test func aColumnThatDoesNotFitItsPropertyIsAnError() throws {
        var view = Prices.view
        view.aggregates.removeAll { $0.name == "sizes" }
        let context = try container([view]).newBackgroundContext()
        screening(1, nil, context)
        #expect { _ = try context.rows(of: Prices.self).all() } throws: {
            ($0 as? StrataError)?.code == .unknownKey
        }
        view = Prices.view
        view.aggregates[1] = ViewAggregate("first", .min, "price")
        let other = try self.container([view]).newBackgroundContext()
        screening(1, nil, other)
        #expect { _ = try other.rows(of: Prices.self).all() } throws: {
            ($0 as? StrataError)?.message == "The column first of the view Prices has 2, which is no Date."
        }
    }
}
