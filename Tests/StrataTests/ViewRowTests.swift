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
    var cinema: Playhouse?
}

@View(version: 3) struct Evenings {
    static let source = ViewSource(Screening.self).where { $0.isPublic }.ordered(by: "guests", ascending: false)
    @Key(\Screening.cinema) var cinema: ObjectID?
    @Key(.year, of: \Screening.date) var year: Int
    @Count var screenings: Int
    @Sum(\Screening.guests) var guests: Int64
    @Average(\Screening.guests) var mean: Double
    @Max(\Screening.price) var dearest: Decimal?
    @Last(by: \Screening.date) var latest: ObjectID?
}

@View struct Prices {
    static let source = ViewSource(Screening.self)
    @Key(bucketsOf: 5, of: \Screening.price) var from: Decimal
    @CountDistinct(\Screening.guests) var sizes: Int
    @Min(\Screening.date) var first: Date
    @First(by: \Screening.guests) var smallest: ObjectID?
}

/// Structs with `@View`.
@Suite struct ViewRowTests {
    @Test func aStructIsARowOfItsView() throws {
        let container = try PersistentContainer(
            name: "Playhouses", entities: [Playhouse.self, Screening.self], views: [Evenings.view, Prices.view],
            at: .inMemory)
        try container.loadPersistentStores()
        defer { container.close() }
        #expect(Evenings.view.name == "Evenings" && Evenings.view.version == 3 && Prices.view.version == 1)
        let context = container.newBackgroundContext()
        let cinema = Playhouse(context: context)
        cinema.name = "Kosmos"
        var last: Screening?
        for number in 0..<6 {
            let screening = Screening(context: context)
            screening.date = Date(timeIntervalSince1970: Double(number) * 86_400 * 200)
            screening.guests = Int64(10 * number)
            screening.price = Decimal(number) * 2
            screening.isPublic = number != 1
            screening.cinema = number < 4 ? cinema : nil
            last = screening
        }
        try context.save()
        let all = try context.rows(ViewRows(of: Evenings.self))
        #expect(all.map(\.year) == [1972, 1970, 1971] && all.map(\.screenings) == [2, 1, 2])
        #expect(all.map(\.guests) == [90, 0, 50] && all.map(\.mean) == [45, 0, 25])
        #expect(all.first?.latest == last?.objectID && all.first?.cinema == nil)
        let best = ViewRows(of: Evenings.self).sorted(by: \.guests, ascending: false).prefix(1)
        #expect(try context.rows(best).map(\.guests) == [90])
        #expect(try context.explain(best.request).description.contains("in the order guests descending"))
        let some = ViewRows(of: Evenings.self).where { $0.guests > 40 && $0.year == 1971 }
        #expect(try context.rows(some).map(\.dearest) == [6])
        let prices = try context.rows(ViewRows(of: Prices.self))
        #expect(prices.map(\.from) == [0, 5, 10] && prices.map(\.sizes) == [3, 2, 1])
        #expect(prices.map(\.first) == [0, 600, 1_000].map { Date(timeIntervalSince1970: $0 * 86_400) })
    }
}
