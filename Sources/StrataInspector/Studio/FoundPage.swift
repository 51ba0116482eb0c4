import StrataModel
import StrataStore

/// The objects of an entity that words may mean, for a field that takes an object.
///
/// Parameters: `text`, words that a text of the object has.
struct FoundPage: Encodable {
    let objects: [ObjectPage.Member]

    private static let most = 10

    init(_ name: String, _ reading: StudioReading) throws {
        let entity = try StudioProblem.of("entity") { try reading.moment.entity(named: name) }
        let words = try reading.text("text") ?? ""
        let condition = WordSearch.condition(for: words, of: entity, reading.moment.schema)
        objects = try condition.map { try Self.objects(meeting: $0, of: entity, reading) } ?? []
    }

    private static func objects(
        meeting condition: String, of entity: EntitySchema, _ reading: StudioReading
    ) throws -> [ObjectPage.Member] {
        let request = StoreRequest(entityID: entity.id, predicate: try FetchPredicate(format: condition), limit: most)
        let found = try StudioProblem.of("text") { try reading.read { try $0.fetch(request) } }
        return found.map { ObjectPage.Member(object: reading.names.name(of: $0), label: reading.links.label(of: $0)) }
    }
}
