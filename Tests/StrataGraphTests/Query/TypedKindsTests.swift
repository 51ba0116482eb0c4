import Foundation
import StrataGraph
import StrataModel
import Testing

/// Typed queries over hand-written entities: every kind of attribute, subentities, and relationships of every shape.
@Suite(.verifiesStores) struct TypedKindsTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let one: Kinds
    let two: Kinds

    init() throws {
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: "Color")
        container = try makeContainer([Kinds.self] + graphEntities)
        context = container.newBackgroundContext()
        one = Kinds(context: context)
        two = Kinds(context: context)
        for object in [one, two] {
            object.medium = 1
            object.large = 1
            object.plain = 1
            object.single = 1
            object.double = 1
            object.money = 1
        }
        one.text = "one"
        one.textOrNil = "Ärger"
        one.flagOrNil = true
        one.small = 3
        one.medium = 30
        one.large = 1 << 40
        one.plainOrNil = 7
        one.single = 0.1
        one.doubleOrNil = 2.5
        one.money = 1.25
        one.moneyOrNil = 0.1
        one.date = Date(timeIntervalSinceReferenceDate: 1000.5)
        one.id = UUID(uuidString: "A6C57AB1-CA6F-4B24-B1DE-5B90BE8C2C0C")
        one.url = URL(string: "https://example.org/a")
        one.data = Data([1, 2, 3])
        one.other = two.objectID
        one.mood = .wild
        one.moodOrNil = .calm
        one.priority = .high
        one.place = Place(street: "Main", coordinates: [], floor: 3)
        two.text = "two"
    }

    private func found(_ condition: (ObjectExpression<Kinds>) -> ValueExpression<Bool>) throws -> [String] {
        try context.fetch(FetchRequest<Kinds>().where(condition).sorted(by: \.text)).map(\.text)
    }

    @Test func everyKindOfAttributeIsCompared() throws {
        for _ in 0..<2 {
            #expect(try found { $0.flag && $0.flagOrNil == true } == ["one"])
            #expect(try found { $0.small == 3 } == ["one"])
            #expect(try found { $0.small < 0 } == ["two"])
            #expect(try found { $0.medium > 29 && $0.large == 1 << 40 } == ["one"])
            #expect(try found { $0.plainOrNil != nil } == ["one"])
            #expect(try found { $0.single == 0.1 } == ["one"])
            #expect(try found { $0.doubleOrNil.isBetween(2, 3) } == ["one"])
            #expect(try found { $0.money == 1.25 && $0.moneyOrNil < 0.2 } == ["one"])
            #expect(try found { $0.date == Date(timeIntervalSinceReferenceDate: 1000.5) } == ["one"])
            #expect(try found { $0.id == one.id } == ["one"])
            #expect(try found { $0.url == one.url } == ["one"])
            #expect(try found { $0.data == Data([1, 2, 3]) } == ["one"])
            #expect(try found { $0.other == two.objectID } == ["one"])
            #expect(try found { $0.mood == .wild } == ["one"])
            #expect(try found { $0.moodOrNil == nil } == ["two"])
            #expect(try found { $0.priority.isIn([.high]) } == ["one"])
            #expect(try found { $0.place == nil } == ["two"])
            #expect(try found { $0.place == Place(street: "Main", coordinates: [], floor: 3) } == ["one"])
            #expect(try found { $0.place != Place(street: "Main", coordinates: [], floor: 3) } == [])
            #expect(
                try found { $0.textOrNil.begins(with: "arg", [.caseInsensitive, .diacriticInsensitive]) } == ["one"])
            try context.save()
        }
    }

    @Test func whatTheStoreCannotCompareIsRefused() throws {
        // The elements of a Codable type are not in the model.
        let element = thrownError {
            _ = try FetchRequest<Kinds>().where { $0.place.element("floor", as: Int.self) > 2 }
        }
        #expect(element?.code == .unknownKey)
        #expect(throws: StrataError.self) { try FetchRequest<Kinds>(format: "note == nil") }
    }

    @Test func subentitiesHaveTheirParentsProperties() throws {
        let boss = Person(context: context)
        boss.name = "Boss"
        let employee = Employee(context: context)
        employee.name = "Ann"
        employee.salary = 100
        employee.boss = boss
        employee.friends = [boss]
        try context.save()
        #expect(
            try context.fetch(FetchRequest<Employee>().where { $0.name == "Ann" && $0.salary >= 100 }) == [employee])
        #expect(try context.fetch(FetchRequest<Person>().where { $0.boss.name == "Boss" }) == [employee])
        #expect(try context.fetch(FetchRequest<Person>().where { $0.friends.contains(employee) }) == [boss])
        #expect(try context.fetch(FetchRequest<Person>().where { $0.boss == boss }) == [employee])
        #expect(try context.fetch(FetchRequest<Person>().where { $0 == boss }) == [boss])
        #expect(try context.fetch(FetchRequest<Person>().where { $0.reports.count == 1 }) == [boss])
        var request = FetchRequest<Person>()
        #expect(try context.count(for: request) == 2)
        request.includesSubentities = false
        #expect(try context.fetch(request) == [boss])
    }

    @Test func aBatchOverAParentReachesItsSubentities() throws {
        try context.execute(BatchInsertRequest<Employee>([["name": "Ann", "salary": 100], ["name": "Bob"]]))
        try context.execute(BatchInsertRequest<Person>([["name": "Cid"]]))
        let result = try context.execute(BatchUpdateRequest<Person>().setting(\.name) { $0.name.uppercased() })
        #expect(result.count == 3)
        #expect(try context.fetch(FetchRequest<Person>().sorted(by: \.name)).map(\.name) == ["ANN", "BOB", "CID"])
        var delete = BatchDeleteRequest<Person>()
        delete.includesSubentities = false
        #expect(try context.execute(delete).count == 1)
        #expect(try context.execute(BatchDeleteRequest<Person>()).count == 2)
        #expect(try container.verify().isSound)
    }

    @Test func aBatchDeleteWithoutAClassTakesTheEntityFromTheIds() throws {
        let cid = Person(context: context), ann = Employee(context: context)
        let club = Club(context: context)
        cid.name = "Cid"
        ann.name = "Ann"
        club.title = "C"
        try context.save()
        let mixed = try #require(throws: StrataError.self) {
            try context.execute(BatchDeleteRequest<ManagedObject>([cid.objectID, club.objectID]))
        }
        #expect(mixed.code == .wrongType && mixed.context.objectID == club.objectID)
        #expect(mixed.context.entityName == "Person")
        #expect(try context.count(for: FetchRequest<Person>()) == 2)
        #expect(try context.execute(BatchDeleteRequest<ManagedObject>([])).count == 0)
        let unknown = ObjectID(rawValue: 900 << 48 | 1)
        #expect(throws: StrataError.self) { try context.execute(BatchDeleteRequest<ManagedObject>([unknown])) }
        let people = [ann.objectID, cid.objectID]
        #expect(try context.execute(BatchDeleteRequest<ManagedObject>(people)).count == 2)
        #expect(try context.execute(BatchDeleteRequest<ManagedObject>(people)).count == 0)
        #expect(try context.execute(BatchDeleteRequest<ManagedObject>([club.objectID])).count == 1)
        #expect(try container.verify().isSound)
    }

    @Test func aBatchDeleteObeysTheRulesOfEveryShapeOfRelationship() throws {
        let ann = Person(context: context), bob = Person(context: context)
        ann.name = "Ann"
        bob.name = "Bob"
        let passport = Passport(context: context)
        passport.number = "1"
        passport.holder = ann
        ann.friends = [bob]
        bob.boss = ann
        let club = Club(context: context)
        club.title = "C"
        club.members = [ann, bob]
        try context.save()
        let before = context.eventNumber
        try context.execute(BatchDeleteRequest<Person>([ann.objectID]))
        #expect(passport.holder == nil && bob.boss == nil)
        #expect(Array(club.members) == [bob] && bob.friends.isEmpty)
        let past = try container.context(asOf: .event(before))
        #expect(try past.count(for: FetchRequest<Person>()) == 2)
        #expect(try container.verify().isSound)
    }

    @Test func aOneToOneInABatchSetsBothEnds() throws {
        let person = Person(context: context)
        person.name = "Ann"
        try context.save()
        try context.execute(
            BatchInsertRequest<Passport>([["number": "1", "holder": .objectID(person.objectID)]]))
        let passport = try #require(try context.fetch(FetchRequest<Passport>()).first)
        #expect(passport.holder === person && person.passport === passport)
        #expect(try container.verify().isSound)
    }
}
