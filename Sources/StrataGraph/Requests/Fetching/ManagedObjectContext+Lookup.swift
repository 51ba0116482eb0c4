import StrataModel
import StrataStore

// One object by the value of an attribute.

extension ManagedObjectContext {
    /// The object with a value of an attribute, unsaved changes included; of several the one with the lowest id.
    ///
    /// ```swift
    /// let movie = try context.object(Movie.self, where: \.title, is: "Stalker")
    /// ```
    ///
    /// It finds what a fetch request with this condition and a limit of one finds, in less time: a request that differs
    /// in nothing but the value need not be made, checked and planned again.
    ///
    /// - Throws: as `fetch(_:)`; `unknownKey` for a key path that is no attribute.
    /// - Complexity: O(log n) where an index or a uniqueness constraint begins with the attribute, otherwise O(n) in the
    ///   rows of the entity.
    public func object<Object: ManagedObject, Value: StorableValue>(
        _ type: Object.Type = Object.self, where attribute: KeyPath<Object, Value>, is value: Value
    ) throws -> Object? {
        try lookUp(attribute, value.queryConstant)
    }

    /// The object with a value of an optional attribute, unsaved changes included; of several the one with the lowest id.
    ///
    /// - Throws: as for an attribute that is not optional.
    public func object<Object: ManagedObject, Value: StorableValue>(
        _ type: Object.Type = Object.self, where attribute: KeyPath<Object, Value?>, is value: Value
    ) throws -> Object? {
        try lookUp(attribute, value.queryConstant)
    }

    /// The object with a case of an attribute that is an enumeration; of several the one with the lowest id.
    ///
    /// - Throws: as for an attribute that is not optional.
    public func object<Object: ManagedObject, Value: RawRepresentable>(
        _ type: Object.Type = Object.self, where attribute: KeyPath<Object, Value>, is value: Value
    ) throws -> Object? where Value.RawValue: StorableValue {
        try lookUp(attribute, value.rawValue.queryConstant)
    }

    /// The object with a case of an optional attribute that is an enumeration; of several the one with the lowest id.
    ///
    /// - Throws: as for an attribute that is not optional.
    public func object<Object: ManagedObject, Value: RawRepresentable>(
        _ type: Object.Type = Object.self, where attribute: KeyPath<Object, Value?>, is value: Value
    ) throws -> Object? where Value.RawValue: StorableValue {
        try lookUp(attribute, value.rawValue.queryConstant)
    }

    private func lookUp<Object: ManagedObject>(
        _ attribute: PartialKeyPath<Object>, _ value: AttributeValue
    ) throws -> Object? {
        guard let shape = binding.lookups.shape(attribute) else {
            return try lookUpByRequest(attribute, value, keepsShape: true)
        }
        if binding.isObserved { return try lookUpByRequest(attribute, value, keepsShape: false) }
        try throwNewDamage()
        if automaticallyMergesChangesFromParent { try moveIfOthersSaved() }
        guard try pendingLayers().isEmpty else { return try lookUpByRequest(attribute, value, keepsShape: false) }
        switch try read({ try shape.lookUp(value, in: $0) }) {
        case .found(let id):
            guard let object = registeredOrFault(id) else { return nil }
            guard let result = Self.cast(object, to: Object.self) else { throw wrongClass(FetchRequest<Object>()) }
            return result
        case .nothing: return nil
        case .undecided: return try lookUpByRequest(attribute, value, keepsShape: true)
        }
    }

    /// Finds the object by a request.
    ///
    /// - Parameter keepsShape: whether the next lookup uses the shape of the request.
    private func lookUpByRequest<Object: ManagedObject>(
        _ attribute: PartialKeyPath<Object>, _ value: AttributeValue, keepsShape: Bool
    ) throws -> Object? {
        let name = try KeyPathNames.name(of: attribute)
        let request = try FetchRequest<Object>(where: .equal(name, value), limit: 1)
        let found = try fetch(request).first
        if keepsShape, let entity = binding.entity(named: request.entityName) {
            let shape = try binding.store.shapes.checkedShape(of: request.storeRequest(entity.id), binding.schema)
            binding.lookups.keep(shape, attribute)
        }
        return found
    }
}
