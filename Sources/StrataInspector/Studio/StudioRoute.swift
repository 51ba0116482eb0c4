import Foundation
import StrataModel
import StrataStore

/// Makes the page that a path below a store names.
enum StudioRoute {
    static func answer(_ path: [String], _ reading: StudioReading) throws -> StudioAnswer {
        switch (path.first ?? "model", path.count) {
        case ("model", 0...1): try StudioAnswer(json: ModelPage(reading))
        case ("model.svg", 1):
            StudioAnswer(contentType: "image/svg+xml", body: Data(try ModelDiagram(reading).svg.utf8))
        case ("timeline", 1): try StudioAnswer(json: TimelinePage(reading))
        case ("objects", 2): try StudioAnswer(json: ObjectsPage(path[1], reading))
        case ("export", 2): try ExportAnswer.answer(path[1], reading)
        case ("names", 2): try StudioAnswer(json: NamesPage(path[1], reading))
        case ("find", 2): try StudioAnswer(json: FoundPage(path[1], reading))
        case ("facet", 3): try StudioAnswer(json: FacetPage(path[1], path[2], reading))
        case ("object", 3): try StudioAnswer(json: ObjectPage("\(path[1])/\(path[2])", reading))
        case ("value", 4): try ValueAnswer.answer("\(path[1])/\(path[2])", path[3], reading)
        case ("transactions", 1): try StudioAnswer(json: TransactionsPage(reading))
        case ("transaction", 2): try StudioAnswer(json: TransactionPage(path[1], reading))
        case ("health", 1): try StudioAnswer(json: HealthPage(reading))
        default: throw StudioProblem(404, "There is no such page.")
        }
    }
}
