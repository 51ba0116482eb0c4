import Foundation
import StrataModel
import StrataTestSupport
import StrataXcode
import Testing

struct RandomModelTests {
    @Test(arguments: RandomTesting.seeds)
    func aModelMadeInCodeComesBackEqual(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<20 {
            let model = try RandomModel(&generator).model()
            let contents = try model.xcodeContents()
            let file = try XcodeModel(contents: contents, name: "M")
            #expect(file.diagnostics == [], "seed \(seed), round \(round)")
            let read = try file.managedObjectModel()
            #expect(read == model, "seed \(seed), round \(round): \(Self.difference(read, model))")
            // A model that was read is written unchanged.
            #expect(try file.managedObjectModel().xcodeContents() == contents, "seed \(seed), round \(round)")
        }
    }

    /// The first difference, from both sides.
    private static func difference(_ left: ManagedObjectModel, _ right: ManagedObjectModel) -> String {
        for (one, other) in zip(left.entities, right.entities) where one != other {
            for (one, other) in zip(one.properties, other.properties) where one != other { return "\(one) <> \(other)" }
            return "\(one) <> \(other)"
        }
        return "\(left.fetchRequestTemplates) \(left.fetchedProperties) \(left.configurations) \(left.editorInfo) <> "
            + "\(right.fetchRequestTemplates) \(right.fetchedProperties) \(right.configurations) \(right.editorInfo)"
    }

    @Test func aNoteThatXcodeHasOutdatedIsPassedOver() throws {
        let rule = ValidationPredicate(try FetchPredicate(format: "SELF CONTAINS \"@\""), message: "It is no address.")
        let attribute = AttributeDescription(name: "mail", type: .string, validationRules: [.predicate(rule)])
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "A", properties: [.attribute(attribute)])]
        )
        let text = String(decoding: try model.xcodeContents(), as: UTF8.self)
        #expect(text.contains("strata.description"))
        let edited = text.replacing("attributeType=\"String\"", with: "optional=\"YES\" attributeType=\"URI\"")
        let file = try XcodeModel(contents: Data(edited.utf8), name: "M")
        #expect(file.diagnostics.map(\.kind) == [.unreadable])
        let read = try #require(try file.managedObjectModel().entities.first?.properties.first?.attribute)
        #expect(read.type == .uri && read.isOptional && read.validationRules.isEmpty)
    }
}

/// A valid model with everything that code can express.
private struct RandomModel {
    private var entities: [EntityDescription] = []
    private var templates: [FetchRequestTemplate] = []
    private var fetched: [FetchedPropertyDescription] = []
    private var configurations: [ModelConfiguration] = []

