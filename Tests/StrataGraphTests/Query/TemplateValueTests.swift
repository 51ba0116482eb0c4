import Foundation
import StrataGraph
import StrataModel
import Testing

/// Templates with variables of every type, wrong ones and missing ones; and fetched properties in contexts that change.
@Suite(.verifiesStores) struct TemplateValueTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 1_000)
    private static let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID()
    private static let url = URL(fileURLWithPath: "/a")

    /// Each attribute with the value of the object that is to be found.
    private static let values: [(name: String, type: AttributeType, value: any FetchArgument & Sendable)] = [
        ("i16", .integer16, Int16(7)), ("i32", .integer32, Int32(70_000)), ("i64", .integer64, Int64(1) << 40),
        ("d", .double, 1.5), ("f", .float, Float(2.5)), ("dec", .decimal, Decimal(string: "3.25") ?? 0),
        ("s", .string, "text"), ("b", .boolean, true), ("at", .date, date), ("u", .uuid, uuid), ("url", .uri, url),
        ("data", .binaryData, Data([1, 2, 3])),
    ]

    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let found: ManagedObject
    private let other: ManagedObject

    init() throws {
        let names = Self.values.map(\.name)
        let templates = try (names + ["link"]).flatMap { name in
            try [("Is", "\(name) == $VALUE"), ("In", "\(name) IN $LIST")].map { prefix, format in
                FetchRequestTemplate(
                    name: prefix + name, entityName: "Thing", where: try FetchPredicate(format: format))
            }
        }
        let more = try [
            ("Field", "$KEY == $VALUE"), ("Path", "link.$FIELD == $VALUE"), ("Range", "i16 BETWEEN $LIST"),
            ("Sub", "SUBQUERY(links, $x, $x.i16 == $VALUE).@count > 0"), ("Text", "s BEGINSWITH[c] $VALUE"),
            ("Members", "ANY links == $VALUE"), ("Twice", "i16 == $VALUE OR i32 == $VALUE"),
        ].map {
            FetchRequestTemplate(name: $0.0, entityName: "Thing", where: try FetchPredicate(format: $0.1))
        }
        let same = FetchedPropertyDescription(
            "same", of: "Thing",
            FetchRequestTemplate(
                name: "", entityName: "Thing",
                where: try FetchPredicate(format: "s == $FETCH_SOURCE.s AND SELF != $FETCH_SOURCE"),
                sortedBy: [SortDescription("i16")]))
        let linked = FetchedPropertyDescription(
            "linked", of: "Thing",
            FetchRequestTemplate(
                name: "", entityName: "Thing", where: try FetchPredicate(format: "SELF IN $FETCH_SOURCE.links")))
        let model = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    name: "Thing",
                    properties: Self.values.map { Porting.attribute($0.name, $0.type) } + [
                        Porting.one("link", "Thing", "links"), Porting.many("links", "Thing", "link"),
                    ])
            ]
        ).adding(fetchRequestTemplates: templates + more, fetchedProperties: [same, linked])
        container = PersistentContainer(
            name: "Templates", model: model, at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        context = container.newBackgroundContext()
        found = try context.make("Thing")
        for (name, _, value) in Self.values { try found.setValue(value, forKey: name) }
        other = try context.make("Thing", ["link": found, "s": "none", "b": false])
        try found.setValue(other, forKey: "link")
        try context.save()
    }

    private func find(_ template: String, _ values: [String: (any FetchArgument)?]) throws -> [ManagedObject] {
        let request: FetchRequest<ManagedObject> = try container.fetchRequest(
            fromTemplate: template, substituting: values)
        return try context.fetch(request)
    }

    @Test func variablesTakeEveryType() throws {
        for (name, _, value) in Self.values {
            #expect(try find("Is\(name)", ["VALUE": value]) == [found], "\(name)")
            #expect(
                try find("In\(name)", ["LIST": FetchExpression.aggregate([value.fetchExpression])]) == [found],
                "\(name)")
            let isUnset = try find("Is\(name)", ["VALUE": nil]) == [other]
            #expect(isUnset == (name != "s" && name != "b"), "\(name)")
            #expect(
                try find("Is\(name)", ["VALUE": NSNull()]).contains(other) == (name != "s" && name != "b"), "\(name)")
        }
        for number in [NSNumber(value: 7), NSNumber(value: 7.0)] {
            #expect(try find("Isi16", ["VALUE": number]) == [found])
        }
        #expect(try find("Isb", ["VALUE": NSNumber(value: true)]) == [found])
        #expect(try find("Islink", ["VALUE": other]) == [found] && find("Islink", ["VALUE": other.objectID]) == [found])
        #expect(try find("Inlink", ["LIST": [other, found]]).count == 2)
        #expect(try find("Inlink", ["LIST": Set([other.objectID])]) == [found])
        #expect(try find("Ini16", ["LIST": [Int]()]).isEmpty)
        #expect(try find("Range", ["LIST": [1, 9]]) == [found] && find("Range", ["LIST": 8...9]).isEmpty)
        #expect(try find("Sub", ["VALUE": 7]) == [other] && find("Members", ["VALUE": found]) == [other])
        #expect(try find("Text", ["VALUE": "TE"]) == [found] && find("Twice", ["VALUE": 70_000]) == [found])
        #expect(try find("Field", ["KEY": FetchExpression.keyPath("s"), "VALUE": "text"]) == [found])
        #expect(try find("Path", ["FIELD": "s", "VALUE": "none"]) == [found])
    }

    @Test func wrongAndMissingValuesAreRefusedByName() throws {
        for (template, values) in [
            ("Isi16", [:]), ("Isi16", ["value": 7]), ("Range", ["VALUE": 7]), ("Path", ["VALUE": "x"]),
        ] as [(String, [String: (any FetchArgument)?])] {
            let error = thrownError { _ = try find(template, values) }
            #expect(error?.code == .invalidRequest, "\(template)")
            let name = template == "Range" ? "$LIST" : template == "Path" ? "$FIELD" : "$VALUE"
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        }
        for (template, value) in [
            ("Isi16", "x"), ("Isd", Self.date), ("Isat", 7), ("Isu", "x"), ("Isb", "x"), ("Isdata", 7), ("Islink", 7),
            ("Iss", 7), ("Isurl", 7),
        ] as [(String, any FetchArgument)] {
            let error = thrownError { _ = try find(template, ["VALUE": value]) }
            #expect(error?.code == .wrongType, "\(template) \(value): \(error.map { "\($0)" } ?? "")")
        }
        #expect(thrownError { _ = try find("Range", ["LIST": 7]) } != nil)
        #expect(thrownError { _ = try find("Path", ["FIELD": "nothing", "VALUE": 1]) }?.code == .unknownKey)
        // A value that no variable asks for is left alone, as in Core Data.
        #expect(try find("Isi16", ["VALUE": 7, "OTHER": 8]) == [found])
    }

    // MARK: Fetched properties

    private func same(_ object: ManagedObject) throws -> [ManagedObject] { try object.fetchedObjects(forKey: "same") }

    @Test func aFetchedPropertyFollowsWhatIsNotSaved() throws {
        let third = try context.make("Thing", ["s": "text", "i16": 3])
        #expect(try same(found) == [third] && same(third) == [found])
        try found.setValue("none", forKey: "s")
        #expect(try same(found) == [other] && same(third).isEmpty)
        context.delete(other)
        #expect(try same(found).isEmpty)
        #expect(try found.fetchedObjects(forKey: "linked").isEmpty)
        context.rollback()
        #expect(try same(found).isEmpty && found.fetchedObjects(forKey: "linked") == [other])
        #expect(third.managedObjectContext == nil)
        #expect(thrownError { _ = try same(third) }?.code == .deletedObject)
    }

    @Test func aFetchedPropertyOfAChildIsTheChilds() throws {
        let child = try context.newChildContext()
        let draft = try child.existingObject(with: found.objectID)
        let new = try child.make("Thing", ["s": "text"])
        #expect(try same(draft) == [new] && same(found).isEmpty)
        #expect(try same(new) == [draft])
        let third = try context.make("Thing", ["s": "text", "i16": 3])
        #expect(try same(draft) == [new] && same(found) == [third])
        child.refreshAllObjects()
        #expect(try same(draft).map(\.objectID) == [new.objectID, third.objectID])
        try child.save()
        #expect(try same(found).map(\.objectID) == [new.objectID, third.objectID])
        let past = try container.context(asOf: .now)
        #expect(try past.existingObject(with: found.objectID).fetchedObjects(forKey: "same").isEmpty)
    }

    @Test func aFetchedPropertyOfADeletedObjectOrOfNoneIsRefusedOrEmpty() throws {
        let fault = container.newBackgroundContext().object(with: found.objectID)
        #expect(thrownError { _ = try same(fault) }?.code == .deletedObject)
        let third = try context.make("Thing", ["s": "text"])
        context.delete(found)
        #expect(try same(found).isEmpty || same(found) == [third])
        #expect(try same(third).isEmpty)
        try context.save()
        #expect(thrownError { _ = try same(found) }?.code == .deletedObject)
    }
}
