public import Foundation

// Hashes that distinguish versions of an entity, as Core Data's do: of everything that decides what is stored, and of
// nothing else. In it are the name, the parent, whether it is abstract, uniqueness constraints, and of each stored
// property its name, optionality, type, elements, encryption, derivation, and for a relationship destination, inverse,
// counts, order and delete rule; and the hash modifiers. Not in it are classes, defaults, validation, indexes,
// transformers, user info, renaming identifiers, transient properties, and the order in which anything is declared.

extension ManagedObjectModel {
    /// The version hash of each entity by name: 32 bytes that are the same in every process and on every platform, and
    /// change when what the entity stores does.
    ///
    /// An entity's hash does not change with its parent's properties: compare the parent's hash too.
    public var entityVersionHashesByName: [String: Data] { entitiesByName.mapValues(\.versionHash) }

    /// The version hash of the model: that of all its entities.
    public var versionHash: Data {
        var hash = VersionHash()
        for name in entitiesByName.keys.sorted() {
            hash.add(name)
            hash.add(entitiesByName[name]?.versionHash ?? Data())
        }
        return hash.data
    }

    /// Whether a store of one model has the same entities, stored in the same way, under the other.
    public func isCompatible(with other: ManagedObjectModel) -> Bool { versionHash == other.versionHash }
}

extension EntityDescription {
    /// A hash of this version of the entity; see `ManagedObjectModel.entityVersionHashesByName`. Of a checked model,
    /// which names inverses on both sides.
    public var versionHash: Data {
        var hash = VersionHash()
        hash.add(name)
        hash.add(superentityName)
        hash.add(isAbstract)
        hash.add(versionHashModifier)
        for constraint in uniquenessConstraints.map({ $0.sorted().joined(separator: ",") }).sorted() {
            hash.add(constraint)
        }
        for property in properties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
            switch property {
            case .attribute(let attribute): hash.add(attribute)
            case .relationship(let relationship): hash.add(relationship)
            }
        }
        return hash.data
    }
}

/// Collects the parts of a version hash, each with its length or kind before it.
private struct VersionHash: ~Copyable {
    private var writer = ByteWriter()

    mutating func add(_ text: String?) { writer.append(text: text) }

    mutating func add(_ flag: Bool) { writer.append(UInt8(flag ? 1 : 0)) }

    mutating func add(_ number: Int) { writer.append(littleEndian: UInt64(bitPattern: Int64(number))) }

    mutating func add(_ data: Data) { data.withUnsafeBytes { writer.append($0) } }

    mutating func add(_ attribute: AttributeDescription) {
        add("attribute")
        add(attribute.name)
        add(attribute.isOptional)
        add(Int(attribute.type.rawValue))
        add(attribute.derivationExpression?.description)
        add(attribute.versionHashModifier)
        // Nothing where it is not encrypted, as before there was encryption.
        if let encryption = attribute.encryption { add(encryption.rawValue) }
        add(attribute.elements.count)
        for element in attribute.elements.sorted(by: { $0.name < $1.name }) { add(element) }
    }

    mutating func add(_ relationship: RelationshipDescription) {
        add("relationship")
        add(relationship.name)
        add(relationship.isOptional)
        add(relationship.destinationEntityName)
        add(relationship.inverseName)
        add(relationship.isToMany)
        add(relationship.isOrdered)
        add(relationship.minCount)
        add(relationship.maxCount)
        add(Int(relationship.deleteRule.rawValue))
        add(relationship.versionHashModifier)
    }

    /// Four hashes of different seeds, 32 bytes.
    var data: Data {
        var result = Data()
        for seed in 0..<4 as Range<UInt64> {
            withUnsafeBytes(of: XXH64.hash(writer.bytes, seed: seed).littleEndian) { result.append(contentsOf: $0) }
        }
        return result
    }
}
