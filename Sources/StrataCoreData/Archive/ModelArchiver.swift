import Foundation
package import StrataModel
import StrataXcode

/// Archives a model as the `NSManagedObjectModel` that Core Data keeps in a store's file. `CachedModel` reads it.
package struct ModelArchiver {
    typealias Value = KeyedArchiveWriter.Value

    private var archive = KeyedArchiveWriter()
    private let model: ManagedObjectModel
    private var root = KeyedArchiveWriter.null
    private var entities: [String: Value] = [:]
    /// The archived properties by the entity that declares them.
    private var properties: [EntityHierarchy.PropertyKey: Value] = [:]
    /// The parts of the model that have no form in an archive, a phrase each.
    private var notes: [String] = []

    /// - Returns: the archive as a raw deflate stream, and notes of the parts that it does not have.
    static func cache(of model: ManagedObjectModel) -> (bytes: [UInt8], notes: [String]) {
        var archiver = ModelArchiver(model)
        let bytes = archiver.write()
        return (packed(bytes), archiver.notes)
    }

    /// Bytes as a raw deflate stream, in stored blocks.
    package static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 0xFFFF) {
            let block = bytes[start..<min(start + 0xFFFF, bytes.count)]
            let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
            stream += [start + block.count == bytes.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        return stream
    }

    /// - Parameter model: a model, which need not be valid.
    package init(_ model: ManagedObjectModel) { self.model = model }

    /// - Returns: the archive.
    package mutating func write() -> [UInt8] {
        root = archive.object("NSManagedObjectModel", [])
        let names = model.entities.map(\.name).sorted()
        for name in names {
            let text = archive.text(name)
            entities[name] = archive.object("NSEntityDescription", [("NSEntityName", text)])
        }
        for entity in model.entities {
            for property in entity.properties { declare(property, of: entity) }
        }
        for entity in model.entities { fill(entity) }
        let keys = archive.array(names.map { archive.text($0) })
        let mapping = archive.object(
            "NSKnownKeysMappingStrategy1",
            [("keys", keys), ("length", .integer(Int64(names.count))), ("version", .integer(1))])
        let values = archive.array(names.compactMap { entities[$0] })
        let token = archive.text("__empty_slot_token_4c24_98dc_ac1e_b773__")
        let all = archive.object(
            "NSKnownKeysDictionary1",
            [("searchMapping", mapping), ("values", values), ("emptyToken", token), ("version", .integer(1))])
        let version = archive.text(model.versionIdentifier ?? "")
        let versions = archive.object("NSSet", [("NS.objects", .list([version]))])
        let requests = archive.dictionary(
            model.fetchRequestTemplates.values.sorted { $0.name < $1.name }.compactMap { template in
                request(template, named: "the request \(template.name)").map { (template.name, $0) }
            })
        let configurations = archive.dictionary(
            model.configurations.sorted { $0.name < $1.name }.map { configuration in
                let members = configuration.entityNames.sorted().compactMap { entities[$0] }
                return (configuration.name, archive.object("NSSet", [("NS.objects", .list(members))]))
            })
        archive.set(
            root,
            [
                ("NSEntities", all), ("NSVersionIdentifiers", versions), ("NSFetchRequestTemplates", requests),
                ("NSConfigurations", configurations),
            ])
        return archive.bytes(root: root)
    }

    // MARK: Entities

    private mutating func fill(_ entity: EntityDescription) {
        var fields = model.hierarchy.declarations(of: entity.name).compactMap { declaration in
            properties[declaration.key].map { (declaration.property.name, $0) }
        }
        for fetched in model.fetchedProperties where model.hierarchy.isKind(entity.name, of: fetched.entityName) {
            if let object = self.fetched(fetched) { fields.append((fetched.name, object)) }
        }
        let tuples = entity.uniquenessConstraints.map { names in archive.array(names.map { archive.text($0) }) }
        let children = model.entities.filter { $0.superentityName == entity.name }
            .compactMap { child in entities[child.name].map { (child.name, $0) } }
        let indexes = entity.indexes.map { index($0, entity.name) }
        let (rules, warnings) = validation(entity.validationPredicates, entity.name)
        archive.set(
            entities[entity.name] ?? KeyedArchiveWriter.null,
            [
                ("NSManagedObjectModel", root),
                ("NSClassNameForEntity", archive.text(entity.managedObjectClassName ?? "NSManagedObject")),
                ("NSIsAbstract", .boolean(entity.isAbstract)),
                ("NSSuperentity", entity.superentityName.flatMap { entities[$0] } ?? KeyedArchiveWriter.null),
                ("NSSubentities", archive.dictionary(children)), ("NSProperties", archive.dictionary(fields)),
                ("NSUniqueTuples", archive.array(tuples)), ("NSUserInfo", userInfo(entity.userInfo)),
                ("NSRenamingIdentifier", archive.text(entity.renamingIdentifier ?? entity.name)),
                ("NSVersionHashModifier", archive.text(entity.versionHashModifier)),
                ("NSFetchIndexDescriptions", archive.array(indexes)),
                ("NSValidationPredicates", rules), ("NSValidationWarnings", warnings),
            ])
    }

    private mutating func userInfo(_ entries: [String: String]) -> Value {
        archive.dictionary(entries.sorted { $0.key < $1.key }.map { ($0.key, archive.text($0.value)) })
    }

    private mutating func index(_ index: FetchIndexDescription, _ entity: String) -> Value {
        let elements = index.elements.map { element in
            archive.object(
                "NSFetchIndexElementDescription",
                [
                    ("NSPropertyName", archive.text(element.propertyPath)), ("NSFetchIndexElementType", .integer(0)),
                    ("NSAscending", .boolean(element.isAscending)),
                ])
        }
        var condition = KeyedArchiveWriter.null
        if let predicate = index.partialIndexPredicate {
            if let object = PredicateArchiver.object(predicate, in: &archive) {
                condition = object
            } else {
                notes.append("\(entity).\(index.name): the index has all objects, because its condition has no form")
            }
        }
        return archive.object(
            "NSFetchIndexDescription",
            [
                ("NSIndexName", archive.text(index.name)), ("NSIndexElements", archive.array(elements)),
                ("NSPartialIndexPredicate", condition), ("NSEntity", entities[entity] ?? KeyedArchiveWriter.null),
            ])
    }

    // MARK: Properties

    private mutating func declare(_ property: PropertyDescription, of entity: EntityDescription) {
        let key = EntityHierarchy.PropertyKey(entityName: entity.name, name: property.name)
        switch property {
        case .attribute(let attribute): properties[key] = self.attribute(attribute, "\(entity.name).\(attribute.name)")
        case .relationship(let relationship):
            properties[key] = self.relationship(relationship)
        }
        archive.set(
            properties[key] ?? KeyedArchiveWriter.null,
            [("NSEntity", entities[entity.name] ?? KeyedArchiveWriter.null)])
    }

    private mutating func shared(
        _ name: String, _ isOptional: Bool, _ isTransient: Bool, _ renaming: String?, _ modifier: String?,
        _ entries: [String: String]
    ) -> [(String, Value)] {
        [
            ("NSPropertyName", archive.text(name)), ("NSIsOptional", .boolean(isOptional)),
            ("NSIsTransient", .boolean(isTransient)), ("NSRenamingIdentifier", archive.text(renaming ?? name)),
            ("NSVersionHashModifier", archive.text(modifier)), ("NSUserInfo", userInfo(entries)),
        ]
    }

    private mutating func relationship(_ relationship: RelationshipDescription) -> Value {
        let most = relationship.isToMany ? relationship.maxCount : 1
        var fields = shared(
            relationship.name, relationship.isOptional, relationship.isTransient, relationship.renamingIdentifier,
            relationship.versionHashModifier, relationship.userInfo)
        fields.append(("_NSDestinationEntityName", archive.text(relationship.destinationEntityName)))
        fields.append(
            ("NSDestinationEntity", entities[relationship.destinationEntityName] ?? KeyedArchiveWriter.null))
        fields.append(("_NSInverseRelationshipName", archive.text(relationship.inverseName)))
        fields.append(("NSMaxCount", .integer(Int64(most))))
        fields.append(("NSMinCount", .integer(Int64(relationship.minCount))))
        fields.append(("NSIsOrdered", .boolean(relationship.isOrdered)))
        fields.append(("NSDeleteRule", .integer(Int64(relationship.deleteRule.rawValue))))
        return archive.object("NSRelationshipDescription", fields)
    }

    /// The class that Core Data gives the values of composites.
    static let classOfComposites = "NSDictionary"

    private mutating func attribute(_ attribute: AttributeDescription, _ owner: String) -> Value {
        var flags: Int64 = 0
        if attribute.allowsExternalBinaryDataStorage { flags |= 0x4 }
        if attribute.preservesValueInHistoryOnDeletion { flags |= 0x10 }
        var fields = shared(
            attribute.name, attribute.isOptional, attribute.isTransient, attribute.renamingIdentifier,
            attribute.versionHashModifier, attribute.userInfo)
        fields.append(("NSAttributeType", .integer(Int64(attribute.type.rawValue))))
        fields.append(("NSFlagsKey", .integer(flags)))
        fields.append(("NSValueTransformerName", archive.text(attribute.valueTransformerName)))
        let className =
            attribute.attributeValueClassName
            ?? (attribute.type == .composite ? Self.classOfComposites : attribute.foundationClass)
        fields.append(("NSAttributeValueClassName", archive.text(className)))
        if let value = attribute.defaultValue {
            if let object = ArchivedScalar.object(value, in: &archive) {
                fields.append(("NSDefaultValue", object))
            } else {
                notes.append("\(owner): the default value has no form")
            }
        }
        if attribute.type == .composite {
            let elements = attribute.elements.map { self.attribute($0, "\(owner).\($0.name)") }
            fields.append(("NSCompositeElements", archive.array(elements)))
            return archive.object("NSCompositeAttributeDescription", fields)
        }
        guard let derivation = attribute.derivationExpression else {
            let (rules, warnings) = validation(ValidationForms.predicates(attribute.validationRules, owner), owner)
            return archive.object(
                "NSAttributeDescription",
                fields + [("NSValidationPredicates", rules), ("NSValidationWarnings", warnings)])
        }
        if let object = PredicateArchiver.object(Self.coreData(derivation), in: &archive) {
            return archive.object("NSDerivedAttributeDescription", fields + [("NSDerivationExpression", object)])
        }
        notes.append("\(owner): its derivation has no form; it is an attribute with its values")
        return archive.object("NSAttributeDescription", fields)
    }

    /// Core Data has functions where Strata's paths end with an operator.
    private static func coreData(_ derivation: FetchExpression) -> FetchExpression {
        guard case .keyPath(let path) = derivation else { return derivation }
        for (ending, function) in [(".@count", FetchFunction.count), (".@sum", .sum)] where path.hasSuffix(ending) {
            return .function(function, [.keyPath(String(path.dropLast(ending.count)))])
        }
        return derivation
    }

    private mutating func validation(_ rules: [ValidationPredicate], _ owner: String) -> (Value, Value) {
        var (predicates, warnings): ([Value], [Value]) = ([], [])
        for rule in rules {
            guard let object = PredicateArchiver.object(rule.predicate, in: &archive) else {
                notes.append("\(owner): the rule \(rule.predicate) has no form")
                continue
            }
            predicates.append(object)
            warnings.append(archive.text(rule.message))
        }
        return (archive.array(predicates), archive.array(warnings))
    }

    // MARK: Requests

    private mutating func fetched(_ property: FetchedPropertyDescription) -> Value? {
        let owner = "\(property.entityName).\(property.name)"
        guard let request = request(property.request, named: owner) else { return nil }
        return archive.object(
            "NSFetchedPropertyDescription",
            shared(property.name, true, true, nil, nil, property.userInfo) + [("NSFetchRequest", request)])
    }

    private mutating func request(_ template: FetchRequestTemplate, named owner: String) -> Value? {
        var condition = KeyedArchiveWriter.null
        if let predicate = template.predicate {
            guard let object = PredicateArchiver.object(predicate, in: &archive) else {
                notes.append("\(owner): its condition has no form, so it is left out")
                return nil
            }
            condition = object
        }
        let sorts = template.sortDescriptors.map { sort in
            archive.object(
                "NSSortDescriptor",
                [("NSKey", archive.text(sort.keyPath)), ("NSAscending", .boolean(sort.isAscending))])
        }
        return archive.object(
            "NSFetchRequest",
            [
                ("NSEntity", entities[template.entityName] ?? KeyedArchiveWriter.null), ("NSPredicate", condition),
                ("NSFetchLimit", .integer(Int64(template.fetchLimit))),
                ("NSBatchSize", .integer(Int64(template.fetchBatchSize))), ("NSSortDescriptors", archive.array(sorts)),
            ])
    }
}

extension AttributeDescription {
    /// The class of Foundation that has the values; nil for types that name their own.
    fileprivate var foundationClass: String? {
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .double, .float: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .transformable, .undefined, .objectID, .composite: nil
        }
    }
}
