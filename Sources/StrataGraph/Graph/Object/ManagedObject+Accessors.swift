public import StrataModel

// The functions that generated accessors call. `index` is the location of the property among the declared ones,
// inherited first. The usual read tests one word and loads; the usual write tests one word, stores and sets a bit.

extension ManagedObject {
    /// The index of the first subclass's first property; generated accessors add to it.
    @inlinable public static var _propertyEnd_ManagedObject: Int { 0 }

    /// The parent of this chain declares nothing.
    public static func _describe_ManagedObject<Leaf: ManagedObject>(_ entity: inout EntityBuilder<Leaf>) {}

    // MARK: Attributes

    /// The value of an attribute.
    @inlinable public final func _get<Value: StorableValue>(_ index: Int) -> Value {
        if _state & ObjectState.readMask != 0 {
            _willRead(index)
            if _fields[index].isEncrypted { return _decrypted(index) }
        }
        return Value._load(self, _fields[index])
    }

    /// The value of an optional attribute.
    @inlinable public final func _get<Value: StorableValue>(_ index: Int) -> Value? {
        if _state & ObjectState.readMask != 0 {
            _willRead(index)
            if _fields[index].isEncrypted { return _decryptedIfAny(index) }
        }
        let location = _fields[index]
        if _isNull(location) { return nil }
        return Value._load(self, location)
    }

    /// Sets an attribute.
    @inlinable public final func _set<Value: StorableValue>(_ index: Int, _ value: Value) {
        if _state != 0 {
            guard _willWrite(index) else { return }
            if _fields[index].isEncrypted { return _encrypt(value.attributeValue, index) }
        }
        let location = _fields[index]
        Value._store(value, in: self, location)
        _didStore(location)
        if _state != 0 { _didWrite(index) }
    }

    /// Sets an optional attribute.
    @inlinable public final func _set<Value: StorableValue>(_ index: Int, _ value: Value?) {
        if _state != 0 {
            guard _willWrite(index) else { return }
            if _fields[index].isEncrypted { return _encrypt(value?.attributeValue ?? .null, index) }
        }
        let location = _fields[index]
        if let value {
            Value._store(value, in: self, location)
            _didStore(location)
        } else {
            _storeNull(location)
        }
        if _state != 0 { _didWrite(index) }
    }

    // MARK: Enums over a string or an integer

    /// The value of an attribute that is stored as a raw value. An unknown raw value reads as the default.
    @inlinable public final func _get<Value: RawRepresentable>(_ index: Int) -> Value
    where Value.RawValue: StorableValue {
        let raw: Value.RawValue = _get(index)
        if let value = Value(rawValue: raw) { return value }
        return _unknownRawValue(index)
    }

    /// The value of an optional attribute that is stored as a raw value; nil also for an unknown raw value.
    @inlinable public final func _get<Value: RawRepresentable>(_ index: Int) -> Value?
    where Value.RawValue: StorableValue {
        let raw: Value.RawValue? = _get(index)
        return raw.flatMap(Value.init(rawValue:))
    }

    /// Sets an attribute that is stored as a raw value.
    @inlinable public final func _set<Value: RawRepresentable>(_ index: Int, _ value: Value)
    where Value.RawValue: StorableValue {
        _set(index, value.rawValue)
    }

    /// Sets an optional attribute that is stored as a raw value.
    @inlinable public final func _set<Value: RawRepresentable>(_ index: Int, _ value: Value?)
    where Value.RawValue: StorableValue {
        _set(index, value?.rawValue)
    }

    // MARK: Relationships

    /// The target of a to-one, as a fault if it is not in memory.
    @inlinable public final func _get<Target: ManagedObject>(_ index: Int) -> Target? {
        if _state & ObjectState.readMask != 0 { _willRead(index) }
        let target = _row.loadUnaligned(fromByteOffset: _fields[index].start, as: UInt64.self)
        if target == 0 { return _noTarget(index) }
        guard let object = _target(ObjectID(rawValue: target)) else { return nil }
        if type(of: object) == Target.self { return unsafeDowncast(object, to: Target.self) }
        return _target(object, as: Target.self, index)
    }

    /// Sets a to-one, and keeps its inverse up.
    public final func _set<Target: ManagedObject>(_ index: Int, _ value: Target?) {
        setTarget(value, at: index)
    }

    /// The members of a to-many relationship; nothing is loaded.
    @inlinable public final func _get<Member: ManagedObject>(_ index: Int) -> ToMany<Member> {
        if _state & ObjectState.readMask != 0 { _willReadToMany(index) }
        return ToMany(owner: self, index: index)
    }

    /// Makes the relationship hold exactly the members of `value`.
    public final func _set<Member: ManagedObject>(_ index: Int, _ value: ToMany<Member>) {
        setMembers(value, at: index)
    }

    // MARK: Codable values, optional ones too

    /// The value of an attribute that is stored as a composite.
    @_disfavoredOverload
    public final func _get<Value: Codable & Sendable>(_ index: Int) -> Value {
        if let value: Value = decodedValue(at: index) { return value }
        return _noValue(index)
    }

    /// Sets an attribute that is stored as a composite.
    @_disfavoredOverload
    public final func _set<Value: Codable & Sendable>(_ index: Int, _ value: Value) {
        setEncodedValue(value, at: index)
    }

    // MARK: Values of any type, through a transformer or in memory only

    /// The value of an attribute with a value transformer.
    public final func _getTransformed<Value>(_ index: Int) -> Value {
        if let value = transformedValue(at: index) as? Value { return value }
        return _noValue(index)
    }

    /// Sets an attribute with a value transformer.
    public final func _setTransformed<Value>(_ index: Int, _ value: Value) {
        setTransformedValue(value, at: index)
    }

    /// The value of an attribute in memory.
    public final func _getTransient<Value>(_ index: Int) -> Value {
        if let value: Value = keptValue(at: index) { return value }
        return _noValue(index)
    }

    /// The value of an attribute in memory that has an initial value.
    public final func _getTransient<Value>(_ index: Int, default initial: @autoclosure () -> Value) -> Value {
        keptValue(at: index) ?? initial()
    }

    /// Sets an attribute in memory.
    public final func _setTransient<Value>(_ index: Int, _ value: Value) { setTransientValue(value, at: index) }
}
