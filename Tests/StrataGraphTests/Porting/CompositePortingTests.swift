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

    // MARK: Batches

    private func update(_ values: [String: FetchExpression]) throws {
        try context.execute(BatchUpdateRequest<ManagedObject>(entityName: "Place", setting: values))
    }

    private func elements() throws -> [String?] {
        try ["latitude", "floor", "label.text"].map { path in
            try place.value(forKeyPath: "position.\(path)").map { "\($0)" }
        }
    }

    @Test func aBatchSetsOneElementAndLeavesTheOthers() throws {
        try place.setValue(["latitude": 3, "floor": 2], forKey: "position")
        try context.save()
        try update(["position.latitude": .constant(.integer(4)), "name": .constant(.string("n"))])
        #expect(try elements() == ["4.0", "2", nil] && place.text() == "n")
        try update([
            "position.label.text": .constant(.string("x")),
            "position.floor": try FetchExpression(format: "position.floor + 1"),
        ])
        #expect(try elements() == ["4.0", "3", "x"])
        try update(["position.latitude": .constant(.null), "position.label": .constant(.null)])
        #expect(try elements() == [nil, "3", nil])
        #expect(try context.find("Place", "position.latitude == nil AND position.floor == 3").count == 1)
        // Of a composite that is nil.
        try update(["position": .constant(.null)])
        try update(["position.label.text": .constant(.null)])
        #expect(try place.value(forKey: "position") == nil)
        try update(["position.label.text": .constant(.string("y"))])
        #expect(try elements() == [nil, nil, "y"])
    }

    @Test func aBatchNamesTheElementThatItRefuses() throws {
        try context.save()
        func refusal(_ values: [String: FetchExpression]) throws -> StrataError {
            try #require(throws: StrataError.self) { try update(values) }
        }
        let unknown = try refusal(["position.altitude": .constant(.integer(1))])
        #expect(unknown.code == .unknownKey && unknown.message == "position has no element named altitude.")
        #expect(unknown.context.key == "position.altitude" && unknown.context.entityName == "Place")
        #expect(
            try refusal(["position.label.size": .constant(.null)]).message.hasPrefix("position.label has no element"))
        #expect(try refusal(["name.length": .constant(.null)]).code == .unknownKey)
        #expect(try refusal(["position.": .constant(.null)]).code == .unknownKey)
        let type = try refusal(["position.latitude": .constant(.string("north"))])
        #expect(type.code == .wrongType && type.message.hasPrefix("position.latitude takes "))
        #expect(type.context.key == "position.latitude")
        let both = try refusal(["position": .constant(.null), "position.floor": .constant(.integer(1))])
        #expect(both.code == .invalidRequest && both.context.key == "position")
        let whole = try refusal(["position": .constant(.composite(["altitude": .integer(1)]))])
        #expect(whole.code == .unknownKey && whole.message == "position has no element named altitude.")
        #expect(try place.value(forKey: "position") == nil)
    }

    /// As `JSONSerialization` gives them, and by key paths.
    @Test func aBatchInsertsElements() throws {
        context.delete(place)
        let rows: [[String: Any]] = [
            ["name": "a", "position": ["latitude": 3, "floor": NSNull()]],
            ["name": "b", "position.latitude": 3, "position.label.text": "x"],
            ["name": "c", "position.latitude": NSNull()],
            ["name": "d", "position": NSNull()],
        ]
        try context.execute(BatchInsertRequest<ManagedObject>(entityName: "Place", objects: rows))
        let found = try context.find("Place").sorted { try $0.text() ?? "" < $1.text() ?? "" }
        #expect(try found.map { try $0.value(forKeyPath: "position.latitude") as? Double } == [3, 3, nil, nil])
        #expect(try found[1].value(forKeyPath: "position.label.text") as? String == "x")
        #expect(try found.map { try $0.value(forKey: "position") == nil } == [false, false, true, true])
        func refusal(_ row: [String: Any]) throws -> StrataError {
            try #require(throws: StrataError.self) {
                try context.execute(BatchInsertRequest<ManagedObject>(entityName: "Place", objects: [row]))
            }
        }
        #expect(try refusal(["position": ["altitude": 1]]).message.hasSuffix("position has no element named altitude."))
        #expect(try refusal(["position.altitude": 1]).message.hasSuffix("position has no element named altitude."))
        #expect(try refusal(["position.floor": 70_000]).message.contains("position.floor takes "))
        #expect(try refusal(["position": NSNull(), "position.floor": 1]).code == .invalidRequest)
        #expect(try context.find("Place").count == 4)
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
