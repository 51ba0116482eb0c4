import Foundation
import Testing

@testable import StrataInspector

/// Filters that name objects, and what mistakes in parameters are told.
@Suite struct StudioFilterTests {
    private let visit: StudioVisit

    init() throws { visit = try StudioVisit() }

    @Test(arguments: [
        ("studio = Studio/p1", 2), ("studio == Studio/p2 AND title != 'Studio/p1'", 2), ("SELF = Film/p5", 1),
        (#"title != 'it\'s Film/p5 % Studio/p1' AND studio = Studio/p1"#, 2),
        ("ANY genres == Genre/p3", 2), ("SELF IN {Film/p5, Film/p6}", 2), ("studio = Studio/p1 OR year = 2008", 3),
    ]) func aFilterNamesObjects(filter: String, count: Double) throws {
        #expect(try visit.page("objects/Film", ["where": filter])["count"].number == count)
    }

    @Test func aMistakeBehindAnObjectKeepsItsPlace() throws {
        let problem = try visit.page("objects/Film", ["where": "studio = Studio/p1 AN year = 1"], status: 400)["error"]
        #expect(problem["column"].number == 20)
        let never = try visit.page("objects/Film", ["where": "studio = Genre/p3"], status: 400)["error"]
        #expect(never["message"].text?.contains("never equal") ?? false)
    }

    @Test func allMembersOfARelationshipAreFoundByItsCondition() throws {
        for (object, count) in [("Studio/p2", 2.0), ("Genre/p4", 2), ("Film/p5", 2)] {
            let list = try visit.page("object/\(object)")["relationships"][0]
            let entity = try #require(list["entity"].text), filter = try #require(list["condition"].text)
            #expect(try visit.page("objects/\(entity)", ["where": filter])["count"].number == count)
        }
    }

    @Test func aLongNameStaysInItsBox() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "long-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let name = String(repeating: "Long", count: 20)
        let model = try EncryptedStore.write(
            "Long", "<model documentVersion=\"1.0\"><entity name=\"\(name)\" syncable=\"YES\"/></model>", in: folder)
        let path = folder.appending(component: "Long.strata").path
        let made = try Tool.run("create", path, "--model", model)
        #expect(made.exitCode == 0, "\(made)")
        let studio = try Studio(paths: [path])
        defer { studio.close() }
        let svg = String(decoding: studio.answer(StudioAddress(path: ["Long", "model.svg"])).body, as: UTF8.self)
        let text = try #require(svg.firstMatch(of: /class="name"[^>]*>([^<]*)</)).output.1
        #expect(text.hasSuffix("…") && text.count < 42 && svg.contains("aria-label=\"\(name), 0 objects\""))
    }

    @Test func mistakesSpeakOfParametersAndNotOfOptionsOfTheTool() throws {
        #expect(
            try visit.page("model", ["at": "x"], status: 400)["error"]["message"].text?.contains("a transaction (12)")
                ?? false)
        for (name, text) in [("columns", ","), ("sort", "-"), ("sort", "year desc")] {
            let message = try visit.page("objects/Film", [name: text], status: 400)["error"]["message"].text ?? ""
            #expect(!message.isEmpty && !message.contains("--"), "\(message)")
        }
    }
}
