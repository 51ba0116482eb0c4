import Foundation
import StrataModel
import StrataTestSupport

/// Archives a model as Core Data keeps it in a store, as far as the tests need it.
struct ModelArchive {
    private var archive = OldArchive()
    private let entities: [EntityDescription]
    private var objects: [String: OldArchive.Value] = [:]
    private static var null: OldArchive.Value { .uid(0) }

    static func bytes(_ entities: [EntityDescription]) -> [UInt8] {
        var model = ModelArchive(entities)
        return model.write()
    }

    /// The archive as a raw deflate stream, in stored blocks.
    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 0xFFFF) {
            let block = bytes[start..<min(start + 0xFFFF, bytes.count)]
            let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
            stream += [start + block.count == bytes.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        return stream
    }

    private init(_ entities: [EntityDescription]) { self.entities = entities }

    private mutating func write() -> [UInt8] {
        let names = entities.map(\.name).sorted()
        for name in names { objects[name] = archive.object("NSEntityDescription", [("NSEntityName", text(name))]) }
        for entity in entities { fill(entity) }
        let keys = archive.array(names.map { text($0) })
        let mapping = archive.object("NSKnownKeysMappingStrategy1", [("keys", keys)])
        let values = archive.array(names.compactMap { objects[$0] })
        let all = archive.object("NSKnownKeysDictionary1", [("searchMapping", mapping), ("values", values)])
        let model = archive.object("NSManagedObjectModel", [("NSEntities", all)])
        return archive.bytes(root: model)
    }

    private mutating func text(_ text: String?) -> OldArchive.Value {
        guard let text else { return Self.null }
        return archive.add(.text(text))
    }

    private func chain(_ entity: EntityDescription) -> [EntityDescription] {
        let parent = entities.first { $0.name == entity.superentityName }
        return (parent.map(chain) ?? []) + [entity]
    }

    private mutating func fill(_ entity: EntityDescription) {
        let properties = chain(entity).flatMap(\.properties).map { ($0.name, property($0)) }
        let tuples = entity.uniquenessConstraints.map { names in archive.array(names.map { text($0) }) }
        let userInfo = entity.userInfo.sorted { $0.key < $1.key }.map { ($0.key, text($0.value)) }
        archive.set(
            objects[entity.name] ?? Self.null,
            [
                ("NSClassNameForEntity", text(entity.managedObjectClassName)),
                ("NSIsAbstract", .boolean(entity.isAbstract)),
                ("NSSuperentity", entity.superentityName.flatMap { objects[$0] } ?? Self.null),
                ("NSProperties", archive.dictionary(properties)), ("NSUniqueTuples", archive.array(tuples)),
                ("NSUserInfo", archive.dictionary(userInfo)),
            ])
    }

    private mutating func property(_ property: PropertyDescription) -> OldArchive.Value {
        switch property {
        case .attribute(let attribute): self.attribute(attribute)
        case .relationship(let relationship):
            archive.object(
                "NSRelationshipDescription",
                [
                    ("NSPropertyName", text(relationship.name)), ("NSIsOptional", .boolean(relationship.isOptional)),
                    ("_NSDestinationEntityName", text(relationship.destinationEntityName)),
                    ("_NSInverseRelationshipName", text(relationship.inverseName)),
                    ("NSMaxCount", .integer(relationship.isToMany ? 0 : 1)), ("NSMinCount", .integer(0)),
                    ("NSIsOrdered", .boolean(relationship.isOrdered)),
                    ("NSDeleteRule", .integer(Int64(relationship.deleteRule.rawValue))),
                ])
        }
    }

    private mutating func attribute(_ attribute: AttributeDescription) -> OldArchive.Value {
        var fields: [(String, OldArchive.Value)] = [
            ("NSPropertyName", text(attribute.name)), ("NSIsOptional", .boolean(attribute.isOptional)),
            ("NSIsTransient", .boolean(attribute.isTransient)),
            ("NSAttributeType", .integer(Int64(attribute.type.rawValue))),
            ("NSFlagsKey", .integer(attribute.allowsExternalBinaryDataStorage ? 4 : 0)),
            ("NSValueTransformerName", text(attribute.valueTransformerName)),
        ]
        switch attribute.defaultValue {
        case .string(let value)?: fields.append(("NSDefaultValue", text(value)))
        case .integer(let value)?: fields.append(("NSDefaultValue", archive.add(.integer(value))))
        default: break
        }
        guard case .keyPath(let path)? = attribute.derivationExpression, path.hasSuffix(".@count") else {
            let rules = attribute.validationRules.flatMap { rule -> [OldArchive.Value] in
                if case .length(let minimum?, let maximum?) = rule { lengths(minimum, maximum) } else { [] }
            }
            fields.append(("NSValidationPredicates", archive.array(rules)))
            fields.append(("NSValidationWarnings", archive.array(rules.map { _ in text("too long or too short") })))
            return archive.object("NSAttributeDescription", fields)
        }
        let members = keyPath(String(path.dropLast(7)))
        let call = archive.object(
            "NSFunctionExpression",
            [("NSSelectorName", text("count:")), ("NSArguments", archive.array([members]))])
        return archive.object("NSDerivedAttributeDescription", fields + [("NSDerivationExpression", call)])
    }

    private mutating func keyPath(_ path: String) -> OldArchive.Value {
        let step = archive.object("NSKeyPathSpecifierExpression", [("NSKeyPath", text(path))])
        let object = archive.object("NSSelfExpression", [])
        return archive.object(
            "NSKeyPathExpression",
            [
                ("NSOperand", object), ("NSSelectorName", text("valueForKey:")),
                ("NSArguments", archive.array([step])),
            ])
    }

    private mutating func lengths(_ minimum: Int, _ maximum: Int) -> [OldArchive.Value] {
        [(3, minimum), (1, maximum)].map { type, bound in
            let value = archive.add(.integer(Int64(bound)))
            let right = archive.object("NSConstantValueExpression", [("NSConstantValue", value)])
            let operation = archive.object("NSComparisonPredicateOperator", [("NSOperatorType", .integer(Int64(type)))])
            return archive.object(
                "NSComparisonPredicate",
                [
                    ("NSLeftExpression", keyPath("length")), ("NSRightExpression", right),
                    ("NSPredicateOperator", operation),
                ])
        }
    }
}
