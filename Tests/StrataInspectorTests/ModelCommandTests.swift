import Foundation
import Testing

/// `create`, `model` and `generate`, by whole output and exit code.
@Suite struct ModelCommandTests {
    private let directory: URL
    private var file: String { directory.appending(component: "Ties.xcdatamodeld").path }
    private var store: String { directory.appending(component: "Ties.strata").path }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: "model-\(UUID().uuidString)")
        try write("Ties", Self.first)
        try write("Ties 2", Self.second)
        try Data(Self.current.utf8).write(to: directory.appending(path: "Ties.xcdatamodeld/.xccurrentversion"))
    }

    private func write(_ version: String, _ text: String) throws {
        let folder = directory.appending(path: "Ties.xcdatamodeld/\(version).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + text).utf8)
            .write(to: folder.appending(component: "contents"))
    }

    private static let current = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>_XCCurrentVersionName</key>
        \t<string>Ties 2.xcdatamodel</string>
        </dict>
        </plist>
        """
    private static let first = """
        <model documentVersion="1.0">
            <entity name="Tie" representedClassName="Tie">
                <attribute name="name" attributeType="String" defaultValueString="new"/>
            </entity>
        </model>
        """
    private static let second = """
        <model documentVersion="1.0">
            <entity name="Drawer" representedClassName="Drawer">
                <relationship name="ties" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Tie" inverseName="drawer" inverseEntity="Tie"/>
            </entity>
            <entity name="Tie" representedClassName="NeckTie">
                <attribute name="count" optional="YES" attributeType="Integer 32" minValueString="0" allowsCloudEncryption="YES"/>
                <attribute name="name" attributeType="String" defaultValueString="new"/>
                <relationship name="drawer" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Drawer" inverseName="ties" inverseEntity="Drawer"/>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="name"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <configuration name="Small">
                <memberEntity name="Tie"/>
            </configuration>
        </model>
        """

    @Test func showListsTheCurrentVersion() throws {
        #expect(
            try Tool.run("model", "show", file)
                == .init(
                    output: """
                        Drawer
                          ties  ordered to-many Tie  inverse drawer, cascade

                        Tie  class NeckTie
                          count   32-bit integer  0…
                          name    string          required, default "new"
                          drawer  to-one Drawer   inverse ties, nullify
                          unique: name

                        configuration Small: Tie

                        """, error: "", exitCode: 0))
        #expect(
            try Tool.run("model", "show", file, "--version", "Ties", "--json")
                == .init(
                    output: """
                        {
                          "configurations" : {

                          },
                          "entities" : [
                            {
                              "abstract" : false,
                              "attributes" : [
                                {
                                  "default" : "new",
                                  "encrypted" : false,
                                  "name" : "name",
                                  "optional" : false,
                                  "rules" : [

                                  ],
                                  "transient" : false,
                                  "type" : "string"
                                }
                              ],
                              "class" : "Tie",
                              "indexes" : [

                              ],
                              "name" : "Tie",
                              "relationships" : [

                              ],
                              "unique" : [

                              ]
                            }
                          ],
                          "fetchRequests" : [

                          ],
                          "model" : "Ties"
                        }

                        """, error: "", exitCode: 0))
    }

    @Test func aToOneLeadsToOneAtMost() throws {
        let text = try Tool.run("model", "show", file, "--json").output
        let counts = text.components(separatedBy: "\n").filter { $0.contains("\"maxCount\"") }
        #expect(counts.map { $0.filter(\.isNumber) } == ["0", "1"])
    }

    @Test func checkNamesWhatHasNoEffectAndWhatIsWrong() throws {
        #expect(
            try Tool.run("model", "check", file)
                == .init(
                    output: """
                        note: line 7, column 9: Tie.count: allowsCloudEncryption is not supported: there is no CloudKit
                        sound: Ties 2, 2 entities, 4 properties

                        """, error: "", exitCode: 0))
        try write("Ties 2", Self.second.replacing("inverseName=\"ties\"", with: "inverseName=\"knots\""))
        let faulty = try Tool.run("model", "check", file)
        #expect(faulty.exitCode == 1 && faulty.error == "")
        #expect(faulty.output.contains("problem: Tie.drawer names an unknown inverse, Drawer.knots.\n"))
        #expect(faulty.output.hasSuffix("2 problems: Ties 2, 2 entities, 4 properties\n"))
        try write("Ties 2", "<model><entity></model>")
        let broken = try Tool.run("model", "check", file)
        #expect(broken.exitCode == 1 && broken.output == "")
        #expect(
            broken.error.hasPrefix("strata: The model Ties 2, line 2, column 16: expected </entity>, found </model>"))
    }

    @Test func diffSaysWhatAMigrationDoes() throws {
        #expect(
            try Tool.run("model", "diff", file, "--version", "Ties", "--other-version", "Ties 2")
                == .init(
                    output: """
                        none   Drawer is new.
                        none   Tie has another class name, hash modifier or user info.
                        none   Tie.count is new.
                        none   Tie.drawer is new.
                        build  Tie has a new uniqueness constraint over name.
                        Ties -> Ties 2: 5 changes

                        """, error: "", exitCode: 0))
        let same = try Tool.run("model", "diff", file, file)
        #expect(same == .init(output: "Ties 2 and Ties 2 are the same\n", error: "", exitCode: 0))
        #expect(try Tool.run("model", "diff", file).exitCode == 2)
    }

    @Test func aStoreIsMadeOfAModelAndGivesItBack() throws {
        let made = try Tool.run("create", store, "--model", file, "--version", "Ties 2")
        #expect(made.output == "\(store): an empty store of Ties 2, 2 entities\n" && made.exitCode == 0)
        #expect(made.error.hasPrefix("note: line 7, column 9: Tie.count: allowsCloudEncryption is not supported"))
        #expect(try Tool.run("verify", store).exitCode == 0)
        #expect(
            try Tool.run("model", "diff", store, file)
                == .init(output: "version 1 and Ties 2 are the same\n", error: "", exitCode: 0))
        #expect(try Tool.run("model", "show", store).output == Tool.run("model", "show", file).output)

        let target = directory.appending(component: "Again.xcdatamodeld").path
        #expect(
            try Tool.run("model", "export", store, target, "--as", "One")
                == .init(output: "\(target): One, 2 entities\n", error: "", exitCode: 0))
        let written = try String(contentsOfFile: target + "/One.xcdatamodel/contents", encoding: .utf8)
        // The heads of the files differ in what the parser passes over.
        #expect(written.split(separator: "\n").dropFirst() == Self.second.split(separator: "\n")[...])
        #expect(try Tool.run("model", "show", target).output == Tool.run("model", "show", file).output)
        let second = try Tool.run("model", "export", store, target, "--as", "One")
        #expect(second.exitCode == 1 && second.error.contains("already exists."))

        let again = try Tool.run("create", store, "--model", file)
        #expect(again == .init(output: "", error: "strata: \(store) exists already.\n", exitCode: 1))
    }

    @Test(arguments: [
        (["create", "STORE", "--model", "/nowhere"], 1, "strata: There is nothing at /nowhere.\n"),
        (
            ["model", "export", "FILE", "Movies.json"], 2,
            "Error: The target must end in .xcdatamodeld or .xcdatamodel.\n"
        ),
        (
            ["model", "show", "FILE", "--version", "Ties 9"], 1,
            "strata: FILE has no version 'Ties 9'. It has Ties, Ties 2.\n"
        ),
        (
            ["model", "show", "FILE", "--entity", "Hat"], 2,
            "strata: The model has no entity 'Hat'. It has Drawer, Tie.\n"
        ),
    ])
    func whatCannotBeDoneIsSaid(arguments: [String], code: Int32, message: String) throws {
        let line = (["$strata"] + arguments.map { "'\($0)'" }).joined(separator: " ")
            .replacing("STORE", with: store).replacing("FILE", with: file)
        let result = try Tool.shell(line)
        #expect(result.exitCode == code)
        #expect(result.output.hasPrefix(message.replacing("FILE", with: file)))
    }

    @Test func generateNeverWritesWhatIsYours() throws {
        let out = directory.appending(component: "Code").path
        let made = try Tool.run("generate", file, "--out", out, "--form", "plain")
        #expect(
            made
                == .init(
                    output: """
                        \(out)/Drawer+Properties.swift
                        \(out)/Drawer.swift
                        \(out)/NeckTie+Properties.swift
                        \(out)/NeckTie.swift
                        \(out)/TiesModel.swift
                        5 files for Ties 2

                        """, error: "", exitCode: 0))
        try Data("mine".utf8).write(to: URL(filePath: out + "/NeckTie.swift"))
        try Data("changed".utf8).write(to: URL(filePath: out + "/NeckTie+Properties.swift"))
        let again = try Tool.run("generate", file, "--out", out, "--form", "plain")
        #expect(again.output == "\(out)/NeckTie+Properties.swift\n5 files for Ties 2, 4 of them left as they are\n")
        #expect(try String(contentsOfFile: out + "/NeckTie.swift", encoding: .utf8) == "mine")
        let other = directory.appending(component: "Only").path
        #expect(
            try Tool.run("generate", file, "--out", other, "--style", "extension", "--json").output == """
                {
                  "directory" : "\(other)",
                  "files" : [
                    {
                      "name" : "Drawer+Properties.swift",
                      "written" : true,
                      "yours" : false
                    },
                    {
                      "name" : "Tie+Properties.swift",
                      "written" : true,
                      "yours" : false
                    },
                    {
                      "name" : "TiesModel.swift",
                      "written" : true,
                      "yours" : false
                    }
                  ]
                }

                """)
    }

    @Test func elementsOfACompositeAreShownAndNamedWhereOneIsUnknown() throws {
        let store = try AwkwardStore()
        let shown = try Tool.run("model", "show", store.path, "--entity", "Größe").output
        let lines = shown.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("maß composite"), "\(shown)")
        #expect(lines.contains("maß.länge double") && lines.contains("maß.name string"), "\(shown)")
        #expect(
            try Tool.run("insert", store.path, "Größe", "maß={\"lange\":1}").error
                == "strata: maß: maß has no element 'lange'. Did you mean 'länge'? It has länge, name.\n")
    }
}
