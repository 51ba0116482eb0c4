import Foundation
import Strata
import Testing

/// Values that are not in rows as they are: in memory only, computed by the class, or stored by the standard transformer.
@Suite struct OwnValuesTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let rocket: Rocket

    init() throws {
        container = try makeOpenContainer([Rocket.self])
        context = container.newBackgroundContext()
        rocket = Rocket(context: context)
        rocket.name = "R7"
    }

    private func saved() throws -> Rocket {
        try context.save()
        return try container.newBackgroundContext().existingObject(with: rocket.objectID, as: Rocket.self)
    }

    // MARK: In memory

    @Test func anAttributeInMemoryHasItsInitialValue() throws {
        #expect(rocket.speed == 3 && rocket.height == 0.5 && rocket.mood == .calm && rocket.trail == ["pad"])
        #expect(try rocket.value(forKey: "speed") as? Int64 == 3 && rocket.value(forKey: "height") as? Double == 0.5)
        rocket.speed = 5
        rocket.height = nil
        rocket.mood = .wild
        rocket.trail.append("sky")
        #expect(rocket.speed == 5 && rocket.height == nil && rocket.mood == .wild && rocket.trail == ["pad", "sky"])
        let read = try saved()
        #expect(read.speed == 3 && read.height == 0.5 && read.mood == .calm && read.trail == ["pad"])
        #expect(rocket.speed == 5, "What is in memory stays there.")
        let speed = try container.attribute("Rocket", "speed")
        #expect(speed.isTransient && speed.type == .integer64 && speed.defaultValue == 3)
    }

    @Test func anAttributeInMemoryIsSetByName() throws {
        try rocket.setValue(Int16(7), forKey: "speed")
        try rocket.setValue("wild", forKey: "mood")
        #expect(rocket.speed == 7 && rocket.mood == .wild)
        try rocket.setValue(nil, forKey: "height")
        #expect(rocket.height == nil)
        #expect(throws: StrataError.self) { try rocket.setValue("fast", forKey: "speed") }
        #expect(rocket.speed == 7 && !rocket.changedValues.keys.contains("speed"))
    }

    // MARK: By name

    @Test func variablesOfTheClassAreReadByName() throws {
        #expect(try rocket.value(forKey: "title") as? String == "Rocket R7")
        #expect(try rocket.value(forKey: "nick") as? String == "R")
        #expect(
            try rocket.value(forKey: "crew") as? Int == 2 && rocket.value(forKey: "builder") as? String == "Korolev")
        rocket.stages = ["a", "b"]
        #expect(try rocket.value(forKey: "weight") as? Int == 2)
        #expect(try rocket.value(forKeyPath: "title.length") as? Int == 9)
        rocket.name = ""
        #expect(try rocket.value(forKey: "nick") == nil)
        #expect(try FetchPredicate(format: "title == 'Rocket ' AND crew > 1").evaluate(with: rocket))
        for key in ["remote", "secret", "shared", "titel"] {
            let error = #expect(throws: StrataError.self) { try rocket.value(forKey: key) }
            #expect(error?.code == .unknownKey)
        }
        #expect(throws: StrataError.self) { try FetchRequest<Rocket>(format: "title == 'x'") }
    }

    // MARK: The standard transformer

    @Test func everyCodableTypeAndWhatPropertyListsHaveIsStored() throws {
        rocket.nozzle = Nozzle(name: "N1", angles: [0.5, -.infinity])
        rocket.stages = ["one", "two"]
        rocket.names = ["a": 1]
        rocket.angles = [1, 2]
        rocket.manifest = ["fuel": 9.5, "parts": ["x", 2, true, Data([1])], "date": Date(timeIntervalSince1970: 5)]
        let read = try saved()
        #expect(read.nozzle == Nozzle(name: "N1", angles: [0.5, -.infinity]))
        #expect(read.stages == ["one", "two"] && read.names == ["a": 1] && read.angles == [1, 2])
        let manifest = try #require(read.manifest)
        #expect(manifest["fuel"] as? Double == 9.5 && manifest["date"] as? Date == Date(timeIntervalSince1970: 5))
        #expect((manifest["parts"] as? [Any])?.count == 4)
        #expect(try read.value(forKey: "stages") as? [String] == ["one", "two"])
        rocket.nozzle = nil
        try context.save()
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: rocket.objectID, as: Rocket.self).nozzle == nil)
    }

    @Test func equalValuesHaveEqualBytes() throws {
        rocket.names = Dictionary(uniqueKeysWithValues: (0..<50).map { ("key \($0)", $0) })
        try context.save()
        rocket.names = Dictionary(uniqueKeysWithValues: (0..<50).reversed().map { ("key \($0)", $0) })
        #expect(rocket.changedValues.isEmpty)
    }

    @Test func aValueOfAnotherTypeIsRefused() throws {
        try rocket.setValue(["one"] as NSArray, forKey: "stages")
        #expect(rocket.stages == ["one"])
        let error = #expect(throws: StrataError.self) { try rocket.setValue(5, forKey: "stages") }
        #expect(error?.code == .transformation && rocket.stages == ["one"])
        #expect(throws: StrataError.self) { try rocket.setValue(Scratch(), forKey: "nozzle") }
    }

    @Test func anEntityWithoutClassHasItToo() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Thing",
                properties: ["plain", "typed", "named"].map {
                    .attribute(
                        AttributeDescription(
                            name: $0, type: .transformable, isOptional: true,
                            valueTransformerName: $0 == "named" ? "NSSecureUnarchiveFromData" : nil))
                })
        ])
        let container = PersistentContainer(name: "Test", model: model, at: .inMemory)
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let thing = try context.insertNewObject(forEntityName: "Thing")
        try thing.setValue(["a": 1, "b": [1.5, "x", NSNull()], "c": ["d": true]] as [String: Any], forKey: "plain")
        try thing.setValue(Nozzle(name: "N", angles: [1]), forKey: "typed")
        try thing.setValue(["x", "y"], forKey: "named")
        try context.save()
        let read = try container.newBackgroundContext().existingObject(with: thing.objectID)
        let plain = try #require(try read.value(forKey: "plain") as? [String: Any])
        #expect(plain["a"] as? Int == 1 && (plain["b"] as? [Any])?.count == 3)
        #expect(
            (plain["b"] as? [Any])?.first as? Double == 1.5 && (plain["c"] as? [String: Any])?["d"] as? Bool == true)
        #expect((try read.value(forKey: "typed") as? [String: Any])?["name"] as? String == "N")
        #expect(try read.value(forKey: "named") as? [String] == ["x", "y"])
        let error = #expect(throws: StrataError.self) { try thing.setValue(Scratch(), forKey: "plain") }
        #expect(error?.code == .transformation)
    }
}
