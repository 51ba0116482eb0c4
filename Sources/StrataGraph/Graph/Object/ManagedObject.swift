public import StrataModel

// In this folder: one object. `+Accessors` and `+Access` are what generated properties call, `+Values` and `+Encoded`
// turn rows into Swift values, `+Keys` is access by name, `+Rows` the memory of the row, `ObjectLife` its state.

/// An object of one entity in one context: a row that is read when first needed and changed in memory until saved.
///
/// Subclass it with `@Entity`, or use it as it is with `value(forKey:)` and `setValue(_:forKey:)`. Objects belong to
/// the isolation of their context and cannot be sent elsewhere; send `objectID` instead.
///
/// Reading never fails: when a row cannot be read (a damaged page, a missing file) the property reads as nil, zero or
/// empty, the context's `faultingErrorHandler` is called and the next `save()` throws the error. Where the store is
/// damaged, the next fetch throws it too, and every `save()` does until the context is reset. A write that is refused
/// (another context's object, a read-only context) leaves the value as it was; the handler is called, and the next
/// `save()` throws the error. A write to a deleted object is refused where it is made: the handler is called, or a
/// warning is logged, and the save goes on. An object in no context (its context is gone or was reset, or its deletion is
/// saved) has no handler: what it cannot read or write is logged as a warning. Attributes that it holds can be set, and
/// nothing saves them.
open class ManagedObject {
    // Memory: `_row` is this object's own when `_capacity` is not 0, else the entity's blank row, which is never
    // written. `_base` is the row as read from the store while `_row` holds changes to it. Everything here is guarded
    // by the isolation of the context, as the object is; `deinit` frees memory and touches nothing else.
    @exclusivity(unchecked) @usableFromInline final var _state: UInt32
    /// Bytes allocated for `_row`.
    @exclusivity(unchecked) @usableFromInline final var _capacity: UInt32
    /// Bytes of `_row` in use.
    @exclusivity(unchecked) @usableFromInline final var _size: UInt32
    @exclusivity(unchecked) final var _baseSize: UInt32 = 0
    @exclusivity(unchecked) @usableFromInline final var _row: UnsafeMutableRawPointer
    @exclusivity(unchecked) @usableFromInline final var _fields: UnsafePointer<_FieldLocation>
    /// Changed slots below 64; the others are in `_extras`.
    @exclusivity(unchecked) @usableFromInline final var _mask: UInt64 = 0
    @exclusivity(unchecked) final var _base: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var _revision = EventNumber(rawValue: 0)
    @exclusivity(unchecked) final var _flags = ObjectFlags()
    /// Cleared by the context when it is released, or releases the object.
    @exclusivity(unchecked) @usableFromInline final var _contextReference: Unmanaged<ManagedObjectContext>?
    @exclusivity(unchecked) final var _extras: ObjectExtras?
    @usableFromInline final let _entity: EntityRuntime
    /// The object's name for ever, in this store.
    public final let objectID: ObjectID

    /// Generated and inherited; apps use `init(context:)`.
    public required init(_ seed: _ObjectSeed) {
        let entity = seed.entity
        _entity = entity
        objectID = seed.objectID
        _state = seed.state | entity.initialState
        _contextReference = seed.context.map(Unmanaged.passUnretained)
        _fields = entity.fields
        if seed.isInserted {
            let size = entity.template.count
            let capacity = size + entity.spareBytes
            _row = RowAllocation.allocate(capacity)
            _row.copyMemory(from: entity.template.baseAddress.unsafelyUnwrapped, byteCount: size)
            _capacity = UInt32(truncatingIfNeeded: capacity)
            _size = UInt32(truncatingIfNeeded: size)
        } else {
            _row = entity.blank
            _capacity = 0
            _size = 0
        }
    }

    /// Makes a new object in `context`; it is in the store after the next save.
    ///
    /// In a context that cannot be changed the object stays outside the context and the next `save()` throws
    /// `readOnly`.
    public convenience init(context: ManagedObjectContext) {
        self.init(context.seedForNewObject(of: Self.self))
        if _context != nil { context.registerInserted(self) }
    }

