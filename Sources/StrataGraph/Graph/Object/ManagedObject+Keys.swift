import Foundation
public import StrataModel

// Values by name, for code that has no class: the command line, forms, importers. Attributes come as their Swift
// values (Int16, Double, …; a transformable as what its transformer makes, a composite as a dictionary),
// a to-one as its object, a to-many as an array of objects.

extension ManagedObject {
    /// The value of a property; of a fetched property of the model what its request finds, an array of objects; of another
    /// variable of an `@Entity` class, computed or not, what it has; of `objectID` the object's id.
    ///
    /// - Throws: `unknownKey`; `missingBlob`, `transformation` or `corrupt` when the value cannot be had; `migration` for
    ///   a value of the past that a migration since gave another form.
    public final func value(forKey key: String) throws -> Any? {
        guard let property = _entity.property(named: key) else { return try valueBesideModel(forKey: key) }
        _willRead(property.index)
        try throwIfUnreadable(key)
        if property.isToMany {
            return try readMembers(at: property.index).compactMap { _target($0) }
        }
        if property.isTransient { return transientValue(at: property.index) }
        if property.isToOne {
            let target = reference(property.location)
            return target.isNil ? nil : _target(target)
        }
        if _isNull(property.location) { return nil }
        if property.kind.isExternal, property.cipher == nil { return try readExternalData(property.location) }
        if property.attributeType == .transformable { return try readTransformed(property) }
        if property.cipher != nil { return property.swiftValue(of: try decryptedValue(property)) }
        return value(of: property)
    }

    /// Sets a property: an attribute, a to-one, or all members of a to-many (an array, a set or a `ToMany`).
    ///
    /// Numbers change their type where nothing is lost. Foundation's classes are taken too (`NSNumber`, `NSString`,
    /// `NSNull`, `NSArray` of objects and so on), as `JSONSerialization` and property lists give them. When it throws,
    /// the value is as it was.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `otherContext`, `deletedObject`, `readOnly`.
    public final func setValue(_ value: Any?, forKey key: String) throws {
        let property = try declared(key)
        if let refusal = refusalToChange(key: key) { throw refusal }
        if property.isDerived { throw property.derivedRefusal(errorContext(key)) }
        if property.isToMany { return try replaceMembers(objects(in: value, for: property), at: property.index) }
        if property.isToOne {
            guard let value = Self.unwrapped(value) else { return try changeTarget(nil, at: property.index) }
            guard let target = value as? ManagedObject else { throw wrongType(property, value) }
            try checkTarget(target, property)
            return try changeTarget(target, at: property.index)
        }
        if property.isTransient {
            return setTransientValue(try fitTransientValue(value, property), at: property.index)
        }
        try write(try boxed(value, for: property), to: property)
    }

    /// Sets several properties by name, in the order of their names. All names are looked up before a value is set.
    ///
    /// - Throws: as `setValue(_:forKey:)`; the values before the one that it names are set.
    public final func setValuesForKeys(_ values: [String: Any]) throws {
        for key in values.keys { _ = try declared(key) }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { try setValue(value, forKey: key) }
    }

