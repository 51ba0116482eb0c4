import StrataModel
import StrataStore

/// The use of one key's values in a file, worked out once for many records.
final class ImportColumn {
    enum Kind { case attribute, toOne, toMany, leftOut }

    let target: FieldMapping.Target
    let name: String
    let kind: Kind
    /// Whether an object has a default where the record says nil.
    let hasDefaultForNil: Bool
    let destination: EntityID?
    private let type: AttributeType
    /// The objects that texts named, if they name by an attribute.
    private var objects: [String: ObjectID] = [:]
    private static let mostObjects = 200_000

    var property: PropertyID { target.property.id }

    init(_ target: FieldMapping.Target) {
        self.target = target
        name = target.property.name
        let attribute = target.property.attribute
        type = attribute?.type ?? .undefined
        hasDefaultForNil = attribute.map { $0.isOptional && $0.defaultValue != nil } ?? false
        destination = target.property.relationship?.destination
        if let relationship = target.property.relationship {
            kind = relationship.isToMany ? .toMany : .toOne
        } else {
            // Exports contain derived attributes; they are computed again.
            kind = attribute == nil || attribute?.derivationExpression != nil ? .leftOut : .attribute
        }
    }

    /// The value of the attribute; nil if there is no attribute.
    ///
    /// - Throws: `InputError`.
    func value(_ input: InputValue, _ reader: AttributeInput) throws -> AttributeValue? {
        // Without a copy of the attribute, which has many parts.
        if let plain = try reader.plainValue(input, of: type) { return plain }
        return try target.property.attribute.map { try reader.value(input, for: $0) }
    }

    /// The object that a value named before.
    func object(named value: InputValue) -> ObjectID? {
        guard case .text(let text) = value else { return nil }
        return objects[text]
    }

    func note(_ id: ObjectID, for value: InputValue) {
        guard target.key != nil, case .text(let text) = value else { return }
        if objects.count >= Self.mostObjects { objects.removeAll(keepingCapacity: true) }
        objects[text] = id
    }
}

/// The columns for the keys of a record. Most records have the keys of the one before.
struct ImportColumns {
    private(set) var keys: [String] = []
    /// nil for a key that is left out.
    private(set) var list: [ImportColumn?] = []
    /// Whether two keys go to one property.
    private var sharesProperties = false
    /// Every column so far.
    private var known: [String: ImportColumn?] = [:]

    /// Makes these the keys.
    ///
    /// - Throws: `UsageError` for a key without a property.
    mutating func change(to keys: [String], _ mapping: inout FieldMapping) throws {
        var list: [ImportColumn?] = []
        for key in keys {
            if let column = known[key] {
                list.append(column)
            } else {
                let column = try mapping.target(of: key).map(ImportColumn.init)
                known[key] = .some(column)
                list.append(column)
            }
        }
        let properties = list.compactMap { $0?.property }
        sharesProperties = Set(properties).count < properties.count
        (self.keys, self.list) = (keys, list)
    }

    /// The properties that the record gives, if two keys go to one property; nil otherwise.
    ///
    /// - Throws: `InputError` if the record has values for both.
    func givenTwice(_ record: InputRecord) throws -> Set<PropertyID>? {
        guard sharesProperties else { return nil }
        var given: [PropertyID: String] = [:]
        for (index, value) in record.values.enumerated() where value != nil {
            guard let column = list[index], let other = given.updateValue(keys[index], forKey: column.property) else {
                continue
            }
            let both = [keys[index], other].sorted()
            throw InputError("'\(both[0])' and '\(both[1])' both go to \(column.name).")
        }
        return Set(given.keys)
    }
}