    func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities).adding(
            fetchRequestTemplates: templates, fetchedProperties: fetched, configurations: configurations,
            versionIdentifier: "7")
    }

    init(_ generator: inout SeededGenerator) throws {
        let count = Int.random(in: 1...4, using: &generator)
        for number in 0..<count { entities.append(try Self.entity(number, &generator)) }
        for number in 0..<Int.random(in: 0...4, using: &generator) { addRelationship(number, count, &generator) }
        for number in 0..<Int.random(in: 0...2, using: &generator) {
            var template = FetchRequestTemplate(
                name: "request \(number)", entityName: "E0", where: try FetchPredicate(format: "plain == $X OR 1 = 1"))
            if Bool.random(using: &generator) {
                template.sortDescriptors = [SortDescription("plain", isAscending: false)]
            }
            template.fetchLimit = Int.random(in: 0...2, using: &generator)
            template.includesSubentities = Bool.random(using: &generator)
            template.returnsObjectsAsFaults = Bool.random(using: &generator)
            templates.append(template)
        }
        if Bool.random(using: &generator) {
            var property = FetchedPropertyDescription(
                "alike", of: "E0", FetchRequestTemplate(name: "any", entityName: "E0", limit: 3))
            property.isOptional = Bool.random(using: &generator)
            property.userInfo = Self.userInfo(&generator)
            fetched.append(property)
        }
        if Bool.random(using: &generator) {
            configurations.append(ModelConfiguration(name: "Some <&>", entityNames: ["E0"]))
        }
    }

    private static func userInfo(_ generator: inout SeededGenerator) -> [String: String] {
        [
            [:], [:], ["key": "value"], ["a\"<>&'": "line\nbreak\ttab\r", "z": ""], ["strata.description": "{}"],
            ["control": "\u{1}\u{FFFE}"],
        ].randomElement(using: &generator) ?? [:]
    }

    private static func entity(_ number: Int, _ generator: inout SeededGenerator) throws -> EntityDescription {
        var entity = EntityDescription(name: "E\(number)")
        entity.managedObjectClassName = [nil, "Module.Thing", "E\(number)"].randomElement(using: &generator) ?? nil
        entity.isAbstract = number > 0 && Bool.random(using: &generator)
        if number > 0, Bool.random(using: &generator) { entity.superentityName = "E\(number - 1)" }
        entity.renamingIdentifier = Bool.random(using: &generator) ? "old\(number)" : nil
        entity.versionHashModifier = Bool.random(using: &generator) ? "x" : nil
        entity.userInfo = userInfo(&generator)
        entity.properties.append(
            .attribute(
                AttributeDescription(name: number == 0 ? "plain" : "plain\(number)", type: .string, isOptional: true)))
        for index in 0..<Int.random(in: 0...6, using: &generator) {
            entity.properties.append(.attribute(try attribute("e\(number)a\(index)", &generator)))
        }
        let name = entity.properties[0].name
        if let forms = ["uppercase:(\(name))", "canonical:(\(name))", name, "now()"].randomElement(using: &generator) {
            entity.properties.append(
                .attribute(
                    AttributeDescription(
                        name: "derived\(number)", type: forms == "now()" ? .date : .string, isOptional: true,
                        derivationExpression: try FetchExpression(format: forms))))
        }
        if Bool.random(using: &generator) {
            entity.indexes.append(
                FetchIndexDescription(
                    name: "by name",
                    elements: [
                        FetchIndexElement(
                            name, isAscending: Bool.random(using: &generator),
                            folding: Bool.random(using: &generator) ? .caseInsensitive : [])
                    ],
                    partialIndexPredicate: Bool.random(using: &generator)
                        ? try FetchPredicate(format: "\(name) != nil") : nil))
        }
        if Bool.random(using: &generator) { entity.uniquenessConstraints = [[name]] }
        if Bool.random(using: &generator) {
            entity.validationPredicates = [
                ValidationPredicate(try FetchPredicate(format: "\(name) != \"bad\""), message: "It is bad.")
            ]
        }
        return entity
    }

    private static func attribute(_ name: String, _ generator: inout SeededGenerator) throws -> AttributeDescription {
        let type = AttributeType.allCases.randomElement(using: &generator) ?? .string
        var attribute = AttributeDescription(name: name, type: type)
        attribute.isOptional = Bool.random(using: &generator)
        attribute.isTransient = type == .undefined || Int.random(in: 0..<8, using: &generator) == 0
        attribute.renamingIdentifier = Bool.random(using: &generator) ? "was_\(name)" : nil
        attribute.versionHashModifier = Bool.random(using: &generator) ? "h" : nil
        attribute.preservesValueInHistoryOnDeletion = Bool.random(using: &generator)
        attribute.userInfo = userInfo(&generator)
        let hasMore = Bool.random(using: &generator)
        switch type {
        case .integer16, .integer32, .integer64:
            if hasMore { attribute.defaultValue = .integer(Int64.random(in: -9...9, using: &generator)) }
            if hasMore { attribute.validationRules = [.range(minimum: .integer(-9), maximum: nil)] }
        case .double:
            if hasMore { attribute.defaultValue = .double([0.1, -0.0, 1e300].randomElement(using: &generator) ?? 0) }
        case .float: if hasMore { attribute.defaultValue = .float(0.1) }
        case .decimal: if hasMore { attribute.defaultValue = .decimal(Decimal(string: "123456789012345678.25") ?? 0) }
        case .boolean: if hasMore { attribute.defaultValue = .boolean(Bool.random(using: &generator)) }
        case .string:
            if hasMore {
                attribute.defaultValue = .string(["", "a", "\u{2}", "<\"&\n"].randomElement(using: &generator) ?? "")
            }
            if Bool.random(using: &generator) {
                attribute.validationRules = [.length(minimum: nil, maximum: 9), .pattern("[^q]*")]
            }
        case .date:
            if hasMore { attribute.defaultValue = .date(Date(timeIntervalSinceReferenceDate: 0.1)) }
        case .uuid:
            if hasMore {
                attribute.defaultValue = .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
            }
        case .uri:
            if hasMore { attribute.defaultValue = URL(string: "https://example.org/a?b=1&c").map(AttributeValue.url) }
            if Bool.random(using: &generator) { attribute.validationRules = [.length(minimum: 1, maximum: nil)] }
        case .binaryData:
            if hasMore { attribute.defaultValue = .data(Data([1, 2])) }
            attribute.allowsExternalBinaryDataStorage = !attribute.isTransient && Bool.random(using: &generator)
        case .transformable:
            attribute.valueTransformerName = hasMore ? "T" : nil
            attribute.attributeValueClassName = Bool.random(using: &generator) ? "[Int64]" : nil
        case .composite:
            attribute.attributeValueClassName = hasMore ? "Part_\(name)" : nil
            attribute.elements = [
                AttributeDescription(name: "one", type: .double, defaultValue: .double(1)),
                AttributeDescription(
                    name: "two", type: .uri, isOptional: true, validationRules: [.length(minimum: 1, maximum: 4)]),
            ]
        case .undefined, .objectID: break
        }
        return attribute
    }

    private mutating func addRelationship(_ number: Int, _ count: Int, _ generator: inout SeededGenerator) {
        let from = Int.random(in: 0..<count, using: &generator), to = Int.random(in: 0..<count, using: &generator)
        var forth = RelationshipDescription(name: "r\(number)", destinationEntityName: "E\(to)")
        forth.isToMany = Bool.random(using: &generator)
        forth.isOrdered = forth.isToMany && Bool.random(using: &generator)
        forth.deleteRule = [.noAction, .nullify, .cascade, .deny].randomElement(using: &generator) ?? .nullify
        forth.minCount = Int.random(in: 0...1, using: &generator)
        forth.maxCount =
            forth.isToMany ? Int.random(in: 0...4, using: &generator) : Int.random(in: 0...1, using: &generator)
        if forth.maxCount > 0 { forth.minCount = min(forth.minCount, forth.maxCount) }
        forth.userInfo = Self.userInfo(&generator)
        // It comes before all other properties, so that the order in the file and in the model differ.
        if Bool.random(using: &generator) {
            forth.hasNoInverse = true
            entities[from].properties.insert(.relationship(forth), at: 0)
        } else {
            let back = RelationshipDescription(
                name: "back\(number)", destinationEntityName: "E\(from)", isToMany: true,
                isOptional: Bool.random(using: &generator))
            forth.inverseName = back.name
            entities[from].properties.insert(.relationship(forth), at: 0)
            entities[to].properties.append(.relationship(back))
        }
    }
}
