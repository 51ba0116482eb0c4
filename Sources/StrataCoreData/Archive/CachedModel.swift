import Foundation
import StrataModel
import StrataXcode

/// Reads the `NSManagedObjectModel` that Core Data keeps in a store's file, as descriptions of Strata.
///
/// Every entity has its inherited properties too; those are left to the parent. Destinations and inverses are read by
/// their names, so that the cycles of the archive are not followed.
struct CachedModel {
    /// The largest model that is read, unpacked.
    static let largestSizeInBytes = 4 << 20
    /// The longest name of an entity or a property that is read.
    static let mostBytesOfName = 4_000

    private let archive: KeyedArchive
    private let predicates: ArchivedPredicate
    private(set) var content = ModelContent()
    /// The number of members of lists that may still be read. Objects can share them in the archive, so that few bytes
    /// could stand for very many.
    private var membersLeft = 300_000
    private var compositeDepth = 0

    /// - Parameter packed: the raw deflate stream of a keyed archive.
    init(packed: [UInt8]) throws(ArchiveError) {
        let isPacked = !packed.starts(with: Array("bplist".utf8))
        try self.init(archived: isPacked ? Inflate.unpack(packed, limit: Self.largestSizeInBytes) : packed)
    }

    init(archived: [UInt8]) throws(ArchiveError) {
        archive = try KeyedArchive(archived)
        predicates = ArchivedPredicate(archive: archive)
        guard archive.className(of: archive.root) == "NSManagedObjectModel" else {
            throw ArchiveError("it is an archive, but not of a model")
        }
        let entities = named(archive.field("NSEntities", of: archive.root))
        guard !entities.isEmpty else { throw ArchiveError("it has no entities") }
        for (_, object) in entities {
            let described = entity(object)
            content.entities.append(described)
            for name in [described.name] + described.properties.map(\.name)
            where name.utf8.count > Self.mostBytesOfName {
                throw ArchiveError("it has a name of \(name.utf8.count) bytes")
            }
            guard membersLeft >= 0 else { throw ArchiveError("it has too many parts") }
        }
        for (name, request) in named(archive.field("NSFetchRequestTemplates", of: archive.root)) {
            add(template: name, request)
        }
        for (name, list) in named(archive.field("NSConfigurations", of: archive.root)) {
            let names = members(of: list).compactMap { text("NSEntityName", $0) ?? archive.text($0) }
            content.supplement.configurations.append(ModelConfiguration(name: name, entityNames: names.sorted()))
        }
        let versions = members(of: archive.field("NSVersionIdentifiers", of: archive.root))
        let names = versions.compactMap { archive.text($0) }.filter { !$0.isEmpty }
        content.supplement.versionIdentifier = names.min()
    }

    private func text(_ name: String, _ object: KeyedArchive.Index?) -> String? {
        let field = archive.field(name, of: object)
        return archive.text(field) ?? archive.text(archive.field("NS.string", of: field))
    }

    private func flag(_ name: String, _ object: KeyedArchive.Index) -> Bool {
        archive.isTrue(archive.field(name, of: object))
    }

    private func integer(_ name: String, _ object: KeyedArchive.Index?) -> Int64? {
        archive.integer(archive.field(name, of: object))
    }

    private mutating func members(of object: KeyedArchive.Index?) -> [KeyedArchive.Index] {
        let members = membersLeft < 0 ? [] : archive.members(of: object)
        membersLeft -= members.count
        return members
    }

    /// The entries of a dictionary by name, of Foundation's own or of Core Data's with known keys, sorted.
    private mutating func named(_ object: KeyedArchive.Index?) -> [(key: String, value: KeyedArchive.Index)] {
        guard let object, membersLeft >= 0 else { return [] }
        var entries = archive.entries(of: object)
        membersLeft -= entries.count
        if let values = archive.field("values", of: object) {
            let keys = members(of: archive.field("keys", of: archive.field("searchMapping", of: object)))
            entries = zip(keys, members(of: values)).compactMap { key, value in
                archive.text(key).map { ($0, value) }
            }
        }
        return entries.sorted { $0.key < $1.key }
    }

