import LMDB
import StrataModel
import Testing

@testable import StrataStore

/// Migrations of a store in which the record of an earlier model is damaged.
struct DamagedModelTests {
    private let store = MigratedStore()

    private func film(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
        try Describe.model(
            EntityDescription(name: "Film", properties: [Describe.attribute("title", optional: true)] + properties),
            EntityDescription(name: "Person"))
    }

    /// What returns cannot be found without the model that had it, so the migration is refused until a rebuild.
    @Test(arguments: ["attribute", "relationship"]) func aMigrationThatMissesAModelIsRefused(kind: String) throws {
        defer { store.remove() }
        let returning =
            kind == "attribute"
            ? Describe.attribute("gross", .integer64, optional: true) : Describe.toOne("maker", "Person")
        let more = Describe.attribute("year", .integer64, optional: true)
        let (key, film, value) = try store.open(self.film(returning)) { fixture in
            let person = try fixture.insert("Person", [:])
            let (key, value): (String, AttributeValue) =
                kind == "attribute" ? ("gross", .integer(7)) : ("maker", .objectID(person))
            return (key, try fixture.insert("Film", [key: value]), value)
        }
        try store.open(self.film()) { _ in }
        try store.open { opened in
            let tables = opened.file.tables
            let record = try opened.file.environment.read { try $0.get(tables.models, 1).map(Array.init) ?? [] }
            try opened.file.environment.write { transaction in
                try record.dropLast(10).withUnsafeBytes { try transaction.put(tables.models, 1, $0) }
            }
        }
        let error = #expect(throws: StrataError.self) { try store.open(self.film(returning, more)) { _ in } }
        #expect(error?.code == .corrupt && error?.message.contains("model 1") == true, "\(error as Any)")
        let (version, unequal) = try store.open { opened in
            (opened.schema.version, try opened.rebuild().tables.filter { !$0.isEqual }.map(\.name))
        }
        #expect(version == ModelVersion(rawValue: 2) && unequal == ["models"])
        let held = try store.open(self.film(returning, more)) { try $0.values(film)?[key] }
        #expect(held == value)
    }
}
