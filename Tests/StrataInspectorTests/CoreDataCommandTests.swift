import Foundation
import StrataCoreData
import StrataCoreDataFixtures
import Testing

/// `strata import` of files of Core Data, and `strata export` of such files. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct CoreDataCommandTests {
    private let folder: URL
    private var file: String { folder.appending(path: "Library.sqlite").path }
    private var store: String { folder.appending(path: "Library.strata").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "coredata-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    private static let faults = [
        "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (10, 5, 'Eden', 99)",
        "INSERT INTO ZTAG VALUES (10, 3, 1, NULL)",
    ]

    private static let counts = "Author: 2\nNovel: 3\nPoem: 1\nPortrait: 1\nTag: 3\n"
    private static let listed = """
        missingValue: Tag/p10.word is required and has no value; the default is set
        danglingKey: Novel/p10.author leads to the key 99, which no object has; the link is left out

        """

    @Test func checkListsWhatWouldComeOverAndMakesNothing() throws {
        try LibraryFile.fixture(moreRows: Self.faults).write(to: file)
        let result = try Tool.run("import", "--check", file)
        #expect(
            result
                == .init(
                    output: Self.counts + Self.listed + "10 objects, 3 pairs, 2 faults, by the model in the file\n",
                    error: "", exitCode: 1))
        #expect(names == ["Library.sqlite"])
    }

    @Test func intoMakesAStoreAndVerifyFindsItEqual() throws {
        try LibraryFile.fixture().write(to: file)
        let result = try Tool.run("import", file, "--into", store)
        #expect(result.output.hasSuffix("\(store): 8 objects, 3 pairs, 0 faults, by the model in the file\n"))
        #expect(result.exitCode == 0)
        let verified = try Tool.run("import", "--verify", file, store)
        #expect(
            verified
                == .init(
                    output: "equal: 8 of 8 rows, 16 of 16 links, 2 of 2 derived values\n", error: "", exitCode: 0))
        #expect(try Tool.run("verify", store).exitCode == 0)
        let database = try WritableDatabase(file)
        try database.run("UPDATE ZTAG SET ZWORD = 'other' WHERE Z_PK = 1")
        database.close()
        let changed = try Tool.run("import", "--verify", file, store)
        #expect(
            changed
                == .init(
                    output: """
                        Tag/p1.word is another value
                        different: 7 of 8 rows, 16 of 16 links, 2 of 2 derived values are equal

                        """, error: "", exitCode: 1))
    }

    /// What the import left out or changed is named with its reason, counted, and said to count or not.
    @Test func verifySaysWhatTheImportLeftOutAndWhy() throws {
        let faults = [
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (20, 5, 'Fit', 99)",
            "INSERT INTO ZTAG VALUES (20, 3, 1, NULL)", "INSERT INTO ZTAG VALUES (21, 3, 1, NULL)",
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZPAGES) VALUES (21, 5, 'Fat', 'many')",
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE) VALUES (22, 77, 'Foo')",
        ]
        try LibraryFile.fixture(moreRows: faults).write(to: file)
        #expect(try Tool.run("import", file, "--into", store).exitCode == 0)
        let result = try Tool.run("import", "--verify", file, store)
        #expect(
            result
                == .init(
                    output: """
                        Tag/p20.word is required and has no value; the default is set
                        Tag/p21.word is required and has no value; the default is set
                        Novel/p21.pages is no whole number of its type; it is left out
                        Work/p22 belongs to no entity of the model; it is left out
                        danglingKey: 1 link left out, because the key leads to no object; not counted as different
                        missingValue: 2 values set to the model's default, because a required value is missing; counted as different
                        unknownEntity: 1 row left out, because the model has no entity for it; counted as different
                        unsoundValue: 1 value left out or changed, because it is not what the model says; counted as different
                        different: 9 of 13 rows, 16 of 16 links, 2 of 2 derived values are equal

                        """, error: "", exitCode: 1))
    }

    /// A link to no object cannot come over, so it is only counted.
    @Test func keysThatLeadToNoObjectDoNotCountAsDifferent() throws {
        let fault = "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (20, 5, 'Fit', 99)"
        try LibraryFile.fixture(moreRows: [fault, "INSERT INTO Z_3WORKS VALUES (99, 20, 1)"]).write(to: file)
        #expect(try Tool.run("import", file, "--into", store).exitCode == 0)
        let result = try Tool.run("import", "--verify", file, store)
        #expect(
            result
                == .init(
                    output: """
                        danglingKey: 2 links left out, because the key leads to no object; not counted as different
                        equal: 9 of 9 rows, 16 of 16 links, 2 of 2 derived values

                        """, error: "", exitCode: 0))
    }

    /// The store has the link at both ends, and the file at one.
    @Test func linksWithOneEndDoNotCountAsDifferent() throws {
        let faults = [
            "UPDATE ZAUTHOR SET ZPORTRAIT = NULL", "INSERT INTO ZPORTRAIT (Z_PK, Z_ENT, ZAUTHOR) VALUES (20, 2, 1)",
        ]
        try LibraryFile.fixture(moreRows: [faults[0]]).write(to: file)
        #expect(try Tool.run("import", file, "--into", store).exitCode == 0)
        #expect(
            try Tool.run("import", "--verify", file, store)
                == .init(
                    output: """
                        oneSidedLink: 1 link set at both ends, because the file has one end only; not counted as different
                        equal: 8 of 8 rows, 15 of 15 links, 2 of 2 derived values

                        """, error: "", exitCode: 0))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.removeItem(atPath: store)
        try LibraryFile.fixture(moreRows: faults).write(to: file)
        #expect(try Tool.run("import", file, "--into", store).exitCode == 0)
        #expect(
            try Tool.run("import", "--verify", file, store)
                == .init(
                    output: """
                        Portrait/p20.author leads to an object whose link leads elsewhere; the link is left out
                        oneSidedLink: 1 link set at both ends, because the file has one end only; not counted as different
                        oneSidedLink: 1 link left out, because the two ends disagree in the file; counted as different
                        different: 9 of 9 rows, 15 of 16 links, 2 of 2 derived values are equal

                        """, error: "", exitCode: 1))
    }

    @Test(arguments: ["refuse", "repair", "list"]) func onFaultChooses(way: String) throws {
        try LibraryFile.fixture(moreRows: Self.faults).write(to: file)
        let result = try Tool.run("import", file, "--into", store, "--on-fault", way)
        guard way != "refuse" else {
            #expect(result.exitCode == 1 && result.output == "")
            #expect(result.error.contains("The file has 2 faults, so nothing was made: Tag/p10.word is required"))
            #expect(names == ["Library.sqlite"])
            return
        }
        let listed =
            way == "repair"
            ? Self.listed : Self.listed.replacing("the default is set", with: "it comes over without one")
        #expect(result.exitCode == 0 && result.output.contains(listed))
        let count = try Tool.run("count", store, "Tag", "--where", "word == 'none'")
        #expect(count.output == (way == "repair" ? "1\n" : "0\n"))
    }

    @Test func aModelThatIsGivenIsComparedWithTheOneInTheFile() throws {
        try LibraryFile.fixture().write(to: file)
        #expect(try Tool.run("import", file, "--into", store).exitCode == 0)
        let model = folder.appending(path: "Library.xcdatamodel").path
        #expect(try Tool.run("model", "export", store, model).exitCode == 0)
        let result = try Tool.run("import", "--check", file, "--model", model)
        #expect(result.error == "note: 6 of 6 entities are stored alike by the given model and the one in the file\n")
        #expect(result.output.hasSuffix("8 objects, 3 pairs, 0 faults, by the model that was given\n"))
        let missing = try Tool.run("import", "--check", file, "--model", folder.appending(path: "No.xcdatamodel").path)
        #expect(missing.exitCode != 0 && missing.error.contains("No.xcdatamodel"))
    }

    @Test func exportWritesAFileThatImportTakesBackEqual() throws {
        try LibraryFile.fixture().write(to: file)
        #expect(try Tool.run("import", file, "--into", store).exitCode == 0)
        let out = folder.appending(path: "Out.sqlite").path
        let result = try Tool.run("export", store, "--form", "coredata", out)
        #expect(result == .init(output: "\(out): 8 objects, 3 pairs\n", error: "", exitCode: 0))
        let verified = try Tool.run("import", "--verify", out, store)
        #expect(verified.output == "equal: 8 of 8 rows, 16 of 16 links, 2 of 2 derived values\n")
        let second = try Tool.run("export", store, "--form", "coredata", out)
        #expect(second.exitCode != 0 && second.error.contains("exists already"))
        let refused = try Tool.run("export", store, "Tag", "--form", "coredata", out, "--where", "word == 'sea'")
        #expect(refused.exitCode == 2 && refused.error.contains("takes the store and the file, and no entity"))
    }
}