    private mutating func note(_ owner: String, _ sentence: String) { content.notes.append("\(owner): \(sentence)") }

    /// Entries of text; others are noted.
    private mutating func userInfo(_ object: KeyedArchive.Index, _ owner: String) -> [String: String] {
        let entries = membersLeft < 0 ? [] : archive.entries(of: archive.field("NSUserInfo", of: object))
        membersLeft -= entries.count
        let texts = entries.compactMap { key, value -> (String, String)? in
            switch ArchivedValue(archive).value(value) {
            case .string(let text)?: (key, text)
            case .integer(let number)?: (key, String(number))
            case .boolean(let value)?: (key, value ? "1" : "0")
            default: nil
            }
        }
        if texts.count < entries.count { note(owner, "entries of the user info that are no text are left out") }
        return Dictionary(texts, uniquingKeysWith: { first, _ in first })
    }

    /// A renaming identifier that says something else than the name.
    private func renaming(_ object: KeyedArchive.Index, _ name: String) -> String? {
        text("NSRenamingIdentifier", object).flatMap { $0 == name || $0.isEmpty ? nil : $0 }
    }

    // MARK: Entities

    private mutating func entity(_ object: KeyedArchive.Index) -> EntityDescription {
        let name = text("NSEntityName", object) ?? ""
        let parent = archive.field("NSSuperentity", of: object)
        let inherited = Set(named(archive.field("NSProperties", of: parent)).map(\.key))
        let className = text("NSClassNameForEntity", object)
        var entity = EntityDescription(
            name: name, managedObjectClassName: className == "NSManagedObject" ? nil : className,
            isAbstract: flag("NSIsAbstract", object), superentityName: text("NSEntityName", parent),
            renamingIdentifier: renaming(object, name), versionHashModifier: text("NSVersionHashModifier", object))
        entity.userInfo = userInfo(object, name)
        for (key, property) in named(archive.field("NSProperties", of: object)) where !inherited.contains(key) {
            if membersLeft < 0 { break }
            let owner = "\(name).\(key)"
            switch archive.className(of: property) {
            case "NSRelationshipDescription":
                let relationship = self.relationship(property, key, owner)
                entity.properties.append(.relationship(relationship))
            case "NSFetchedPropertyDescription": add(fetchedProperty: key, property, of: name)
            case "NSExpressionDescription": note(owner, "an expression is no property of a store and is left out")
            default:
                let attribute = self.attribute(property, key, owner)
                if attribute.isTransient, attribute.derivationExpression != nil { continue }
                entity.properties.append(.attribute(attribute))
            }
        }
        entity.uniquenessConstraints = members(of: archive.field("NSUniqueTuples", of: object)).map { tuple in
            members(of: tuple).compactMap { archive.text($0) ?? text("NSPropertyName", $0) }
        }
        entity.validationPredicates = validation(object, name)
        addIndexes(object, &entity)
        return entity
    }

    /// Files of models with attributes marked as indexed can have the same index twice; it is read once.
    private mutating func addIndexes(_ object: KeyedArchive.Index, _ entity: inout EntityDescription) {
        var known: Set<FetchIndexDescription> = []
        for index in members(of: archive.field("NSFetchIndexDescriptions", of: object)) {
            let name = text("NSIndexName", index) ?? "by\(entity.indexes.count + 1)"
            let elements = members(of: archive.field("NSIndexElements", of: index))
            let parts = elements.compactMap { element -> FetchIndexElement? in
                guard let path = text("NSPropertyName", element), integer("NSFetchIndexElementType", element) ?? 0 == 0
                else { return nil }
                return FetchIndexElement(path, isAscending: flag("NSAscending", element))
            }
            guard parts.count == elements.count, !parts.isEmpty else {
                note("\(entity.name).\(name)", "an index over an expression or an area is left out")
                continue
            }
            let condition = archive.field("NSPartialIndexPredicate", of: index)
            let predicate = predicates.predicate(condition)
            if condition != nil, predicate == nil {
                note("\(entity.name).\(name)", "the condition of the index cannot be read; it has all objects")
            }
            let description = FetchIndexDescription(name: name, elements: parts, partialIndexPredicate: predicate)
            if known.insert(description).inserted { entity.indexes.append(description) }
        }
        for (number, tuple) in members(of: archive.field("NSCompoundIndexes", of: object)).enumerated() {
            let names = members(of: tuple).compactMap { archive.text($0) ?? text("NSPropertyName", $0) }
            guard !names.isEmpty else { continue }
            entity.indexes.append(
                FetchIndexDescription(name: "compound\(number + 1)", elements: names.map { FetchIndexElement($0) }))
        }
    }

