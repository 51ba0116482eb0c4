import Foundation
import StrataModel
import StrataXcode
import Testing

/// The compiler accepts the code generated for models of real apps.
struct GeneratedCodeTests {
    private static let isLong = ProcessInfo.processInfo.environment["STRATA_SEEDS"] != nil

    /// One in nine of the newest versions of the bundles, or all versions in a long run.
    private static let samples: [Corpus.Version] = {
        let newest = Dictionary(grouping: Corpus.versions) { $0.bundle.path }.values.compactMap(\.last)
            .sorted { $0.bundle.path < $1.bundle.path }
        return Corpus.sample(isLong ? Corpus.versions : newest, oneIn: 9)
    }()

    @Test(.enabled(if: Corpus.isThere, "STRATA_CORPUS is not set"))
    func plainClassesOfRealModelsCompile() throws {
        var failures: [String] = []
        var compiled = 0
        for version in Self.samples {
            guard let model = try version.soundModel() else { continue }
            let code = ModelCode(model, modelName: version.name, form: .plain)
            if let error = try Compiler.check(code.files) { failures.append("\(version.bundle.path): \(error)") }
            compiled += 1
        }
        print("plain classes of \(compiled) versions were compiled")
        #expect(compiled > 5 && failures == [])
    }

    @Test(
        .enabled(if: Corpus.isThere && Compiler.hasMacros, "STRATA_CORPUS is not set, or the macros are not built"))
    func entityClassesOfRealModelsCompile() throws {
        var failures: [String] = []
        var compiled = 0
        let samples = Self.isLong ? Self.samples : Array(Self.samples.prefix(3))
        for version in samples {
            guard let model = try version.soundModel() else { continue }
            let code = ModelCode(model, modelName: version.name, form: .macro)
            if let error = try Compiler.check(code.files, hasMacros: true) {
                failures.append("\(version.bundle.path): \(error)")
            }
            compiled += 1
        }
        print("@Entity classes of \(compiled) versions were compiled")
        #expect(compiled > 2 && failures == [])
    }

    @Test func everythingThatXcodeCanSayCompiles() throws {
        let text = #"<?xml version="1.0" encoding="UTF-8"?>"# + HandMade.everything
        let model = try XcodeModel(contents: Data(text.utf8), name: "M").managedObjectModel()
        for form in ModelCode.Form.allCases where form == .plain || Compiler.hasMacros {
            let code = ModelCode(model, modelName: "All of it", form: form, isPublic: true)
            let complaint = try Compiler.check(code.files, hasMacros: form == .macro)
            #expect(complaint == nil)
            // `Person.films` is required, and has no minimum in the file.
            #expect(code.singleFile().contains(".required, .minCount(0)"))
        }
    }

