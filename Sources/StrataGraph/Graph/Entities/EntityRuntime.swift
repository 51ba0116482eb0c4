import StrataModel
import StrataStore

/// An entity as objects of an open store use it: its class, and the place of each declared property in the rows.
///
/// Immutable. The memory behind the pointers is written in `init` and freed when the last object is gone.
@usableFromInline final class EntityRuntime: Sendable {
    let schema: EntitySchema
    let layout: RowLayout
    let objectClass: ManagedObject.Type
    /// By accessor index: declared properties, inherited first; hidden ones follow and have no accessor.
    let properties: [PropertyRuntime]
    let declaredCount: Int
    let indexByName: [String: Int]
    /// Slot -> index.
    let indexBySlot: [Int]
    /// Indexes of to-one relationships, of to-many ones, and of both.
    let toOneIndexes: [Int]
    let toManyIndexes: [Int]
    /// Indexes of to-ones whose inverse is a to-one.
    let oneToOneIndexes: [Int]
    /// Index -> location.
    nonisolated(unsafe) let fields: UnsafePointer<_FieldLocation>
    /// The row of a new object: constant defaults, the rest nil.
    nonisolated(unsafe) let template: UnsafeRawBufferPointer
    /// The row of an object whose values are not in memory: all nil. Never written.
    nonisolated(unsafe) let blank: UnsafeMutableRawPointer
    /// Room for the strings of a new object.
    let spareBytes: Int
    /// Properties that a save must look at.
    let checks: [Check]
    /// Whether the class may override `validateValue(_:forKey:)`.
    let validatesValues: Bool
    /// Whether the class may override a hook that runs when an object is deleted.
    let observesDeletion: Bool
    /// Whether the entity or a parent has predicates over the whole object.
    let hasPredicates: Bool
    let hasExternalStorage: Bool
    /// The first value of `ManagedObject._state` of an object.
    let initialState: UInt32
    /// Slots whose values the store computes.
    let derivedSlots: Set<Int>
    /// Slots that say which objects are linked, or in which order.
    let linkSlots: SlotSet
    /// Attributes that are encrypted under keys of subjects; nil without any.
    let subjects: SubjectAttributes?

    struct Check: Sendable {
        let property: PropertyRuntime
        let hasRules: Bool
    }

    var id: EntityID { schema.id }
    var name: String { schema.name }

