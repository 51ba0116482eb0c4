import Foundation
import StrataGraph
import StrataModel

/// Texts in Strata, with a full text or without one.
final class StrataTexts {
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init(at url: URL, listsWords: Bool) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Text",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "plot", type: .string)),
                ], fullText: listsWords ? ["title", "plot"] : [])
        ])
        container = PersistentContainer(name: "texts", model: model, at: .url(url))
        try container.loadPersistentStores()
        context = container.newBackgroundContext()
    }

    func close() { container.close() }

    /// Adds texts in one save.
    func insert(_ texts: MadeTexts, _ range: Range<Int>) throws {
        let rows = range.map { ["title": AttributeValue.string(texts.titles[$0]), "plot": .string(texts.plots[$0])] }
        _ = try context.execute(BatchInsertRequest<ManagedObject>(entityName: "Text", rows))
    }

    /// The numbers of the best texts.
    func best(_ query: String, _ count: Int) throws -> [Int] {
        var request = try FetchRequest<ManagedObject>(entityName: "Text").matching(query)
        request.fetchLimit = count
        return try context.fetchObjectIDs(request).map { Int($0.row) }
    }

    func count(_ query: String) throws -> Int {
        try context.count(for: FetchRequest<ManagedObject>(entityName: "Text", where: .matchesText(query)))
    }
}
