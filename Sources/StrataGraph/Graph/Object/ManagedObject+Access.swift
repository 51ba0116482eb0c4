import Observation
public import StrataModel

// The slow halves of reading and writing: a fault fires, a first change copies the row, observers are notified.

extension ManagedObject {
    @usableFromInline final func _willRead(_ index: Int) {
        let state = _state
        if state & ObjectState.probe != 0 {
            _extras?.probe?.record(_entity.properties[index].name)
            return
        }
        if state & ObjectState.fault != 0 { fireFault() }
        if state & ObjectState.observed != 0 { announceAccess(index) }
    }

    /// A to-many is not in the row: nothing to fire.
    @usableFromInline final func _willReadToMany(_ index: Int) {
        if _state & ObjectState.probe != 0 {
            _extras?.probe?.record(_entity.properties[index].name)
        } else if _state & ObjectState.observed != 0 {
            announceAccess(index)
        }
    }

    /// Brings the values into memory, if they are not.
    final func fireFault() {
        guard _state & ObjectState.fault != 0 else { return }
        _context?.fire(self)
    }

    /// Makes the row ready to be written; false, with an error reported, when it must not be.
    @usableFromInline final func _willWrite(_ index: Int) -> Bool {
        if let refusal = refusalToChange(key: _entity.properties[index].name) {
            report(refusal)
            return false
        }
        return makeWritable(index)
    }

    /// Returns the error that forbids a change of the object; nil when it can be changed.
    final func refusalToChange(key: String?) -> StrataError? {
        let state = _state
        let reasons =
            ObjectState.readOnly | ObjectState.deleted | ObjectState.inaccessible | ObjectState.detached
            | ObjectState.probe
        guard state & reasons != 0 else { return nil }
        let context = errorContext(key)
        if state & ObjectState.readOnly != 0 {
            return StrataError(.readOnly, "The context cannot be changed.", context: context)
        }
        if state & (ObjectState.deleted | ObjectState.inaccessible) != 0 {
            return StrataError(.deletedObject, "The object was deleted.", context: context)
        }
        if state & ObjectState.detached != 0, _capacity == 0 {
            return StrataError(.deletedObject, "The object is in no context.", context: context)
        }
        if state & ObjectState.probe != 0 {
            return StrataError(
                .invalidRequest, "An object that stands for a key path cannot be changed.", context: context)
        }
        return nil
    }

    /// The part of `_willWrite` after the checks; false when the row could not be read.
    final func makeWritable(_ index: Int) -> Bool {
        if _state & ObjectState.fault != 0 {
            fireFault()
            if _state & (ObjectState.fault | ObjectState.inaccessible) != 0 { return false }
        }
        if _state & ObjectState.observed != 0 { announceWillSet(index) }
        if _state & ObjectState.clean != 0 {
            copyRowForWriting()
            _context?.pending.noteUpdated(self)
            noteRowIsOwn()
            keepEventBase(isUnchanged: true)
        }
        if takeSeenMark() {
            keepEventBase(isUnchanged: false)
            _context?.pending.noteTouched(self)
        }
        return true
    }

    @usableFromInline final func _didWrite(_ index: Int) {
        if _state & ObjectState.observed != 0 { announceDidSet(index) }
    }

    // MARK: To-one

    /// The object with an id, in memory or as a fault.
    @usableFromInline final func _target(_ id: ObjectID) -> ManagedObject? {
        // Retaining the context takes as long as a look into its map. Making a fault may run code of the application.
        _contextReference?._withUnsafeGuaranteedRef { $0.map[id] } ?? _context?.registeredOrFault(id)
    }

    /// The usual class test failed: a subclass, or a class the model does not know.
    @usableFromInline final func _target<Target: ManagedObject>(
        _ object: ManagedObject, as type: Target.Type, _ index: Int
    ) -> Target? {
        if let target = object as? Target { return target }
        report(
            StrataError(
                .wrongType, "The target is not a \(Target.self).", context: errorContext(_entity.properties[index].name)
            ))
        return nil
    }

    /// nil, but on a probe the next probe.
    @usableFromInline final func _noTarget<Target: ManagedObject>(_ index: Int) -> Target? {
        guard _state & ObjectState.probe != 0, let recorder = _extras?.probe else { return nil }
        return recorder.makeProbe(of: Target.self)
    }

    /// The value to return where the stored one is no case of its type.
    @usableFromInline final func _unknownRawValue<Value: RawRepresentable>(_ index: Int) -> Value
    where Value.RawValue: StorableValue {
        let property = _entity.properties[index]
        if _state & ObjectState.probe == 0 {
            report(
                StrataError(
                    .wrongType, "The stored value is no case of \(Value.self).", context: errorContext(property.name)))
        }
        if let initial = property.attribute?.defaultValue, let raw = Value.RawValue(attributeValue: initial),
            let value = Value(rawValue: raw)
        {
            return value
        }
        // The error is reported; any case is better than the end of the process, as at a moment before an erasure.
        if let listed = Value.self as? any CaseIterable.Type, let first = Self.firstCase(of: listed) as? Value {
            return first
        }
        preconditionFailure(
            "\(_entity.name).\(property.name) holds no value of \(Value.self): give it a default, make it optional, "
                + "or list its cases (CaseIterable).")
    }

    private static func firstCase<Listed: CaseIterable>(of type: Listed.Type) -> Any? { type.allCases.first }

    /// nil where the type has one, else the default of the model.
    final func _noValue<Value>(_ index: Int) -> Value {
        if let optional = Value.self as? any OptionalType.Type, let none = optional.none as? Value { return none }
        let property = _entity.properties[index]
        if let initial = property.attribute?.defaultValue, let decodable = Value.self as? any Decodable.Type,
            let value = try? AttributeValueDecoder.decode(decodable, from: initial) as? Value
        {
            return value
        }
        preconditionFailure(
            "\(_entity.name).\(property.name) holds no value of \(Value.self): give it a default or make it optional.")
    }
}

/// A type that may be an optional, for generic code.
protocol OptionalType {
    static var none: Self { get }
    static var wrappedType: Any.Type { get }
    var wrapped: Any? { get }
}

extension Optional: OptionalType {
    static var wrappedType: Any.Type { Wrapped.self }
    var wrapped: Any? { map { $0 as Any } }
}

/// Records which properties a key path reads on an object that is not a real one, to learn their names.
final class ProbeRecorder {
    private(set) var path: [String] = []

    func record(_ name: String) { path.append(name) }

    func makeProbe<Target: ManagedObject>(of type: Target.Type) -> Target? {
        guard let entity = ProbeEntities.entity(for: type) else { return nil }
        let probe = Target(
            _ObjectSeed(
                entity: entity, objectID: ObjectID(rawValue: 0), state: ObjectState.probe, context: nil,
                isInserted: false))
        probe.ensureExtras().probe = self
        return probe
    }
}
