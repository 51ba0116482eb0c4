import Foundation
import Locking
import StrataModel

#if !canImport(ObjectiveC)
    /// Turns values of some type into bytes and back, under a registered name.
    ///
    /// Foundation has this class on Apple's systems only; here it is the same shape. Transformers are used from many
    /// threads at once and keep no state. A transformable attribute calls `transformedValue(_:)` to get `Data` and
    /// `reverseTransformedValue(_:)` to get the value back.
    open class ValueTransformer: @unchecked Sendable {
        // Transformers by name. Guarded by the mutex.
        private static let registry = Locked<[String: ValueTransformer]>([:])

        public init() {}

        /// Registers a transformer; one of the same name is replaced.
        public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: String) {
            registry.withLock { $0[name] = transformer }
        }

        /// The transformer registered as `name`.
        public class func valueTransformer(forName name: String) -> ValueTransformer? {
            registry.withLock { $0[name] }
        }

        public class func valueTransformerNames() -> [String] { registry.withLock { $0.keys.sorted() } }

        /// Whether bytes can become values again; a transformable needs it.
        open class func allowsReverseTransformation() -> Bool { true }

        /// The bytes of a value; nil when it is not of the transformer's type.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// The value of bytes; nil when they are not what the transformer makes.
        open func reverseTransformedValue(_ value: Any?) -> Any? { nil }
    }
#endif

/// A transformer that says which types may come out of stored bytes; everything else is refused.
public protocol SecureValueTransforming {
    /// The types a stored value may have.
    static var allowedTopLevelTypes: [Any.Type] { get }
}

/// Keeps values of one Codable type as JSON; nothing but that type ever comes back.
///
/// ```swift
/// ValueTransformer.setValueTransformer(CodableValueTransformer<Color>(), forName: "Color")
/// ```
open class CodableValueTransformer<Value: Codable>: ValueTransformer, SecureValueTransforming, @unchecked Sendable {
    public override init() { super.init() }

    open class var allowedTopLevelTypes: [Any.Type] { [Value.self] }

    open override func transformedValue(_ value: Any?) -> Any? {
        guard let value = value as? Value else { return nil }
        let encoder = JSONEncoder()
        // Equal values must be equal bytes.
        encoder.outputFormatting = .sortedKeys
        do { return try encoder.encode([value]) } catch { return nil }
    }

    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        do { return try JSONDecoder().decode([Value].self, from: data).first } catch { return nil }
    }
}

extension ManagedObject {
    /// The value that the transformer makes of the stored bytes; nil with an error reported when it cannot.
    final func transformedValue(at index: Int) -> Any? {
        if _state & ObjectState.readMask != 0 { _willRead(index) }
        let property = _entity.properties[index]
        do { return try readTransformed(property) } catch {
            report(ManagedObjectContext.typed(error))
            return nil
        }
    }

    final func readTransformed(_ property: PropertyRuntime) throws -> Any? {
        guard property.isInRow, !_isNull(property.place) else { return nil }
        if let known = _extras?.decoded[property.index] { return known }
        let transformer = try property.transformer(place(property.name))
        let bytes = Data(_bytes(property.place))
        guard let value = transformer.reverseTransformedValue(bytes) else {
            throw StrataError(
                .transformation, "The stored bytes are no value of the transformer.", context: place(property.name))
        }
        if let secure = transformer as? any SecureValueTransforming,
            !Swift.type(of: secure).allowedTopLevelTypes.contains(where: { $0 == Swift.type(of: value) })
        {
            throw StrataError(
                .transformation, "The stored value is of a type that is not allowed.", context: place(property.name))
        }
        ensureExtras().decoded[property.index] = value
        return value
    }

    /// Sets a transformable; a value that the transformer does not take is refused with a reported error.
    final func setTransformedValue(_ value: Any?, at index: Int) {
        let property = _entity.properties[index]
        reporting { try write(try boxed(value, for: property), to: property) }
    }

}

extension PropertyRuntime {
    /// The bytes that the attribute's transformer makes of a value.
    func transformed(_ value: Any, _ place: @autoclosure () -> StrataError.Context) throws -> Data {
        guard let data = try transformer(place()).transformedValue(value) as? Data else {
            throw StrataError(
                .transformation, "The transformer does not take a \(Swift.type(of: value)).", context: place())
        }
        return data
    }

    func transformer(_ place: @autoclosure () -> StrataError.Context) throws -> ValueTransformer {
        let name = attribute?.valueTransformerName ?? ""
        #if canImport(ObjectiveC)
            let found = ValueTransformer(forName: NSValueTransformerName(name))
        #else
            let found = ValueTransformer.valueTransformer(forName: name)
        #endif
        guard let found else {
            throw StrataError(
                .transformation, "No value transformer is registered as \"\(name)\".", context: place())
        }
        return found
    }
}