    @Test func namesThatSwiftUsesOtherwiseCompile() throws {
        func attribute(_ name: String, _ type: AttributeType, of className: String? = nil) -> PropertyDescription {
            .attribute(
                AttributeDescription(name: name, type: type, isOptional: true, attributeValueClassName: className))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "String",
                properties: [attribute("class_", .string), attribute("in", .date), attribute("protocol", .uuid)]),
            EntityDescription(name: "Date", properties: [attribute("repeat", .date), attribute("where", .string)]),
            EntityDescription(
                name: "FetchRequest", managedObjectClassName: "[Int64]", properties: [attribute("default", .double)]),
            EntityDescription(name: "enum", properties: [attribute("case", .transformable, of: "[Int64]")]),
            EntityDescription(name: "ABCThing", properties: [attribute("x", .transformable, of: "Foo.Strange<Int>")]),
            EntityDescription(
                name: "Same", managedObjectClassName: "Twice",
                properties: [attribute("a", .undefined)].map { _ in
                    .attribute(AttributeDescription(name: "a", type: .undefined, isOptional: true, isTransient: true))
                }),
            EntityDescription(name: "Other", managedObjectClassName: "App.Twice"),
        ])
        let complaint = try Compiler.check(ModelCode(model, modelName: "1 odd-name", form: .plain).files)
        #expect(complaint == nil)
    }

    @Test(arguments: ["Sequence", "Int", "EntityBuilder", "_KeyPathVisitor", "EntityDefinition", "ToMany", "Bool"])
    func classesNamedAsTypesThatTheCodeUsesCompile(name: String) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: name,
                properties: [
                    .attribute(AttributeDescription(name: "flag", type: .boolean)),
                    .relationship(
                        RelationshipDescription(
                            name: "steps", destinationEntityName: "Step", inverseName: "owner", isToMany: true,
                            isOrdered: true)),
                ]),
            EntityDescription(
                name: "Step",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer64, isOptional: true)),
                    .relationship(
                        RelationshipDescription(name: "owner", destinationEntityName: name, inverseName: "steps")),
                ]),
        ])
        let complaint = try Compiler.check(ModelCode(model, modelName: "Steps", form: .plain).files)
        #expect(complaint == nil)
    }

    /// Names that Swift, the macros or predicates have a meaning for.
    @Test(arguments: ModelCode.Form.allCases) func entitiesNamedAsWordsCompile(form: ModelCode.Form) throws {
        guard form == .plain || Compiler.hasMacros else { return }
        let names = ["Type", "Protocol", "Self", "self", "SELF", "Any", "class", "Base"]
        func model(_ names: [String]) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: names.enumerated().map { place, name in
                    let next = names[(place + 1) % names.count], last = names[(place + names.count - 1) % names.count]
                    return EntityDescription(
                        name: name, superentityName: place == names.count - 1 ? "Type" : nil,
                        properties: [
                            .attribute(AttributeDescription(name: "n\(place)", type: .string, isOptional: true)),
                            .relationship(
                                RelationshipDescription(
                                    name: "next\(place)", destinationEntityName: next,
                                    inverseName: "all\((place + 1) % names.count)")),
                            .relationship(
                                RelationshipDescription(
                                    name: "all\(place)", destinationEntityName: last,
                                    inverseName: "next\((place + names.count - 1) % names.count)", isToMany: true)),
                        ])
                })
        }
        for model in [try model(names), try model(["Type", "ManagedObject", "Base"])] {
            let code = ModelCode(model, modelName: "Words", form: form, isPublic: true)
            let complaint = try Compiler.check(code.files, hasMacros: form == .macro)
            #expect(complaint == nil)
        }
    }

    @Test func requestsNamedAsWordsOrAlikeCompile() throws {
        func template(_ name: String, _ format: String) throws -> FetchRequestTemplate {
            FetchRequestTemplate(name: name, entityName: "Thing", where: try FetchPredicate(format: format))
        }
        let thing = EntityDescription(
            name: "Thing", properties: [.attribute(AttributeDescription(name: "x", type: .string, isOptional: true))])
        let model = try ManagedObjectModel(entities: [thing]).adding(fetchRequestTemplates: [
            template("words", "x == $class AND x != $default AND x != $in AND x != $self"),
            template("my req", "x == $q"), template("my-req", "x == $q"), template("fetch", "x == $q"),
        ])
        let complaint = try Compiler.check(ModelCode(model, modelName: "Things", form: .plain).files)
        #expect(complaint == nil)
    }

    @Test func optionalScalarsAreWithoutOptionalIfAskedFor() throws {
        let text =
            #"<?xml version="1.0" encoding="UTF-8"?>"# + """
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                    <entity name="Order" representedClassName="Order" syncable="YES">
                        <attribute name="count" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
                        <attribute name="isOpen" optional="YES" attributeType="Boolean" usesScalarValueType="YES"/>
                        <attribute name="boxed" optional="YES" attributeType="Integer 64" usesScalarValueType="NO"/>
                        <attribute name="made" optional="YES" attributeType="Date" usesScalarValueType="YES"/>
                        <attribute name="needed" attributeType="Double" defaultValueString="1.5" usesScalarValueType="YES"/>
                    </entity>
                </model>
                """
        let model = try XcodeModel(contents: Data(text.utf8), name: "M").managedObjectModel()
        for form in ModelCode.Form.allCases where form == .plain || Compiler.hasMacros {
            let code = ModelCode(model, modelName: "Orders", form: form, scalars: .nonOptional)
            #expect(try Compiler.check(code.files, hasMacros: form == .macro) == nil)
            let source = code.singleFile()
            for line in [
                "var count: Int64", "var isOpen: Bool", "var boxed: Int64?", "var made: Date?", "var needed: Double",
            ] {
                #expect(source.contains("\(line)\n") || source.contains("\(line) "), "\(form): \(line)")
            }
            let usual = ModelCode(model, modelName: "Orders", form: form).singleFile()
            #expect(usual.contains("var count: Int64?") && !usual.contains(".optional"))
        }
    }

    /// An enum that Swift cannot have is not generated, and two equal enums are generated once.
    @Test func enumsThatClashCompile() throws {
        func attribute(
            _ name: String, _ type: AttributeType, _ cases: String, enumName: String? = nil,
            default value: AttributeValue? = nil
        ) -> PropertyDescription {
            .attribute(
                AttributeDescription(
                    name: name, type: type, isOptional: true, defaultValue: value,
                    userInfo: ["enumCases": cases].merging(enumName.map { ["enumName": $0] } ?? [:]) { $1 }))
        }
        func items(_ name: String, _ inverse: String) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: "Mood", inverseName: inverse, isToMany: true))
        }
        func owner(_ name: String, _ inverse: String) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destinationEntityName: "Song", inverseName: inverse))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Song",
                properties: [
                    attribute("twice", .integer16, "sad = 1, glad = 1"), attribute("large", .integer16, "huge = 70000"),
                    attribute("named", .string, "sad, glad", enumName: "Mood"),
                    attribute("first", .string, "low, high", enumName: "Key", default: .string("low")),
                    attribute("same", .string, "low, high", enumName: "Key"),
                    attribute("unlike", .string, "low, high, mid", enumName: "Key"),
                    attribute("word", .integer32, "class, default = 7", enumName: "class", default: .integer(7)),
                    .attribute(AttributeDescription(name: "infinite", type: .double, defaultValue: .double(.infinity))),
                    .attribute(AttributeDescription(name: "below", type: .float, defaultValue: .float(-.infinity))),
                    .attribute(
                        AttributeDescription(
                            name: "composed", type: .composite, isOptional: true, attributeValueClassName: "protocol",
                            elements: [AttributeDescription(name: "in", type: .string, isOptional: true)])),
                    items("items", "a"), items("Items", "b"),
                ]),
            EntityDescription(
                name: "Mood",
                properties: [
                    attribute("Key", .string, "low, high", enumName: "Key"), owner("a", "items"), owner("b", "Items"),
                ]),
        ])
        for form in ModelCode.Form.allCases where form == .plain || Compiler.hasMacros {
            let code = ModelCode(model, modelName: "Songs", form: form, isPublic: true)
            let complaint = try Compiler.check(code.files, hasMacros: form == .macro)
            #expect(complaint == nil)
            let text = code.singleFile()
            #expect(text.contains("enum Key: String") && text.contains("enum Key2: String"))
            #expect(
                !text.contains("Key3") && !text.contains("case huge")
            )
        }
    }

    /// The habit of Core Data: there, the class of a category inherits from `NSManagedObject`.
    @Test func aClassThatDoesNotInheritFromItsBaseIsTold() throws {
        let name = AttributeDescription(name: "name", type: .string, isOptional: true)
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "Cook", properties: [.attribute(name)])])
        let code = ModelCode(model, modelName: "Kitchen", form: .plain)
        let own = ["Cook.swift": "import StrataGraph\nfinal class Cook: ManagedObject {}\n"]
        let complaint = try #require(try Compiler.check(code.files, with: own))
        let errors = complaint.split(separator: "\n").filter { $0.contains("error: ") }
        #expect(
            errors.first?.hasSuffix("the class of the entity Cook inherits from _Cook: class Cook: _Cook {}") == true,
            "\(complaint)")
    }

    /// The app's file keeps its name, even if the type of the model would have the same name.
    @Test func noTwoFilesHaveOneName() throws {
        let names = ["UserModel", "UserModelTypes"]
        let model = try ManagedObjectModel(
            entities: names.map {
                EntityDescription(
                    name: $0,
                    properties: [
                        .attribute(
                            AttributeDescription(
                                name: "x", type: .transformable, isOptional: true, attributeValueClassName: "Strange"))
                    ])
            })
        let files = ModelCode(model, modelName: "User", form: .plain).files
        #expect(Set(files.map { $0.name.lowercased() }).count == files.count, "\(files.map(\.name))")
        #expect(files.first { $0.name == "UserModel.swift" }?.belongsToApp == true)
    }

    @Test func theFilesOfAModelAreTheseWhicheverWay() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Tie",
                properties: [
                    .attribute(
                        AttributeDescription(
                            name: "color", type: .transformable, isOptional: true, valueTransformerName: "T",
                            attributeValueClassName: "Paint"))
                ])
        ])
        let files = ModelCode(model, modelName: "Ties", form: .macro).files
        #expect(files.map(\.name) == ["Tie+Properties.swift", "Tie.swift", "TiesModel.swift", "TiesModelTypes.swift"])
        #expect(files.map(\.belongsToApp) == [false, true, false, true])
        #expect(
            files[0].text == """
                // Generated by strata from the model Ties. Changes are lost when it is generated again.
                // swift-format-ignore-file

                import Foundation
                import Strata

                /// The entity `Tie`.
                @Entity final class Tie: ManagedObject {
                    /// Transformable, optional, as the transformer `T` makes it.
                    @Attribute(.transformable(by: "T")) var color: Paint?
                }

                extension Tie {
                    /// Asks for all objects of the entity.
                    static func fetchRequest() -> FetchRequest<Tie> {
                        FetchRequest<Tie>()
                    }
                }

                """)
    }
}

/// Compiles Swift files with the modules that were built with the tests.
enum Compiler {
    private static let products: URL = {
        let bundle = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [
            bundle, Bundle.main.bundleURL, Bundle.main.executableURL?.deletingLastPathComponent() ?? bundle,
        ]
        return candidates.first {
            FileManager.default.fileExists(atPath: $0.appending(path: "Modules/StrataGraph.swiftmodule").path)
        } ?? bundle
    }()

    static let hasMacros = [products.appending(path: "Modules/Strata.swiftmodule"), macros]
        .allSatisfy { FileManager.default.fileExists(atPath: $0.path) }
    /// The folder with the module map of the C library.
    private static let moduleMap = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/CLMDB/module.modulemap").standardizedFileURL.path
    private static let macros = products.appending(component: "StrataMacros-tool")

    /// - Parameter texts: the texts of files that the app has changed, by name.
    /// - Returns: the messages of the compiler; nil if there are none.
    static func check(
        _ files: [ModelCode.File], hasMacros: Bool = false, with texts: [String: String] = [:]
    ) throws -> String? {
        let directory = FileManager.default.temporaryDirectory.appending(component: "generated-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-module-name", "Generated", "-parse-as-library",
            "-warnings-as-errors", "-I", products.appending(component: "Modules").path,
            "-Xcc", "-fmodule-map-file=\(moduleMap)",
            "-Xcc", "-fmodule-map-file=\(products.appending(path: "CChecksum.build/module.modulemap").path)",
        ]
        if hasMacros { arguments += ["-load-plugin-executable", "\(macros.path)#StrataMacros"] }
        for file in files {
            let url = directory.appending(component: file.name)
            try Data((texts[file.name] ?? file.text).utf8).write(to: url)
            arguments.append(url.path)
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardError = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 && text.isEmpty ? nil : String(text.prefix(3000)) + "?"
    }
}
