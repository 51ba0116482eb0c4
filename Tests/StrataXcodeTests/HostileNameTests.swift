import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataXcode

/// Names and values of a model that generated code could take for something else.
@Suite struct HostileNameTests {
    /// Names that accessors, their parameters, or the code of the classes use, and words of Swift.
    private static let names = [
        "members", "member", "index", "newValue", "oldValue", "value", "values", "context", "visitor", "object",
        "objects",
        "addToMembers", "removeFromMember", "fetchRequest", "get", "set", "some", "any", "async", "await", "actor",
        "lazy",
        "weak", "willSet", "didSet", "borrowing", "consuming", "macro", "package", "nonisolated", "mutating",
        "required",
        "convenience", "dynamic", "final", "optional", "override", "left", "prefix", "indirect", "repeat", "throws",
        "rethrows", "operator", "print", "type", "error", "key", "keyPath", "id", "name", "number", "data", "date",
        "url",
        "state", "body", "body_", "min", "max", "abs", "count", "first", "insert", "delete", "remove", "append", "seed",
        "insertIntoMembers", "at", "entityName_", "String", "Int", "Int64", "Bool", "Date", "Double", "Optional", "Set",
        "Sequence", "ToMany", "Result", "Error", "Data", "Entity", "ManagedObject", "FetchRequest", "ObjectID",
        "Strata",
        "Foundation", "Swift", "_", "_x", "_get", "_set", "é", "名前", "x1",
    ]

    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .double, .float, .decimal, .string, .boolean, .date, .binaryData, .uuid,
        .uri,
    ]

    private func complaint(_ model: ManagedObjectModel, _ form: ModelCode.Form) throws -> String? {
        try Compiler.check(
            ModelCode(model, modelName: "Hostile", form: form, isPublic: form == .macro).files,
            hasMacros: form == .macro)
    }

    private static var forms: [ModelCode.Form] {
        ModelCode.Form.allCases.filter { $0 == .plain || Compiler.hasMacros }
    }

    /// Every name as an attribute of one entity and as a to-many of another.
    @Test func everyNameIsUsedAsAPropertyOfEachKind() throws {
        let names = Self.names
        let attributes = names.enumerated().map { number, name in
            PropertyDescription.attribute(
                AttributeDescription(name: name, type: Self.types[number % Self.types.count], isOptional: true))
        }
        let many = names.map { name in
            PropertyDescription.relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: "Other", inverseName: name, isToMany: true, isOrdered: true))
        }
        let one = names.map { name in
            PropertyDescription.relationship(
                RelationshipDescription(name: name, destinationEntityName: "Many", inverseName: name))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "One", properties: attributes), EntityDescription(name: "Many", properties: many),
            EntityDescription(name: "Other", properties: one),
        ])
        for form in Self.forms { #expect(try complaint(model, form) == nil, "\(form)") }
    }

    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2]))
    func modelsOfSuchNamesCompile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let classes = [
            "members", "Value", "Member", "context", "Sequence", "Range", "Index", "Object", "newValue", "Self_", "_",
            "Movie", "_Movie", "__Movie", "movie", "any", "some", "each", "willSet", "didSet", "get", "set", "_get",
            "sending", "nonisolated", "override", "default", "init", "subscript", "Int", "EntityBuilder", "String",
            "ManagedEntity", "Swift", "StrataGraph", "Foundation", "Data", "ToMany", "_Class_members", "HostileModel",
            "_HostileModel", "FetchRequest", "Hashable", "_ObjectSeed", "_KeyPathVisitor",
        ]
        var entities: [EntityDescription] = []
        for (number, name) in classes.shuffled(using: &generator).prefix(8).enumerated() {
            var properties = Self.names.shuffled(using: &generator).prefix(12).map { name in
                let type = Self.types.randomElement(using: &generator) ?? .string
                return PropertyDescription.attribute(
                    AttributeDescription(
                        name: name, type: type, isOptional: .random(using: &generator),
                        validationRules: Self.rules(type, &generator)))
            }
            let taken = Set(properties.map(\.name))
            if let link = Self.names.first(where: { !taken.contains($0) }) {
                properties.append(
                    .relationship(
                        RelationshipDescription(
                            name: link, destinationEntityName: name, hasNoInverse: true, isToMany: true,
                            isOrdered: number % 2 == 0)))
            }
            entities.append(EntityDescription(name: name, properties: properties))
        }
        let model = try ManagedObjectModel(entities: entities)
        for form in Self.forms {
            let found = try complaint(model, form)
            #expect(found == nil, "seed \(seed), \(form)")
        }
    }

    /// A macro reads types by name, and takes such a class for a type of values.
    @Test func classesNamedLikeTypesOfValuesAreDestinations() throws {
        let names = [
            "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int16", "Int32", "Int64", "String", "URL",
            "UUID", "ObjectID",
        ]
        for name in names {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    name: name,
                    properties: [
                        .relationship(
                            RelationshipDescription(
                                name: "owner", destinationEntityName: "Owner", inverseName: "one", isOptional: false))
                    ]),
                EntityDescription(
                    name: "Owner",
                    properties: [
                        .relationship(
                            RelationshipDescription(
                                name: "one", destinationEntityName: name, inverseName: "owner", deleteRule: .cascade))
                    ]),
            ])
            for form in Self.forms { #expect(try complaint(model, form) == nil, "\(name), \(form)") }
        }
    }

    /// Classes named as a parameter or constant of the code.
    @Test func everyLocalNameIsUsedAsAClass() throws {
        let names = CodeNames.locals.sorted()
        #expect(names.count > 3)
        let model = try ManagedObjectModel(
            entities: names.map { name in
                EntityDescription(
                    name: name,
                    properties: [
                        .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                        .relationship(
                            RelationshipDescription(
                                name: "next", destinationEntityName: name, inverseName: "previous", isToMany: true)),
                        .relationship(
                            RelationshipDescription(
                                name: "previous", destinationEntityName: name, inverseName: "next")),
                    ])
            })
        for form in Self.forms {
            let found = try complaint(model, form)
            #expect(found == nil, "\(form)")
        }
    }

    private func classes(_ names: [String]) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: names.map { name in
                EntityDescription(
                    name: name,
                    properties: [
                        .attribute(
                            AttributeDescription(
                                name: name == "init" || name == "subscript" || name == "deinit" ? "word" : name,
                                type: .string, isOptional: true)),
                        .relationship(
                            RelationshipDescription(
                                name: "next", destinationEntityName: name, inverseName: "previous", isToMany: true)),
                        .relationship(
                            RelationshipDescription(
                                name: "previous", destinationEntityName: name, inverseName: "next")),
                    ])
            })
    }

    /// Each is a model of its own, because a class that the form with macros cannot have changes the form of others.
    @Test(arguments: [
        ["any", "some", "each", "willSet", "didSet"], ["_"], ["init", "subscript", "deinit", "default"],
        ["sending", "nonisolated", "override", "lazy", "async", "actor"], ["get", "set", "_get", "_set"],
    ])
    func aClassMayBeCalledAsAWordThatIsNoType(names: [String]) throws {
        for form in Self.forms {
            #expect(try complaint(try classes(names), form) == nil, "\(form)")
            // Without a property of the same name, macros can express the class.
            let model = try ManagedObjectModel(
                entities: names.map {
                    EntityDescription(
                        name: $0,
                        properties: [.attribute(AttributeDescription(name: "word", type: .string, isOptional: true))])
                })
            #expect(try complaint(model, form) == nil, "\(form)")
        }
    }

    /// Classes that the code declares beside those of the entities have other names than these.
    @Test(arguments: [
        ["Movie", "_Movie", "__Movie", "_Movie2"], ["Movie", "movie", "MOVIE", "Movie2"], ["_", "__", "___"],
        ["HostileModel", "_HostileModel", "_HostileModel2"], ["members", "_Class_members"],
        ["Int", "Swift", "String", "StrataGraph", "ManagedEntity"], ["Int", "StrataModel", "Strata", "Foundation"],
        ["EntityBuilder", "EntityDefinition", "_KeyPathVisitor"], ["FetchIndexElement", "FetchPredicate", "Sendable"],
    ])
    func namesThatWouldBeOneAreTwo(names: [String]) throws {
        let model = try classes(names)
        for form in Self.forms {
            #expect(try complaint(model, form) == nil, "\(form)")
            let files = ModelCode(model, modelName: "Hostile", form: form).files.map { $0.name.lowercased() }
            #expect(Set(files).count == files.count && files.count == 2 * names.count + 1)
        }
    }

    /// `items` and `Items` have functions of one name, which a subclass cannot override.
    @Test func aSubclassHasToManysLikeThoseOfItsParent() throws {
        func items(_ name: String) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: "Item", hasNoInverse: true, isToMany: true, isOrdered: true))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "Item"), EntityDescription(name: "Parent", properties: [items("items")]),
            EntityDescription(name: "Child", superentityName: "Parent", properties: [items("Items")]),
        ])
        for form in Self.forms { #expect(try complaint(model, form) == nil, "\(form)") }
    }

    @Test func namesOfAnyLengthAndLineEndsInTextsCompile() throws {
        let long = String(repeating: "é", count: 127)
        let model = try ManagedObjectModel(
            entities: [long, long + "a"].map { name in
                EntityDescription(
                    name: name,
                    properties: [
                        .attribute(
                            AttributeDescription(
                                name: "word", type: .string, isOptional: true,
                                validationRules: [.pattern("a\rb\nc\u{0}")], userInfo: ["a\rb": "\u{2028}\u{0}"]))
                    ])
            })
        for form in Self.forms {
            let files = ModelCode(model, modelName: "a\rclass b\nclass c", form: form).files
            #expect(try Compiler.check(files, hasMacros: form == .macro) == nil, "\(form)")
        }
    }

    @Test func enumsOfHostileCasesCompile() throws {
        func attribute(_ name: String, _ cases: String, _ value: String) -> PropertyDescription {
            .attribute(
                AttributeDescription(
                    name: name, type: .string, isOptional: name.hasPrefix("o"), defaultValue: .string(value),
                    userInfo: ["enumCases": cases, "enumName": name + "Kind"]))
        }
        let words = "self,Self,Type,Protocol,init,_,any,some,none,default,hashValue,rawValue,sending"
        var properties = words.split(separator: ",").enumerated().flatMap { number, word in
            [attribute("o\(number)", words, String(word)), attribute("r\(number)", words, String(word))]
        }
        // A class, a composite and an enum may hide a type that macros use.
        properties.append(
            .attribute(
                AttributeDescription(
                    name: "composed", type: .composite, isOptional: true, attributeValueClassName: "Int",
                    elements: [AttributeDescription(name: "in", type: .string, isOptional: true)])))
        properties.append(attribute("raw", "RawValue, b", "b"))
        properties.append(attribute("all", "allCases, b", "b"))
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "Sendable", properties: properties), EntityDescription(name: "CaseIterable"),
        ])
        for form in Self.forms { #expect(try complaint(model, form) == nil, "\(form)") }
    }

    private static func rules(_ type: AttributeType, _ generator: inout SeededGenerator) -> [ValidationRule] {
        let bounds: [AttributeValue]
        switch type {
        case .integer16: bounds = [.integer(-32_768), .integer(-1), .integer(0), .integer(32_767)]
        case .integer32, .integer64: bounds = [.integer(-2_147_483_648), .integer(-5), .integer(2_147_483_647)]
        case .double: bounds = [.double(-.infinity), .double(-1e300), .double(-0.0), .double(1e-7), .double(.infinity)]
        case .float: bounds = [.float(-.infinity), .float(-1e30), .float(1e-7), .float(.infinity)]
        case .decimal: bounds = [.decimal(-1), .decimal(Decimal(string: "1e40") ?? 0)]
        case .date:
            bounds = [-1e12, -3600, 0, 1e12].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .string: return [.length(minimum: 1, maximum: .random(using: &generator) ? 5 : nil)]
        default: return []
        }
        let (low, high) = (Int.random(in: bounds.indices, using: &generator), bounds.count - 1)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: return [.range(minimum: bounds[low], maximum: nil)]
        case 1: return [.range(minimum: nil, maximum: bounds[low])]
        default: return [.range(minimum: bounds[low], maximum: bounds[high])]
        }
    }

    /// Every bound of every type, at either end or both.
    @Test func boundsOfEveryKindCompile() throws {
        var properties: [PropertyDescription] = []
        var generator = SeededGenerator(seed: 7)
        for type in Self.types {
            for number in 0..<12 {
                properties.append(
                    .attribute(
                        AttributeDescription(
                            name: "\(type)\(number)", type: type, isOptional: number % 2 == 0,
                            validationRules: Self.rules(type, &generator))))
            }
        }
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "Bounds", properties: properties)])
        for form in Self.forms { #expect(try complaint(model, form) == nil, "\(form)") }
    }

    // MARK: Composites

    private static let wordsOfKeys = [
        "CodingKeys", "CodingKeys_", "RawValue", "RawValue_", "rawValue", "stringValue", "intValue", "encode", "from",
        "into",
        "to", "allCases", "none", "Codable", "Hashable", "Sendable", "CodingKey", "Hasher", "Encoder", "Decoder",
    ]

    private func composite(
        _ name: String, of className: String? = nil, _ elements: [AttributeDescription]
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: .composite, isOptional: true, attributeValueClassName: className, elements: elements))
    }

    private static let defaults: [AttributeType: AttributeValue] = [
        .date: .date(Date(timeIntervalSinceReferenceDate: 1)), .decimal: .decimal(1), .string: .string("x"),
        .uuid: .uuid(UUID()), .binaryData: .data(Data([1])), .double: .double(-1), .boolean: .boolean(true),
        .uri: .url(URL(filePath: "/x")),
    ]

    /// Every name as an element of each of two types, with a default and without.
    @Test func everyNameIsUsedAsAnElement() throws {
        let parts =
            stride(from: 0, to: Self.names.count, by: 50).map { Array(Self.names[$0...].prefix(50)) }
            + [Self.wordsOfKeys]
        let composites = [0, 5].flatMap { shift in
            parts.enumerated().map { part, names in
                let elements = names.enumerated().map { number, name in
                    let type = Self.types[(number + shift) % Self.types.count]
                    return AttributeDescription(
                        name: name, type: type, isOptional: number % 2 == 0,
                        defaultValue: number % 3 == 0 ? nil : Self.defaults[type])
                }
                return composite("part\(shift)_\(part)", elements)
            }
        }
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "Whole", properties: composites)])
        for form in Self.forms {
            #expect(try complaint(model, form) == nil, "\(form)")
            let source = ModelCode(model, modelName: "Hostile", form: form).singleFile()
            #expect(
                source.contains("case CodingKeys_2 = \"CodingKeys\"") && source.contains(" RawValue_2 = \"RawValue\""))
        }
    }

    /// Two composites of one name, a nested one among them, and composites named as what Swift makes in a struct.
    @Test func compositesOfOneNameAreDifferentStructs() throws {
        let point = [AttributeDescription(name: "x", type: .double, isOptional: true)]
        let size = [AttributeDescription(name: "width", type: .double, isOptional: true)]
        func nested(_ name: String, _ elements: [AttributeDescription]) -> AttributeDescription {
            AttributeDescription(
                name: name, type: .composite, isOptional: true, attributeValueClassName: "Point", elements: elements)
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "A", properties: [composite("p", of: "Point", point)]),
            EntityDescription(
                name: "B",
                properties: [
                    composite("q", of: "Point", size), composite("r", of: "Outer", [nested("inner", size)]),
                    composite("s", of: "CodingKeys", [nested("CodingKeys", point)]),
                ]),
        ])
        for form in Self.forms {
            #expect(try complaint(model, form) == nil, "\(form)")
            let source = ModelCode(model, modelName: "Hostile", form: form).singleFile()
            for line in ["var p: Point?", "var q: Point_2?", "var inner: Point_2?", "var CodingKeys_: Point?"] {
                #expect(source.contains(line), "\(form): \(line)")
            }
            #expect(source.ranges(of: "struct Point_2:").count == 1)
        }
    }
}
