import Foundation
import Testing

@testable import StrataInspector

/// Tables at moments before and after a migration that gave entities, attributes and relationships other names.
///
/// | transaction | |
/// |---|---|
/// | 2, 3 | House/p1 (Main), Person/p2 (Ann, tall, note x) |
/// | 4 | the migration |
/// | 5 | Human/p2 has the rating 4 |
@Suite final class StudioNamesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(component: "names-\(UUID().uuidString)")
    private let studio: Studio
    private let store: String

    private static func model(_ entities: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
        """
    }

    private static let before = model(
        """
        <entity name="Person" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="isTall" optional="YES" attributeType="Boolean"/>
            <attribute name="note" optional="YES" attributeType="String"/>
            <relationship name="home" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="House"
                inverseName="people" inverseEntity="House"/></entity>
        <entity name="House" syncable="YES"><attribute name="street" optional="YES" attributeType="String"/>
            <relationship name="people" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person"
                inverseName="home" inverseEntity="Person"/></entity>
        """)

    private static let after = model(
        """
        <entity name="Human" elementID="Person" syncable="YES">
            <attribute name="fullName" elementID="name" optional="YES" attributeType="String"/>
            <attribute name="isTall" optional="YES" attributeType="Integer 16"/>
            <attribute name="rating" optional="YES" attributeType="Double"/>
            <relationship name="place" elementID="home" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Home" inverseName="humans" inverseEntity="Home"/></entity>
        <entity name="Home" elementID="House" syncable="YES">
            <attribute name="road" elementID="street" optional="YES" attributeType="String"/>
            <relationship name="humans" elementID="people" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Human" inverseName="place" inverseEntity="Human"/></entity>
        """)

    init() throws {
        store = folder.appending(component: "S.strata").path
        let models = try [
            EncryptedStore.write("Before", Self.before, in: folder),
            EncryptedStore.write("After", Self.after, in: folder),
        ]
        let steps = [
            ["create", store, "--model", models[0]], ["insert", store, "House", "street=Main"],
            ["insert", store, "Person", "name=Ann", "isTall=yes", "note=x", "home=House/p1"],
            ["migrate", store, "--model", models[1]], ["update", store, "Human/p2", "rating=4"],
        ]
        for step in steps {
            let result = try Tool.run(step)
            #expect(result.exitCode == 0, "\(result)")
        }
        studio = try Studio(paths: [store])
    }

    deinit {
        studio.close()
        try? FileManager.default.removeItem(at: folder)
    }

    private func answer(_ path: String, _ query: [String: String]) -> StudioAnswer {
        studio.answer(StudioAddress(path: ["S"] + path.split(separator: "/").map(String.init), query: query))
    }

    private func page(_ path: String, _ query: [String: String], status: Int = 200) throws -> JSONNode {
        let answer = answer(path, query)
        #expect(answer.status == status, "\(path) \(query): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONNode(answer.body)
    }

    @Test(arguments: [
        ("3", "fullName, isTall, place.road", ["name", "isTall", "home.street"], ["Ann", "true", "Main"]),
        ("3", "name, home.street", ["name", "home.street"], ["Ann", "Main"]),
        ("", "name, isTall, home.street", ["fullName", "isTall", "place.road"], ["Ann", "1", "Main"]),
        ("", "name AS called, home.street", ["called", "place.road"], ["Ann", "Main"]),
        ("3", "uppercase:(fullName) AS loud", ["loud"], ["ANN"]),
    ]) func columnsGoByTheNamesOfAnyModel(at: String, asked: String, names: [String], cells: [String]) throws {
        let table = try page("objects/Human", ["at": at, "columns": asked])
        #expect(table["columns"].items.map { $0["name"].text } == names)
        #expect(table["rows"][0]["cells"].items.map { $0["text"].text } == cells)
        #expect(table["absent"].items.isEmpty)
    }

    @Test(
        arguments: ["3", ""],
        [
            "fullName = 'Ann'", "name = 'Ann' AND home.street = 'Main'", "place.road LIKE 'M*'",
            "SUBQUERY(place.humans, $x, $x.fullName = 'Ann' AND $x.home.street = 'Main').@count = 1",
            "SUBQUERY(home.people, $x, SUBQUERY($x.home.people, $y, $y.name = $x.fullName).@count = 1).@count = 1",
            "place.humans.@max.name = 'Ann'",
            "SELF IN FETCH({: \"entity\": \"Human\", \"predicate\": \"fullName = 'Ann'\"}, nil, NO)",
            "home IN FETCH({: \"entity\": \"House\", \"predicate\": \"ANY people.name = 'Ann'\"}, nil, NO)",
        ])
    func aFilterGoesByTheNamesOfAnyModel(at: String, filter: String) throws {
        #expect(
            try page("objects/Human", ["at": at, "where": filter, "sort": "-fullName,home.street"])["count"].number == 1
        )
        let file = answer("export/Person", ["at": at, "where": filter, "columns": "fullName", "sort": "name"])
        let heading = at.isEmpty ? "fullName" : "name"
        #expect(String(decoding: file.body, as: UTF8.self) == "object,\(heading)\nHuman/p2,Ann\n")
        #expect(try page("facet/Human/fullName", ["at": at, "where": filter])["property"].text == heading)
        #expect(try page("facet/Human/home", ["at": at])["parts"][0]["count"].number == 1)
        #expect(String(decoding: answer("value/Human/p2/name", ["at": at]).body, as: UTF8.self) == "Ann")
    }

    // MARK: The tool

    private func output(_ arguments: String..., exitCode: Int32 = 0) throws -> String {
        let result = try Tool.run([arguments[0], store] + arguments.dropFirst())
        #expect(result.exitCode == exitCode, "\(arguments) \(result)")
        return result.output + result.error
    }

    @Test(arguments: ["t3", "now"], [["fullName", "place.road", "humans"], ["name", "home.street", "people"]])
    func theToolGoesByTheNamesOfAnyModel(at: String, names: [String]) throws {
        let (name, street, people) = (names[0], names[1], names[2])
        let place = String(street.prefix { $0 != "." })
        let condition = "SUBQUERY(\(place).\(people), $x, $x.\(name) = 'Ann' AND $x.\(street) = 'Main').@count = 1"
        let heading = at == "now" ? "fullName,place.road" : "name,home.street"
        for entity in ["Human", "Person"] {
            #expect(try output("count", entity, "--where", condition, "--at", at) == "1\n")
            for command in [["query", entity, "--format", "csv"], ["export", entity, "--form", "csv"]] {
                let table = try Tool.run(
                    [command[0], store] + command.dropFirst()
                        + [
                            "--columns", "\(name), \(street)", "--where", condition, "--sort", "-\(street),\(name)",
                            "--at",
                            at,
                        ])
                #expect(table.output == "\(heading)\nAnn,Main\n", "\(table)")
            }
            let groups = try output(
                "query", entity, "--group-by", street, "--columns", "\(street), max(\(name)) AS last, count",
                "--having",
                "last = 'Ann' AND \(street) = 'Main'", "--sort", "-last,\(street)", "--format", "csv", "--at",
                at)
            #expect(groups == "\(heading.split(separator: ",")[1]),last,count\nMain,Ann,1\n")
        }
    }

    /// The name of a column is not taken for that of a property of before.
    @Test func aColumnMayBeCalledAsAFormerProperty() throws {
        let groups = try output(
            "query", "Human", "--group-by", "isTall", "--columns", "isTall, count AS name", "--having", "name = 1",
            "--sort", "-name", "--format", "csv")
        #expect(groups == "isTall,name\n1,1\n")
    }

    @Test(arguments: [
        ["count", "Human", "--at", "t3", "--where", "rating > 3"], ["query", "Human", "--columns", "note"],
        ["query", "Human", "--sort", "note"], ["query", "Human", "--group-by", "note"],
        ["export", "Human", "--at", "t3", "--columns", "rating"],
        ["count", "Human", "--where", "SUBQUERY(place.humans, $x, $x.note = nil).@count = 0"],
    ])
    func theToolSaysWhichModelHasAName(arguments: [String]) throws {
        let result = try Tool.run([arguments[0], store] + arguments.dropFirst())
        #expect(result.exitCode == 2 && result.error.hasPrefix("strata: "), "\(result)")
        #expect(result.error.contains(" at this moment, in model version "), "\(result)")
    }

    // MARK: Absent properties

    @Test func whatTheModelOfTheMomentDoesNotHaveIsLeftOutAndNamed() throws {
        let then = try page("objects/Human", ["at": "3", "columns": "fullName, rating, rating * 2", "sort": "rating"])
        #expect(then["columns"].items.map { $0["name"].text } == ["name"])
        #expect(then["absent"].items.map(\.text) == ["rating"] && then["count"].number == 1)
        let now = try page("objects/Human", ["columns": "note"])
        #expect(now["columns"].items.isEmpty && now["absent"].items.map(\.text) == ["note"])
        #expect(now["rows"][0]["object"].text == "Human/p2")
    }

    @Test(arguments: [("3", "rating > 3"), ("", "note = 'x'")])
    func aFilterByWhatTheModelOfTheMomentDoesNotHaveSaysSo(at: String, filter: String) throws {
        let problem = try page("objects/Human", ["at": at, "where": filter], status: 400)["error"]
        #expect(problem["field"].text == "where")
        #expect(problem["message"].text?.contains("at this moment, in model version \(at.isEmpty ? 2 : 1)") ?? false)
        let name = filter.prefix { $0 != " " }
        _ = try page("facet/Human/\(name)", ["at": at], status: 404)
    }
}
