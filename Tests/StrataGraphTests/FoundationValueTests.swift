import Foundation
import StrataGraph
import StrataModel
import Testing

/// Values by name as `JSONSerialization` and property lists give them.
@Suite(.verifiesStores) struct FoundationValueTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try Porting.container([
            EntityDescription(
                name: "Thing",
                properties: [
                    Porting.attribute("name", .string), Porting.attribute("flag", .boolean),
                    Porting.attribute("small", .integer16), Porting.attribute("ratio", .double),
                    Porting.attribute("price", .decimal), Porting.attribute("made", .date),
                    Porting.attribute("bytes", .binaryData), Porting.attribute("key", .uuid),
                    Porting.attribute("page", .uri), Porting.many("parts", "Thing", "whole"),
                    Porting.one("whole", "Thing", "parts"),
                ])
        ])
        context = container.newBackgroundContext()
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func classesOfFoundationAreTaken() throws {
        let thing = try context.insertNewObject(forEntityName: "Thing")
        let made = Date(timeIntervalSinceReferenceDate: 1000), key = UUID()
        let given: [String: Any] = [
            "name": NSString(string: "A"), "flag": NSNumber(value: true), "small": NSNumber(value: 7),
            "ratio": NSNumber(value: 2), "price": NSDecimalNumber(string: "1.25"),
            "made": NSDate(timeIntervalSinceReferenceDate: 1000), "bytes": NSData(data: Data([1, 2])),
            "key": try #require(NSUUID(uuidString: key.uuidString)),
            "page": try #require(NSURL(string: "https://a.org")),
        ]
        for (name, value) in given { try thing.setValue(value, forKey: name) }
        #expect(try thing.text() == "A" && thing.value(forKey: "flag") as? Bool == true)
        #expect(try thing.value(forKey: "small") as? Int16 == 7 && thing.value(forKey: "ratio") as? Double == 2)
        #expect(try thing.value(forKey: "price") as? Decimal == Decimal(string: "1.25"))
        #expect(try thing.value(forKey: "made") as? Date == made && thing.value(forKey: "key") as? UUID == key)
        #expect(try thing.value(forKey: "bytes") as? Data == Data([1, 2]))
        #expect(try thing.value(forKey: "page") as? URL == URL(string: "https://a.org"))
        for name in given.keys {
            try thing.setValue(NSNull(), forKey: name)
            #expect(try thing.value(forKey: name) == nil, "\(name)")
        }
        #expect(thrownError { try thing.setValue(NSNumber(value: 1.5), forKey: "small") }?.code == .wrongType)
    }

    @Test func membersComeInAnyCollection() throws {
        let whole = try context.insertNewObject(forEntityName: "Thing")
        let part = try context.insertNewObject(forEntityName: "Thing")
        for list in [[part] as [Any], NSArray(array: [part]), NSSet(array: [part])] as [Any] {
            try whole.setValue(list, forKey: "parts")
            #expect(try whole.value(forKey: "parts") as? [ManagedObject] == [part])
            try whole.setValue(NSNull(), forKey: "parts")
            #expect(try part.value(forKey: "whole") == nil)
        }
    }

    @Test func aBatchTakesRowsFromJSON() throws {
        let whole = try context.insertNewObject(forEntityName: "Thing")
        try context.save()
        var row = try json(#"{"name": "A", "flag": true, "small": 1, "ratio": 2, "price": 1.5, "page": null}"#)
        row["whole"] = whole
        let result = try context.execute(BatchInsertRequest<ManagedObject>(entityName: "Thing", objects: [row]))
        #expect(result.count == 1)
        let found = try #require(try context.find("Thing", "name == 'A'").first)
        #expect(try found.value(forKey: "flag") as? Bool == true && found.value(forKey: "small") as? Int16 == 1)
        #expect(try found.value(forKey: "ratio") as? Double == 2 && found.value(forKey: "page") == nil)
        #expect(try found.value(forKey: "whole") as? ManagedObject === whole)
        try context.execute(
            BatchInsertRequest<ManagedObject>(
                entityName: "Thing", objects: [["name": "B", "parts": NSArray(array: [found.objectID, whole])]]))
        let other = try #require(try context.find("Thing", "name == 'B'").first)
        #expect(try (other.value(forKey: "parts") as? [ManagedObject])?.count == 2)
        let error = thrownError {
            _ = try BatchInsertRequest<ManagedObject>(entityName: "Thing", objects: [["name": NSObject()]])
        }
        #expect(error?.code == .wrongType && error?.context.key == "name" && error?.context.entityName == "Thing")
    }

    // MARK: Looking at objects

    @Test func anObjectDescribesItself() throws {
        let whole = try context.insertNewObject(forEntityName: "Thing")
        let thing = try context.insertNewObject(forEntityName: "Thing")
        try thing.setValue("A", forKey: "name")
        try thing.setValue(3, forKey: "small")
        try thing.setValue(whole, forKey: "whole")
        let name = "Thing/p\(thing.objectID.row)"
        #expect("\(thing)".hasPrefix("\(name), new; name: \"A\", flag: nil, small: 3, "))
        #expect("\(thing)".hasSuffix("whole: Thing/p\(whole.objectID.row)"))
        try context.save()
        #expect("\(thing)".hasPrefix("\(name), unchanged; "))
        context.refresh(thing, mergeChanges: false)
        #expect("\(thing)" == "\(name), a fault" && thing.isFault)
    }

    @Test func relationshipsTellWhereTheyLeadWithoutObjects() throws {
        let whole = try context.insertNewObject(forEntityName: "Thing")
        let part = try context.insertNewObject(forEntityName: "Thing")
        try part.setValue(whole, forKey: "whole")
        try context.save()
        let other = container.newBackgroundContext()
        let again = other.object(with: part.objectID)
        #expect(try again.objectIDs(forRelationshipNamed: "whole") == [whole.objectID])
        #expect(other.registeredObject(for: whole.objectID) == nil)
        #expect(try again.hasFault(forRelationshipNamed: "whole"))
        let owner = try other.existingObject(with: whole.objectID)
        #expect(try !again.hasFault(forRelationshipNamed: "whole"))
        #expect(try owner.hasFault(forRelationshipNamed: "parts"))
        #expect(try owner.objectIDs(forRelationshipNamed: "parts") == [part.objectID])
        #expect(try !owner.hasFault(forRelationshipNamed: "parts"))
        #expect(thrownError { _ = try owner.hasFault(forRelationshipNamed: "name") }?.code == .wrongType)
        let entity = owner.entity
        #expect(entity.attributesByName["name"]?.type == .string && entity.attributesByName["parts"] == nil)
        #expect(entity.relationshipsByName["parts"]?.isToMany == true && entity.propertiesByName.count == 11)
    }

    @Test func aContextUndoes() throws {
        try context.undo()
        context.undoManager = ObjectUndoManager()
        let thing = try context.insertNewObject(forEntityName: "Thing")
        try context.undo()
        #expect(thing.isDeleted && !context.hasChanges)
        try context.redo()
        #expect(thing.isInserted)
    }
}