    init(
        _ schema: EntitySchema, objectClass: ManagedObject.Type, order: [String], hasDefaults: Bool = true,
        hasPredicates: Bool = false, keyRing: KeyRing? = nil
    ) throws {
        self.schema = schema
        layout = schema.layout
        self.objectClass = objectClass
        let declared = try Self.declared(schema, order)
        let hidden = schema.properties.filter { if case .position = $0.kind { true } else { false } }
        let valueTypes = order.isEmpty ? [:] : EntityDefinition.of(objectClass).valueTypes
        let properties = (declared + hidden).enumerated().map {
            PropertyRuntime($1, index: $0, schema, valueTypes[$1.name], keyRing)
        }
        self.properties = properties
        declaredCount = declared.count
        indexByName = Dictionary(
            declared.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var bySlot = [Int](repeating: 0, count: schema.properties.count)
        for property in properties { bySlot[property.slot] = property.index }
        indexBySlot = bySlot
        toOneIndexes = properties.filter { $0.isToOne }.map(\.index)
        toManyIndexes = properties.filter { $0.isToMany }.map(\.index)
        oneToOneIndexes = properties.filter { property in
            if case .toOne = property.inverse { property.isInRow } else { false }
        }.map(\.index)
        let validates = objectClass != ManagedObject.self && objectClass._validatesValues
        validatesValues = validates
        observesDeletion = objectClass != ManagedObject.self && objectClass._observesDeletion
        checks = declared.indices.compactMap { Self.check(properties[$0], validates) }
        self.hasPredicates = hasPredicates
        subjects = keyRing.flatMap { SubjectAttributes(schema, $0) }
        hasExternalStorage = properties.contains { $0.kind.isExternal }
        initialState = properties.contains { $0.kind.isEncrypted } ? ObjectState.encrypted : 0
        derivedSlots = Set(properties.filter(\.isDerived).map(\.slot))
        linkSlots = SlotSet(
            properties.filter { $0.isInRow && ($0.kind == .reference || $0.kind == .position) }.map(\.slot))
        let fields = UnsafeMutablePointer<_FieldLocation>.allocate(capacity: max(1, properties.count))
        for property in properties { (fields + property.index).initialize(to: property.location) }
        self.fields = UnsafePointer(fields)
        let row = try hasDefaults ? Self.templateRow(schema) : schema.layout.emptyRow
        template = UnsafeRawBufferPointer(Self.copy(row))
        blank = Self.copy(schema.layout.emptyRow).baseAddress.unsafelyUnwrapped
        spareBytes = schema.layout.variableSlots.count * 24
    }

    deinit {
        fields.deallocate()
        template.deallocate()
        blank.deallocate()
    }

    /// - Throws: `unknownEntity` for an abstract entity, of which no object can be made.
    func checkIsConcrete() throws {
        guard schema.isAbstract else { return }
        throw StrataError(
            .unknownEntity, "An abstract entity has no objects of its own.", context: .init(entityName: name))
    }

    func property(named name: String) -> PropertyRuntime? { indexByName[name].map { properties[$0] } }

    /// The property of a relationship's id, as this entity has it.
    func property(_ id: PropertyID) -> PropertyRuntime? { schema.slot(of: id).map { properties[indexBySlot[$0]] } }

    /// The property behind a slot.
    func property(slot: Int) -> PropertyRuntime { properties[indexBySlot[slot]] }

    private static func check(_ property: PropertyRuntime, _ validatesValues: Bool) -> Check? {
        guard property.isInRow, !property.isDerived else { return nil }
        guard let attribute = property.attribute else {
            let isOptional = property.relationship?.description.isOptional ?? true
            return isOptional ? nil : Check(property: property, hasRules: true)
        }
        let hasRules = !attribute.validationRules.isEmpty || attribute.type == .date || attribute.type == .uri
        if hasRules || validatesValues { return Check(property: property, hasRules: hasRules) }
        return attribute.isOptional ? nil : Check(property: property, hasRules: false)
    }

    private static func declared(_ schema: EntitySchema, _ order: [String]) throws -> [PropertySchema] {
        let visible = schema.properties.filter { if case .position = $0.kind { false } else { true } }
        if order.isEmpty { return visible }
        let found = order.compactMap { schema.property(named: $0) }
        guard found.count == order.count, found.count == visible.count else {
            throw StrataError(
                .persistentStoreIncompatibleVersionHash,
                "The class declares other properties than the entity in the model.",
                context: .init(entityName: schema.name))
        }
        return found
    }

    private static func templateRow(_ schema: EntitySchema) throws -> [UInt8] {
        var builder = RowBuilder(schema.layout)
        for property in schema.properties {
            guard let attribute = property.attribute, let value = attribute.defaultValue, property.storage != nil else {
                continue
            }
            do { try builder.set(property.slot, value) } catch {
                throw StrataError(
                    .invalidModel, "The default value cannot be stored.",
                    context: .init(entityName: schema.name, key: property.name, value: value), cause: error)
            }
        }
        return try builder.finish().bytes
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 8), alignment: 8)
        copy.copyBytes(from: bytes)
        return UnsafeMutableRawBufferPointer(rebasing: copy[..<bytes.count])
    }
}

