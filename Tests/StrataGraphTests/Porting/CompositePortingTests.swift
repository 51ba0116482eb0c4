import Foundation
import StrataGraph
import StrataModel
import Testing

/// Composites set by key, as importers and forms do.
@Suite(.verifiesStores) struct CompositePortingTests {
    let context: ManagedObjectContext
    let place: ManagedObject

    init() throws {
        let position = AttributeDescription(
            name: "position", type: .composite, isOptional: true,
            elements: [
                AttributeDescription(name: "latitude", type: .double, isOptional: true),
                AttributeDescription(name: "floor", type: .integer16, isOptional: true),
                AttributeDescription(
                    name: "label", type: .composite, isOptional: true,
                    elements: [AttributeDescription(name: "text", type: .string, isOptional: true)]),
            ])
        let container = try Porting.container([
            EntityDescription(
                name: "Place", properties: [Porting.attribute("name", .string), .attribute(position)])
        ])
        context = container.newBackgroundContext()
        place = try context.insertNewObject(forEntityName: "Place")
    }

    private func refusal(_ value: [String: Any]) throws -> StrataError {
        try #require(throws: StrataError.self) { try place.setValue(value, forKey: "position") }
    }

    @Test func anUnknownElementIsRefusedByName() throws {
        let error = try refusal(["altitude": 1.0])
        #expect(error.code == .unknownKey && error.message == "position has no element named altitude.")
        #expect(try refusal(["label": ["size": 1]]).message == "position.label has no element named size.")
        #expect(try place.value(forKey: "position") == nil)
    }

    @Test func anElementOfAnotherTypeIsRefusedByName() throws {
        let error = try refusal(["latitude": "north"])
        #expect(error.code == .wrongType && error.message.hasPrefix("position.latitude takes "))
        #expect(try refusal(["floor": 70_000]).code == .wrongType)
        #expect(try refusal(["label": ["text": 5]]).message.hasPrefix("position.label.text takes "))
    }

    @Test func elementsTakeTheTypesOfTheModel() throws {
        try place.setValue(["latitude": 3, "floor": 2.0, "label": ["text": "x"]], forKey: "position")
        try context.save()
        context.reset()
        let saved = try #require(try context.find("Place", "position.latitude == 3.0 AND position.floor == 2").first)
        #expect(try saved.value(forKeyPath: "position.latitude") as? Double == 3)
        #expect(try saved.value(forKeyPath: "position.label.text") as? String == "x")
    }
}
