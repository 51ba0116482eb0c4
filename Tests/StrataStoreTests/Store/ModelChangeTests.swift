import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Opening a store again with another model.
struct ModelChangeTests {
    private func model(_ properties: [PropertyDescription], name: String = "Note") throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [EntityDescription(name: name, properties: properties)])
    }

    private let text = PropertyDescription.attribute(AttributeDescription(name: "text", type: .string))

    private func number(_ type: AttributeType, default value: AttributeValue? = nil) -> PropertyDescription {
        .attribute(AttributeDescription(name: "number", type: type, defaultValue: value))
    }

    /// A directory with a store that had one model, and one object if asked for.
    private func withStore(
        _ properties: [PropertyDescription], object: [String: AttributeValue]?,
        _ body: (StoreLocation, ObjectID?) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let fixture = try StoreFixture(.directory(url), model: try model(properties))
        let id = try object.map { try fixture.insert("Note", $0) }
        fixture.store.close()
        try body(.directory(url), id)
    }

    @Test func olderRowsReadTheDefaultAPropertyWasBornWith() throws {
        try withStore([text, number(.integer16)], object: ["text": "a", "number": 3]) { location, id in
            let id = try #require(id)
            for (value, expected) in [(Int64(0), Int64(0)), (5, 0)] {
                let stars = PropertyDescription.attribute(
                    AttributeDescription(name: "stars", type: .integer16, defaultValue: .integer(value)))
                let fixture = try StoreFixture(location, model: try model([number(.integer64), stars, text]))
                defer { fixture.store.close() }
                let entity = try fixture.entity("Note")
                let row = try fixture.store.read(at: try fixture.store.head()) { try $0.row(id)?.converted(to: entity) }
                let bytes = try #require(row).bytes
                try bytes.withUnsafeBytes { bytes in
                    let reader = try RowReader(bytes, layout: entity.layout)
                    #expect(try reader.value(0) == .integer(3))
                    #expect(try reader.value(1) == .integer(expected))
                    #expect(try reader.value(2) == .string("a"))
                }
            }
        }
    }

    @Test func whatNoMigrationCanDoIsRefusedAndNothingIsWritten() throws {
        let changes = [
            [text, number(.uuid)], [text, number(.integer16), .attribute(.init(name: "x", type: .uuid))],
        ]
        for change in changes {
            try withStore([text, number(.integer16)], object: ["text": "a", "number": 3]) { location, _ in
                let error = #expect(throws: StrataError.self) {
                    try Store.open(location, model: try model(change))
                }
                #expect(error?.code == .migration)
                #expect(error?.details.count == 1)
                let store = try Store.open(location, model: nil)
                #expect(store.schema.version == ModelVersion(rawValue: 1))
                store.close()
            }
        }
    }

    @Test func emptyStoreTakesAnyModel() throws {
        try withStore([text, number(.integer16)], object: nil) { location, _ in
            let store = try Store.open(location, model: try model([text, number(.string)]))
            #expect(store.schema.version == ModelVersion(rawValue: 2))
            store.close()
        }
    }

    @Test func sameModelIsInstalledOnce() throws {
        try withStore([text], object: nil) { location, _ in
            let store = try Store.open(location, model: try model([text]))
            #expect(store.schema.version == ModelVersion(rawValue: 1))
            store.close()
        }
    }
}