    /// The values of several properties by name, with `NSNull` for nil, as `JSONSerialization` takes it.
    ///
    /// - Throws: as `value(forKey:)`.
    public final func dictionaryWithValues(forKeys keys: [String]) throws -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values[key] = try value(forKey: key) ?? NSNull() }
        return values
    }

    /// The value at the end of a dotted path: to-ones are followed, a to-many on the way gives an array.
    ///
    /// A to-many may be followed by the operators of predicates: `@count`, `@sum`, `@avg`, `@min`, `@max`,
    /// `@unionOfObjects`, `@distinctUnionOfObjects`, and what they have for arrays and sets.
    ///
    /// - Throws: `unknownKey` for a path that leads nowhere, and what `value(forKey:)` throws.
    public final func value(forKeyPath keyPath: String) throws -> Any? {
        try KeyPathWalk(path: keyPath).value(of: self)
    }

    /// The value without hooks and observers: what `awakeFromFetch` and overriding accessors use.
    public final func primitiveValue(forKey key: String) throws -> Any? { try value(forKey: key) }

    /// Sets an attribute without telling observers and without calling `willSave` again.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) throws {
        let property = try declared(key)
        let isSaving = _context?.saving.isRunning ?? false
        try withoutObservers(isSaving: isSaving) { try setValue(value, forKey: property.name) }
        // The change was not noted, so layers that a fetch made before may be stale.
        if isSaving { _context?.invalidateLayers() }
    }

    // MARK: What changed

    /// New values of the attributes and to-ones that this context changed, by name.
    ///
    /// To-manys and transient attributes are not among them; `ManagedObjectContext.changes()` has links too.
    public final var changedValues: [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for slot in slotsChangedByUser {
            let property = _entity.property(slot: slot)
            guard property.index < _entity.declaredCount else { continue }
            values[property.name] = attributeValue(property)
        }
        return values
    }

    /// Values as they were read from the store, before any change; for a new object nothing.
    ///
    /// - Throws: `unknownKey`.
    public final func committedValues(forKeys keys: [String]?) throws -> [String: AttributeValue] {
        fireFault()
        let names = keys ?? _entity.properties.filter { $0.isInRow && $0.index < _entity.declaredCount }.map(\.name)
        guard let base = baseBytes else {
            for key in names { _ = try declared(key) }
            return [:]
        }
        let reader = try RowReader(base, layout: _entity.layout)
        var values: [String: AttributeValue] = [:]
        for key in names {
            let property = try declared(key)
            guard property.isInRow else { continue }
            values[key] = property.shown(try reader.value(property.slot), of: objectID)
        }
        return values
    }

    private final var slotsChangedByUser: [Int] {
        if _base == nil, !_flags.contains(.inserted) { return [] }
        guard let base = baseBytes else { return changedSlots.slots }
        return slotsThatDiffer(from: base).slots
    }

    // MARK: State

    /// The context the object belongs to; nil after the context is gone or the object's deletion was saved.
    public final var managedObjectContext: ManagedObjectContext? { _context }
    /// The object's entity in the model.
    public final var entity: EntityDescription { _entity.schema.description }
    /// Whether the object is new and not saved.
    public final var isInserted: Bool { _flags.contains(.inserted) }
    /// Whether a saved object has changes that are not saved.
    public final var isUpdated: Bool { _flags.contains(.updated) && !isDeleted }
    /// Whether the object's deletion is pending, or the object is not in the state of the store that its context shows.
    /// A new object that was deleted before any save is deleted until the next save, which lets go of it.
    ///
    /// An object that others deleted keeps the values that were in memory when its context moved.
    public final var isDeleted: Bool {
        if !_flags.isDisjoint(with: [.deleted, .savedDeletion]) { return true }
        return _state & ObjectState.inaccessible != 0
            || _flags.contains(.withdrawn) && _state & ObjectState.detached == 0
    }
    /// Whether the values are not in memory.
    public final var isFault: Bool { _state & ObjectState.fault != 0 }
    /// Whether the next save has something to do for the object.
    public final var hasChanges: Bool { _flags.isPending }
    /// Whether a value differs from the one in the store.
    public final var hasPersistentChangedValues: Bool { !slotsChangedByUser.isEmpty }

    // MARK: Inside

    private final func valueBesideModel(forKey key: String) throws -> Any? {
        if let own = _ownValue(forKey: key) { return own }
        if key == "objectID" { return objectID }
        if let context = _context, context.binding.model.fetchedProperty(key, ofEntityNamed: _entity.name) != nil {
            return try fetchedObjects(forKey: key)
        }
        return try value(forUndefinedKey: key)
    }

    final func declared(_ key: String) throws -> PropertyRuntime {
        guard let property = _entity.property(named: key) else { throw unknownKey(key) }
        return property
    }

    final func unknownKey(_ key: String) -> StrataError {
        _entity.schema.unknownKey(key, errorContext(key))
    }

    final func wrongType(_ property: PropertyRuntime, _ value: Any) -> StrataError {
        var given =
            (value as? ManagedObject).map { "an object of \($0._entity.name)" } ?? "a value of type \(type(of: value))"
        if value is any BinaryInteger, [.integer16, .integer32, .integer64].contains(property.attributeType) {
            given = "a number beyond its range"
        }
        var expected = property.attribute?.type.nameWithArticle ?? "no value"
        if let destination = property.relationship?.description.destinationEntityName {
            expected = property.isToMany ? "objects of \(destination)" : "an object of \(destination)"
        }
        // One object of the right entity, where a to-many takes several.
        let several = property.isToMany && value is ManagedObject ? "an array or a set of " : ""
        return StrataError(
            .wrongType, "\(property.name) takes \(several)\(expected), not \(given).",
            context: errorContext(property.name))
    }

    /// A read that left the object a fault has reported an error; here it can be thrown instead.
    final func throwIfUnreadable(_ key: String) throws {
        guard let context = _context else { return }
        if isFault, let error = context.errors.takeLast() { throw error }
        if let error = context.unreadableValues(of: objectID).first(where: { $0.context.key == key }) { throw error }
    }

    private final func objects(in value: Any?, for property: PropertyRuntime) throws -> [ManagedObject] {
        switch Self.unwrapped(value) {
        case nil: return []
        case let objects as [ManagedObject]: return objects
        case let objects as Set<ManagedObject>: return objects.sorted { $0.objectID < $1.objectID }
        case let members as any Sequence:
            return try members.map { element in
                guard let object = element as? ManagedObject else { throw wrongType(property, element) }
                return object
            }
        case let other?: throw wrongType(property, other)
        }
    }

    private final func checkTarget(_ target: ManagedObject, _ property: PropertyRuntime) throws {
        guard let relationship = property.relationship, let context = _context else { return }
        let entities = context.binding.schema.entity(relationship.destination)?.entityIDs ?? []
        guard target._context !== context || entities.contains(target._entity.id) else {
            throw wrongType(property, target)
        }
    }

    /// `Any?` may hold an optional in an optional, when it comes from generic code, and `NSNull` for nil.
    static func unwrapped(_ value: Any?) -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        guard let optional = value as? any OptionalType else { return value }
        return unwrapped(optional.wrapped)
    }
}
