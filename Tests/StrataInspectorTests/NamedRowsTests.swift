import Foundation
import StrataModel
import StrataStore
import Testing

/// Records that name other records of their file, and clashes that name records.
@Suite final class NamedRowsTests {
    private let directory: URL

    private var path: String { directory.appending(component: "tree.strata").path(percentEncoded: false) }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: "tree-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Store.open(.directory(URL(filePath: path)), model: try Self.model()).close()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private static func model() throws -> ManagedObjectModel {
        func folder(_ name: String, parent: String? = nil, _ own: [PropertyDescription] = []) -> EntityDescription {
            EntityDescription(
                name: name, superentityName: parent, properties: own,
                uniquenessConstraints: parent == nil ? [["name"], ["code"]] : [])
        }
        return try ManagedObjectModel(entities: [
            folder(
                "Folder",
                [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "code", type: .integer32, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "parent", destinationEntityName: "Folder", inverseName: "folders",
                            isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "folders", destinationEntityName: "Folder", inverseName: "parent", isToMany: true)),
                ]),
            folder("Bin", parent: "Folder"),
        ])
    }

    private func take(_ entity: String, _ text: String, _ arguments: String...) throws -> Tool.Result {
        let file = directory.appending(component: "rows.ndjson").path(percentEncoded: false)
        try Data(text.utf8).write(to: URL(filePath: file))
        var result = try Tool.run(["import", path, entity, file] + arguments)
        result.error = result.error.replacingOccurrences(of: file, with: "FILE")
        return result
    }

    private func tree() throws -> String {
        #expect(try Tool.run("verify", path).exitCode == 0)
        return try Tool.run(
            "query", path, "Folder", "--columns", "name,parent.name", "--sort", "name", "--format", "csv"
        ).output
    }

    private let branch = """
        {"name": "a"}
        {"name": "b", "parent.name": "a"}
        {"name": "c", "parent.name": "a"}
        {"name": "d", "parent.name": "c"}
        {"name": "e", "parent.name": null}

        """

    @Test(arguments: ["error", "leave", "create"])
    func aRecordMayNameOneAboveIt(missing: String) throws {
        #expect(
            try take("Folder", branch, "--missing", missing)
                == .init(output: "5 records: 5 inserted, in 3 transactions\n", error: "", exitCode: 0))
        #expect(try tree() == "name,parent.name\na,\nb,a\nc,a\nd,c\ne,\n")
    }

    @Test func anImportThatSavesEarlyGoesOnBehindWhatItSaved() throws {
        let stopped = try take("Folder", branch + "{\"name\": \"f\", \"code\": \"x\"}\n")
        #expect(stopped.exitCode == 1)
        #expect(stopped.output == "3 records: 3 inserted, in 2 transactions\n")
        let again = try take("Folder", branch + "{\"name\": \"f\", \"code\": \"x\"}\n", "--resume", "--rows", "2")
        #expect(again.output == "2 records: 2 inserted, in 1 transaction, after 3 of an earlier run\n")
        #expect(try tree() == "name,parent.name\na,\nb,a\nc,a\nd,c\ne,\n")
    }

    /// A step is read while the one before is written.
    @Test func aRecordMayNameOneOfTheStepBefore() throws {
        let text = ["a", "b", "c", "d", "e"].enumerated().map { index, name in
            "{\"name\": \"\(name)\"\(index % 2 == 0 && index > 0 ? ", \"parent.name\": \"a\"" : "")}\n"
        }
        let result = try take("Folder", text.joined(), "--rows", "2")
        #expect(result == .init(output: "5 records: 5 inserted, in 3 transactions\n", error: "", exitCode: 0))
        #expect(try tree() == "name,parent.name\na,\nb,\nc,a\nd,\ne,a\n")
    }

    @Test func theFirstErrorOfAFileIsTheOneThatIsTold() throws {
        let good = ["a", "b", "c"].map { "{\"name\": \"\($0)\"}\n" }.joined()
        let clash = try take("Folder", good + "{\"name\": \"a\"}\n{\n", "--rows", "2")
        #expect(clash.output == "2 records: 2 inserted, in 1 transaction\n" && clash.exitCode == 1)
        let advice = " Correct it; the same command with --resume goes on after 2 records.\n"
        #expect(clash.error == "strata: FILE: line 4: name must be unique, and Folder/p1 has the same." + advice)
        let late = try take("Folder", "{\"name\": \"x\"}\n{\"name\": \"y\"}\n{\n", "--rows", "2")
        #expect(late.output == "2 records: 2 inserted, in 1 transaction\n" && late.exitCode == 1)
        #expect(late.error.hasPrefix("strata: FILE: line 3: "))
        #expect(try tree() == "name,parent.name\na,\nb,\nx,\ny,\n")
    }

    @Test func aRecordThatNamesOneBelowItIsRefusedWithItsLine() throws {
        let result = try take("Folder", "{\"name\": \"b\", \"parent.name\": \"a\"}\n{\"name\": \"a\"}\n")
        #expect(result.exitCode == 1)
        #expect(result.error == "strata: FILE: line 1: parent.name: there is no Folder whose name is 'a'.\n")
    }

    @Test func aClashNamesTheLineAndTheObject() throws {
        #expect(try Tool.run("insert", path, "Folder", "name=a", "code=1").exitCode == 0)
        #expect(
            try take("Folder", "{\"name\": \"b\"}\n\n{\"name\": \"c\", \"code\": 1}\n{\"name\": \"a\"}\n").error
                == """
                strata: FILE: line 3: code must be unique, and Folder/p1 has the same.; \
                line 4: name must be unique, and Folder/p1 has the same.

                """)
        #expect(
            try take("Bin", "{\"name\": \"z\"}\n{\"name\": \"z\"}\n").error
                == "strata: FILE: line 1: name must be unique, and line 2 has the same.\n")
        #expect(
            try Tool.run("insert", path, "Bin", "name=a").error.contains(
                "name must be unique, and Folder/p1 has the same."))
        #expect(try tree() == "name,parent.name\na,\n")
    }

    @Test(arguments: ["merge", "replace"])
    func aClashThatCannotBeMergedNamesTheLineAndTheObject(way: String) throws {
        #expect(try Tool.run("insert", path, "Folder", "name=a", "code=1").exitCode == 0)
        #expect(try Tool.run("insert", path, "Folder", "name=b", "code=2").exitCode == 0)
        let other = try take("Bin", "{\"name\": \"x\"}\n{\"name\": \"a\"}\n", "--on-clash", way)
        #expect(
            other.error
                == "strata: FILE: line 2: An object of another entity has its unique values: Folder/p1.\n")
        #expect(other.exitCode == 1)
        let several = try take("Folder", "{\"name\": \"a\", \"code\": 2}\n", "--on-clash", way)
        #expect(several.error.hasPrefix("strata: FILE: line 1: Several objects have its unique values: Folder/p"))
        #expect(several.exitCode == 1)
    }
}
