import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataGraph

/// The middle of ratings, which no aggregate has.
struct MiddleRating: ViewProjection {
    static var inputs: [PartialKeyPath<Movie>] { [\.rating] }
    private var counts: [Double: Int] = [:]
    init() {}

    mutating func add(_ row: ProjectedRow<Movie>) throws { count(try row.rating, 1) }
    mutating func remove(_ row: ProjectedRow<Movie>) throws { count(try row.rating, -1) }

    private mutating func count(_ rating: Double, _ sign: Int) {
        counts[rating, default: 0] += sign
        if counts[rating] == 0 { counts[rating] = nil }
    }

    var value: Double? {
        let sorted = counts.sorted { $0.key < $1.key }.flatMap { Array(repeating: $0.key, count: $0.value) }
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }
}

/// The different titles.
struct TitleSet: ViewProjection {
    static var inputs: [PartialKeyPath<Movie>] { [\.title, \.familyMember] }
    private var members: [String: Set<ObjectID>] = [:]
    private(set) var titles: [String: Int] = [:]
    init() {}

    mutating func add(_ row: ProjectedRow<Movie>) throws { titles[try row.title, default: 0] += 1 }

    mutating func remove(_ row: ProjectedRow<Movie>) throws {
        let title = try row.title
        titles[title, default: 0] -= 1
        if titles[title] == 0 { titles[title] = nil }
    }
}

/// Breaks the laws: what it says depends on the order.
struct LastTitle: ViewProjection {
    static var inputs: [PartialKeyPath<Movie>] { [\.title] }
    private var titles: [String] = []
    init() {}
    mutating func add(_ row: ProjectedRow<Movie>) throws { titles.append(try row.title) }
    mutating func remove(_ row: ProjectedRow<Movie>) throws {
        let title = try row.title
        titles.removeAll { $0 == title }
    }
}

/// Breaks the laws: sums of floating-point numbers are rounded.
struct DriftingSum: ViewProjection {
    static var inputs: [PartialKeyPath<Movie>] { [\.rating] }
    private var sum = 0.0
    init() {}
    mutating func add(_ row: ProjectedRow<Movie>) throws { sum += try row.rating }
    mutating func remove(_ row: ProjectedRow<Movie>) throws { sum -= try row.rating }
}

/// Types of the app that make columns of views.
@Suite(.verifiesStores) struct ProjectionViewTests {
    private func made(
        _ change: (ViewSource<Movie>) -> ViewSource<Movie> = { $0 }
    ) throws -> PersistentContainer {
        try ViewMovies.container(
            change(
                ViewSource(Movie.self, named: "Middles").grouped(by: \.title).counting(as: "movies")
                    .projecting(MiddleRating.self, as: "middle")))
    }

    @discardableResult
    private func movie(_ title: String, _ rating: Double, _ context: ManagedObjectContext) -> Movie {
        ViewMovies.movie(title, rating, context)
    }

    private func middles(_ context: ManagedObjectContext) throws -> [String: Double?] {
        let rows = try context.rows(of: "Middles")
        return Dictionary(
            uniqueKeysWithValues: try rows.map { row in
                let row = Array(row)
                guard case .string(let title) = row[0] else { throw StrataError(.wrongType, "\(row)") }
                return (title, try MiddleRating(projected: row[2]).value)
            })
    }

    @Test func statesAreReadWithUnsavedChangesAndAtPastMoments() throws {
        let container = try made()
        let context = container.newBackgroundContext()
        let first = movie("A", 1, context)
        movie("A", 3, context)
        movie("A", 5, context)
        #expect(try middles(context) == ["A": 3])
        try context.save()
        let early = context.eventNumber
        first.rating = 4
        movie("B", 2, context)
        #expect(try middles(context) == ["A": 4, "B": 2])
        try context.save()
        #expect(try middles(context) == ["A": 4, "B": 2])
        #expect(try middles(container.context(asOf: .event(early))) == ["A": 3])
        try context.fetch(FetchRequest<Movie>()).forEach { if $0.title == "A" { context.delete($0) } }
        try context.save()
        #expect(try middles(context) == ["B": 2])
        #expect(try container.verify().uncheckedViews.isEmpty)
        #expect(try container.rebuildViews().isUnchanged)
    }

    @Test func aStateThatCatchesUpIsExact() throws {
        let container = try made { $0.catchingUp() }
        let context = container.newBackgroundContext()
        for rating in [1.0, 2, 4] { movie("A", rating, context) }
        try context.save()
        try container.wait(forView: "Middles")
        movie("A", 5, context)
        movie("A", 5, context)
        #expect(try middles(context) == ["A": 4])
        try context.save()
        #expect(try middles(context) == ["A": 4])
        try container.wait(forView: "Middles")
        #expect(try middles(context) == ["A": 4])
    }

    @MainActor @Test func liveRowsTellOfAChangedState() async throws {
        let container = try made()
        let context = container.viewContext
        let first = movie("A", 1, context)
        try context.save()
        var count = 0
        for try await update in context.rows(for: ViewFetchRequest("Middles")) {
            count += 1
            let middle = try MiddleRating(projected: Array(update.rows[0])[2]).value
            if count == 1 {
                #expect(middle == 1)
                first.rating = 2
                context.processPendingChanges()
                continue
            }
            #expect(update.difference?.changed == [0] && middle == 2)
            break
        }
        try context.save()
    }

    // MARK: Laws

    @Test func typesThatKeepTheLawsPass() throws {
        try MiddleRating.checkLaws()
        try MiddleRating.checkLaws { ProjectedRow([\.rating: Double(Int.random(in: 0...9, using: &$0))]) }
        for seed in 1...5 { try TitleSet.checkLaws(histories: 100, seed: UInt64(seed)) }
    }

    @Test func theShortestHistoryThatBreaksALawIsNamed() throws {
        let order = #expect(throws: ProjectionLawViolation.self) { try LastTitle.checkLaws() }
        #expect((2...4).contains(order?.history.count ?? 0), "\(String(describing: order))")
        #expect(order?.description.contains("History: add ") == true && order?.rows.isEmpty == false)
        let drift = #expect(throws: ProjectionLawViolation.self) { try DriftingSum.checkLaws() }
        #expect((drift?.history.count ?? 9) <= 6, "\(String(describing: drift))")
        let missing = #expect(throws: ProjectionLawViolation.self) {
            try MiddleRating.checkLaws { _ in ProjectedRow([\.title: "A"]) }
        }
        #expect(missing?.history == ["add 1"] && missing?.reason.contains("refused") == true)
    }

    @Test func equalStatesAreEqualCompositesHoweverTheyWereMade() throws {
        struct Bag: Codable, Equatable {
            var names: Set<String>
            var counts: [Double: Int]
        }
        let names = (0..<40).map { "n\($0)" }
        let first = Bag(
            names: Set(names), counts: Dictionary(uniqueKeysWithValues: names.indices.map { (Double($0) / 4, $0) }))
        var second = Bag(names: Set(minimumCapacity: 1000), counts: Dictionary(minimumCapacity: 1000))
        for index in names.indices.reversed() {
            second.names.insert(names[index])
            second.counts[Double(index) / 4] = index
        }
        let (left, right) = (try AttributeValueEncoder.encode(first), try AttributeValueEncoder.encode(second))
        #expect(left == right)
        #expect(try AttributeValueDecoder.decode(Bag.self, from: left) == first)
    }
}
