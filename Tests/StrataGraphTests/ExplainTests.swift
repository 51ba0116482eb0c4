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
}