    private mutating func validation(_ object: KeyedArchive.Index, _ owner: String) -> [ValidationPredicate] {
        let rules = members(of: archive.field("NSValidationPredicates", of: object))
        let messages = members(of: archive.field("NSValidationWarnings", of: object)).map { archive.text($0) }
        return rules.enumerated().compactMap { index, rule in
            let message = index < messages.count ? messages[index].flatMap { $0.isEmpty ? nil : $0 } : nil
            guard let predicate = predicates.predicate(rule) else {
                note(owner, "a validation predicate cannot be read and is left out")
                return nil
            }
            return ValidationPredicate(predicate, message: message ?? "\(owner) does not meet \(predicate)")
        }
    }

    // MARK: Properties

    private mutating func attribute(
        _ object: KeyedArchive.Index, _ name: String, _ owner: String
    ) -> AttributeDescription {
        let number = integer("NSAttributeType", object) ?? 0
        var type = UInt16(exactly: number).flatMap(AttributeType.init(rawValue:))
        let isTransient = flag("NSIsTransient", object)
        if type == nil || type == .undefined && !isTransient {
            note(owner, "the type \(number) is not known; the values are kept as bytes")
            type = .transformable
        }
        var attribute = AttributeDescription(
            name: name, type: type ?? .transformable, isOptional: flag("NSIsOptional", object),
            isTransient: isTransient)
        attribute.renamingIdentifier = renaming(object, name)
        attribute.versionHashModifier = text("NSVersionHashModifier", object)
        attribute.valueTransformerName = text("NSValueTransformerName", object)
        attribute.userInfo = userInfo(object, owner)
        let flags = integer("NSFlagsKey", object) ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & 0x4 != 0 && type == .binaryData
        attribute.preservesValueInHistoryOnDeletion = flags & 0x10 != 0
        if [.transformable, .composite].contains(type) {
            let className = text("NSAttributeValueClassName", object)
            attribute.attributeValueClassName = className == ModelArchiver.classOfComposites ? nil : className
        }
        if type == .composite, compositeDepth < ModelLimits.compositeDepth {
            compositeDepth += 1
            defer { compositeDepth -= 1 }
            let elements = members(of: archive.field("NSCompositeElements", of: object))
            for element in elements {
                guard membersLeft >= 0, let part = text("NSPropertyName", element) else { continue }
                attribute.elements.append(self.attribute(element, part, "\(owner).\(part)"))
            }
        }
        readDefault(object, owner, &attribute)
        if archive.className(of: object) == "NSDerivedAttributeDescription" {
            readDerivation(object, owner, &attribute)
        }
        if attribute.derivationExpression == nil, !isTransient {
            attribute.validationRules = ValidationForms.rules(validation(object, owner), attribute.type)
        }
        return attribute
    }

    private mutating func readDefault(
        _ object: KeyedArchive.Index, _ owner: String, _ attribute: inout AttributeDescription
    ) {
        guard let field = archive.field("NSDefaultValue", of: object) else { return }
        guard attribute.type != .transformable, attribute.type != .composite,
            let value = ArchivedValue(archive).value(field), let fitting = value.coerced(to: attribute.type)
        else { return note(owner, "the default value cannot be read and is left out") }
        attribute.defaultValue = fitting
    }

