import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct ExplainTests {
    @Test func explainShowsTheStepsOfTheRequestWithWhatTheyYield() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        for index in 0..<40 { Movie(context: context).title = "Movie \(index)" }
        try context.save()
        Movie(context: context).title = "Movie 7 unsaved"
        let request = try FetchRequest<Movie>(
            where: .beginsWith("title", "Movie 7"), sortedBy: [SortDescription(\Movie.title, isNatural: true)])
        let plan = try context.explain(request)
        #expect(plan.result.rows == 2)
        #expect(plan.steps.map(\.operation).prefix(2) == [.result, .sort])
        #expect(plan.description.hasPrefix("objects of Movie  rows 2 (estimated "))
        #expect(plan.steps.last?.index == "title")
        #expect(try context.fetch(request).map(\.title) == ["Movie 7", "Movie 7 unsaved"])
    }

    @Test func conditionsOnObjectsNameThemByEntity() throws {
        let context = try makeContainer().newBackgroundContext()
        let member = FamilyMember(context: context)
        member.name = "Ann"
        for index in 0..<3 {
            let movie = Movie(context: context)
            (movie.title, movie.familyMember) = ("Movie \(index)", index == 0 ? member : nil)
        }
        try context.save()
        let id = member.objectID
        let request = try FetchRequest<Movie>(format: "familyMember != %@ OR title == %@", id, "\(id)")
        let plan = try context.explain(request).description
        #expect(plan.contains("familyMember != FamilyMember/p\(id.row)"), "\(plan)")
        #expect(plan.contains("title == \"\(id)\""), "A text that looks like an id stays as it is: \(plan)")
    }

    @Test func thePastAndUnsavedChangesAreExplainedToo() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        for index in 0..<400 { Movie(context: context).title = "Movie \(index)" }
        try context.save()
        let then = context.eventNumber
        let request = try FetchRequest<Movie>(where: .beginsWith("title", "Movie 1"))
        let all = try context.fetch(request)
        all.prefix(11).forEach(context.delete)
        try context.save()
        Movie(context: context).title = "Movie 1 unsaved"
        Movie(context: context).title = "Movie 2 unsaved"
        let past = try container.context(asOf: .event(then))
        for (context, found) in [(past, 111), (container.newBackgroundContext(), 100), (context, 101)] {
            let plan = try context.explain(request)
            let index = try #require(plan.steps.first { $0.operation == .index }, "\(plan)")
            #expect(index.index == "title" && index.rows == found && plan.result.rows == found, "\(plan)")
            #expect(index.estimatedRows > 1 && index.estimatedRows < 400, "\(plan)")
            #expect(plan.steps.allSatisfy { $0.nanoseconds >= 0 } && plan.result.nanoseconds > 0)
            #expect(plan.description.contains("index title") && plan.description.contains(" ms"), "\(plan)")
        }
    }

    @Test func estimatesAreWrittenAsPreciselyAsTheyAre() {
        func text(_ rows: Double) -> String {
            QueryExplanation.Step(.scan, "scan", estimatedRows: rows, rows: 2, nanoseconds: 1500).description
        }
        #expect(text(17_143) == "scan  rows 2 (estimated 17143), 0.002 ms")
        #expect(text(342.86) == "scan  rows 2 (estimated 343), 0.002 ms")
        #expect(text(0.25) == "scan  rows 2 (estimated 0.3), 0.002 ms")
        #expect(text(.infinity) == "scan  rows 2 (estimated inf), 0.002 ms")
    }
}