/// A property as objects use it; a class, because copying a description costs a dozen retains.
final class PropertyRuntime: Sendable {
    let schema: PropertySchema
    let name: String
    let id: PropertyID
    let slot: Int
    let index: Int
    let location: _FieldLocation
    let kind: SlotKind
    let isToMany: Bool
    let isToOne: Bool
    let isOrdered: Bool
    /// The property at the other end that changes with a to-one.
    let inverse: ToOneInverse
    /// nil for an attribute.
    let deleteRule: DeleteRule?
    /// nil for a relationship.
    let attributeType: AttributeType?
    /// The entity that a relationship leads to.
    let destination: EntityID?
    let isOptional: Bool
    /// Whether the store computes the value.
    let isDerived: Bool
    /// Whether a value of the right type can be wrong.
    let hasRules: Bool
    /// The type of a transformable in its class.
    let valueType: Any.Type?
    /// Encrypts and decrypts the values; nil for a property that is not encrypted.
    let cipher: AttributeCipher?
    private let rules: AttributeRules?

    init(_ property: PropertySchema, index: Int, _ entity: EntitySchema, _ valueType: Any.Type?, _ keyRing: KeyRing?) {
        self.valueType = valueType
        schema = property
        cipher = keyRing?.cipher(property)
        name = property.name
        id = property.id
        slot = property.slot
        self.index = index
        isToMany = property.relationship?.isToMany ?? false
        isToOne = property.relationship.map { !$0.isToMany } ?? false
        isOrdered = property.relationship?.description.isOrdered ?? false
        deleteRule = property.relationship?.description.deleteRule
        attributeType = property.attribute?.type
        destination = property.relationship?.destination
        isDerived = property.attribute?.derivationExpression != nil
        isOptional = property.attribute?.isOptional ?? property.relationship?.description.isOptional ?? true
        hasRules =
            property.attribute.map(Self.hasRules)
            ?? property.relationship.map { $0.isToMany || $0.description.minCount > 0 } ?? false
        rules = property.attribute.map(AttributeRules.init)
        let slot = entity.layout.slots[property.slot]
        kind = SlotKind(slot)
        var flags: UInt16 = 0
        if kind == .externalData { flags |= _FieldLocation.externalStorage }
        if kind.isEncrypted { flags |= _FieldLocation.encrypted }
        if kind == .absent { flags |= _FieldLocation.notInRow }
        location = _FieldLocation(
            offset: UInt32(truncatingIfNeeded: slot.offset), slot: UInt16(truncatingIfNeeded: property.slot),
            flags: flags)
        inverse = ToOneInverse(property)
    }

    private static func hasRules(_ attribute: AttributeDescription) -> Bool {
        if !attribute.validationRules.isEmpty { return true }
        return switch attribute.type {
        case .integer16, .integer32, .integer64, .float, .double, .boolean, .decimal, .string, .uuid, .binaryData: false
        default: true
        }
    }

    /// Returns the errors of a value of the property; for a relationship, the value is its target, or nil for none.
    func failures(of value: AttributeValue, entityName: String) -> [StrataError] {
        if isOptional || !value.isNull, !hasRules { return [] }
        if let rules { return rules.failures(of: value, entityName: entityName) }
        return relationship?.description.validate(count: value.isNull ? 0 : 1, entityName: entityName) ?? []
    }

    /// The reason given when the app sets a derived attribute.
    func derivedRefusal(_ context: StrataError.Context) -> StrataError {
        let source = attribute?.derivationExpression.map { " from \($0)" } ?? ""
        return StrataError(.readOnly, "\(name) is derived\(source); the store computes it.", context: context)
    }

    var attribute: AttributeDescription? { schema.attribute }
    var relationship: RelationshipSchema? { schema.relationship }
    var isTransient: Bool { schema.isTransient }
    var isInRow: Bool { kind != .absent }
    /// Whether the row holds something else than the value itself.
    var isEncoded: Bool { kind.isExternal || attributeType == .composite || attributeType == .transformable }
}

/// The rules of an attribute; a class, because copying a description costs a dozen retains.
private final class AttributeRules: Sendable {
    private let attribute: AttributeDescription

    init(_ attribute: AttributeDescription) { self.attribute = attribute }

    func failures(of value: AttributeValue, entityName: String) -> [StrataError] {
        attribute.validate(value, entityName: entityName)
    }
}