    deinit {
        if _capacity != 0 { RowAllocation.free(_row) }
        if let _base { RowAllocation.free(_base) }
    }

    /// Nil when the object belongs to none (any more).
    @inlinable final var _context: ManagedObjectContext? { _contextReference?.takeUnretainedValue() }

    // MARK: What an entity class overrides

    /// The name of the entity whose objects have this class.
    open class var entityName: String { String(describing: self) }

    /// The definition of the entity; generated.
    open class var entityDefinition: EntityDefinition { EntityDefinition.plain(self) }

    /// Whether `validateValue(_:forKey:)` must be called at each save; generated as false for classes that do not
    /// override it, because boxing every value costs.
    open class var _validatesValues: Bool { true }

    /// Whether an object must be made to be deleted by a cascade; generated as false for classes that override none of
    /// `prepareForDeletion`, `willSave`, `didSave` and `validateForDelete`.
    open class var _observesDeletion: Bool { true }

    /// Calls `visitor` with the key path of the property at `index`; generated, used to announce changes.
    open func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {}

    /// The value of a variable that the class has beside the model; nil if it has none of this name. Generated.
    open func _ownValue(forKey key: String) -> Any?? { nil }

    /// Called by `value(forKey:)` for a key that is neither in the model nor a variable of an `@Entity` class.
    ///
    /// - Throws: `unknownKey`, unless it is overridden.
    open func value(forUndefinedKey key: String) throws -> Any? { throw unknownKey(key) }

    /// The entity, the id, the state and the values, as `print` shows them; a fault says so and is not fired.
    ///
    /// Members of to-manys are not read, and no values are shown that only a transformer, a decoder or a file has.
    open var description: String { stateAndValues }

    /// Called once in the life of an object, when it is made; give values that a constant default cannot.
    open func awakeFromInsert() {}
    /// Called after the values came from the store.
    open func awakeFromFetch() {}
    /// Called before each save that writes or deletes the object; changes made here are saved too.
    ///
    /// It is called again for objects that a round of these calls has changed, until a round changes nothing.
    open func willSave() {}
    /// Called after the save; `isDeleted` still says whether the save deleted the object.
    open func didSave() {}
    /// Called once by a deletion, before anything else happens: in the context that deletes, not in its parents too.
    open func prepareForDeletion() {}
    /// Called before the values leave memory.
    open func willTurnIntoFault() {}
    /// Called after the values left memory.
    open func didTurnIntoFault() {}

    /// Checks a new object before it is saved; call `super`, which checks every property.
    open func validateForInsert() throws { try validateProperties(at: .insert) }
    /// Checks a changed object before it is saved; call `super`.
    open func validateForUpdate() throws { try validateProperties(at: .update) }
    /// Checks an object before it is deleted; call `super`.
    open func validateForDelete() throws { try validateProperties(at: .delete) }

    /// Checks one value, and may replace it; call `super`, which applies the rules of the model.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        try validateAgainstModel(&value, forKey: key)
    }
}

@available(*, unavailable, message: "A managed object stays in the isolation of its context; send its objectID.")
extension ManagedObject: @unchecked Sendable {}

/// The conformance of every class with `@Entity`.
///
/// It says that the class itself, unlike its objects, may be sent anywhere.
public protocol ManagedEntity: ManagedObject, SendableMetatype {}

extension ManagedObject: Hashable {
    /// Objects are equal when they are the same object.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

    /// Hashes which object it is, not its values.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The parts of a managed object before it is made; only contexts make one.
public struct _ObjectSeed {
    /// Kept by the context's container while the object is made.
    unowned(unsafe) let entity: EntityRuntime
    let objectID: ObjectID
    let state: UInt32
    unowned(unsafe) let context: ManagedObjectContext?
    let isInserted: Bool
}

/// Gets a key path of the class that declares the property, and the object as that class.
public protocol _KeyPathVisitor {
    /// Called with the object and the key path of the property.
    mutating func visit<Owner: ManagedObject, Value>(_ owner: Owner, _ keyPath: KeyPath<Owner, Value>)
}