    /// `count:` and `sum:` over a to-many are written as steps of the path.
    private mutating func readDerivation(
        _ object: KeyedArchive.Index, _ owner: String, _ attribute: inout AttributeDescription
    ) {
        var expression = predicates.expression(archive.field("NSDerivationExpression", of: object))
        switch expression {
        case .function(.count, let parts)? where parts.count == 1:
            if case .keyPath(let path) = parts[0] { expression = .keyPath("\(path).@count") }
        case .function(.sum, let parts)? where parts.count == 1:
            if case .keyPath(let path) = parts[0] { expression = .keyPath("\(path).@sum") }
        default: break
        }
        if archive.field("NSFilteringPredicate", of: object) != nil {
            return note(owner, "it is derived from filtered objects, which Strata does not do; it keeps its values")
        }
        guard let expression, AttributeDerivation(expression) != nil else {
            return note(owner, "its derivation has no form in Strata; it keeps its values")
        }
        attribute.derivationExpression = expression
    }

    private mutating func relationship(
        _ object: KeyedArchive.Index, _ name: String, _ owner: String
    ) -> RelationshipDescription {
        let destination =
            text("_NSDestinationEntityName", object)
            ?? text("NSEntityName", archive.field("NSDestinationEntity", of: object)) ?? ""
        var relationship = RelationshipDescription(name: name, destinationEntityName: destination)
        relationship.inverseName =
            text("_NSInverseRelationshipName", object)
            ?? text("NSPropertyName", archive.field("NSInverseRelationship", of: object))
        relationship.hasNoInverse = relationship.inverseName == nil
        relationship.isOptional = flag("NSIsOptional", object)
        relationship.isTransient = flag("NSIsTransient", object)
        let most = integer("NSMaxCount", object) ?? 0
        relationship.isToMany = most != 1
        relationship.isOrdered = relationship.isToMany && flag("NSIsOrdered", object)
        if relationship.isToMany {
            relationship.maxCount = max(0, Int(clamping: most))
            relationship.minCount = max(0, Int(clamping: integer("NSMinCount", object) ?? 0))
        }
        let rule = integer("NSDeleteRule", object) ?? 1
        relationship.deleteRule = UInt8(exactly: rule).flatMap(DeleteRule.init(rawValue:)) ?? .nullify
        relationship.renamingIdentifier = renaming(object, name)
        relationship.versionHashModifier = text("NSVersionHashModifier", object)
        relationship.userInfo = userInfo(object, owner)
        return relationship
    }

    // MARK: Requests

    private mutating func add(template name: String, _ object: KeyedArchive.Index) {
        guard let request = self.request(object, name, name) else { return }
        content.supplement.fetchRequestTemplates.append(request)
    }

    private mutating func add(fetchedProperty name: String, _ object: KeyedArchive.Index, of entityName: String) {
        let owner = "\(entityName).\(name)"
        guard let request = self.request(archive.field("NSFetchRequest", of: object), name, owner) else { return }
        var property = FetchedPropertyDescription(name, of: entityName, request)
        property.userInfo = userInfo(object, owner)
        content.supplement.fetchedProperties.append(property)
    }

    private mutating func request(
        _ object: KeyedArchive.Index?, _ name: String, _ owner: String
    ) -> FetchRequestTemplate? {
        let condition = archive.field("NSPredicate", of: object)
        let predicate = predicates.predicate(condition)
        guard let object, let entity = text("NSEntityName", archive.field("NSEntity", of: object)),
            condition == nil || predicate != nil
        else {
            note(owner, "the request cannot be read and is left out")
            return nil
        }
        var template = FetchRequestTemplate(name: name, entityName: entity, where: predicate)
        template.fetchLimit = max(0, Int(clamping: integer("NSFetchLimit", object) ?? 0))
        template.fetchBatchSize = max(0, Int(clamping: integer("NSBatchSize", object) ?? 0))
        template.sortDescriptors = members(of: archive.field("NSSortDescriptors", of: object)).compactMap {
            sort in
            text("NSKey", sort).map { SortDescription($0, isAscending: flag("NSAscending", sort)) }
        }
        return template
    }
}

/// A model before it is checked: its entities, its other parts, and notes of those that were left out.
struct ModelContent {
    var entities: [EntityDescription] = []
    var supplement = ModelSupplement()
    /// The parts of the model that Strata does not take over, a phrase each with the name before it.
    var notes: [String] = []
}
