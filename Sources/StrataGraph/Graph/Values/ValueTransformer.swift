import Foundation
import Locking
import StrataModel

#if !canImport(ObjectiveC)
    /// Converts values of some type to bytes and back, for transformable attributes.
    ///
    /// It replaces Foundation's class of the same name where that is missing. A transformable attribute calls
    /// `transformedValue(_:)` to get `Data`, and `reverseTransformedValue(_:)` to get the value back. Many threads call
    /// a transformer at once, so it keeps no state.
    open class ValueTransformer: @unchecked Sendable {
        // Transformers by name. Guarded by the mutex.
        private static let registry = Locked<[String: ValueTransformer]>([:])

        /// Makes a transformer, to be registered.
        public init() {}

        /// Registers a transformer under a name, in place of an earlier one; nil removes it.
        public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: String) {
            registry.withLock { $0[name] = transformer }
        }

        /// The transformer that is registered under a name.
        public class func valueTransformer(forName name: String) -> ValueTransformer? {
            registry.withLock { $0[name] }
        }

        /// The names of all registered transformers, sorted.
        public class func valueTransformerNames() -> [String] { registry.withLock { $0.keys.sorted() } }

        /// Whether bytes can be converted back to values, which transformable attributes need.
        open class func allowsReverseTransformation() -> Bool { true }

        /// Converts a value to bytes; nil if it is not of the transformer's type.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// Converts bytes to a value; nil if they do not encode one.
        open func reverseTransformedValue(_ value: Any?) -> Any? { nil }
    }
#endif

/// A transformer that limits the types of values that stored bytes may become.
public protocol SecureValueTransforming {
    /// The types that a stored value may have.
    static var allowedTopLevelTypes: [Any.Type] { get }
}

/// A transformer that stores values of one Codable type as JSON.
///
/// ```swift
/// ValueTransformer.setValueTransformer(CodableValueTransformer<Color>(), forName: "Color")
/// ```
open class CodableValueTransformer<Value: Codable>: ValueTransformer, SecureValueTransforming, @unchecked Sendable {
    /// Makes a transformer, to be registered.
    public override init() { super.init() }

    /// The type of the values, and no other.
    open class var allowedTopLevelTypes: [Any.Type] { [Value.self] }

    /// Encodes a value as JSON with sorted keys, so that equal values have equal bytes.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let value = value as? Value else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do { return try encoder.encode([value]) } catch { return nil }
    }

    /// Decodes a value from JSON; nil if that fails.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        do { return try JSONDecoder().decode([Value].self, from: data).first } catch { return nil }
    }
}

extension ManagedObject {
    /// The value of a transformable attribute; nil, with the error reported, if its bytes cannot be converted.
    final func transformedValue(at index: Int) -> Any? {
        if _state & ObjectState.readMask != 0 { _willRead(index) }
        let property = _entity.properties[index]
        do { return try readTransformed(property) } catch {
            report(ManagedObjectContext.typed(error))
            return nil
        }
    }

    final func readTransformed(_ property: PropertyRuntime) throws -> Any? {
        guard property.isInRow, !_isNull(property.location) else { return nil }
        if let known = _extras?.decoded[property.index] { return known }
        var bytes = Data(_bytes(property.location))
        if property.cipher != nil {
            guard case .data(let plain) = try decryptedValue(property) else { return nil }
            bytes = plain
        }
        guard let transformer = try property.transformer(errorContext(property.name)) else {
            return try readStandard(property, bytes)
        }
        guard let value = transformer.reverseTransformedValue(bytes) else {
            throw StrataError(
                .transformation, "The transformer cannot convert the stored bytes to a value.",
                context: errorContext(property.name))
        }
        if let secure = transformer as? any SecureValueTransforming,
            !Swift.type(of: secure).allowedTopLevelTypes.contains(where: { $0 == Swift.type(of: value) })
        {
            throw StrataError(
                .transformation, "The stored value is of a type that is not allowed.",
                context: errorContext(property.name))
        }
        ensureExtras().decoded[property.index] = value
        return value
    }

    private final func readStandard(_ property: PropertyRuntime, _ bytes: Data) throws -> Any? {
        var failure: (any Error)?
        do {
            if let value = try StandardTransformer(property.valueType).value(of: bytes) {
                ensureExtras().decoded[property.index] = value
                return value
            }
        } catch {
            failure = error
        }
        throw StrataError(
            .transformation, "The stored bytes are no value of the attribute, or another transformer made them.",
            context: errorContext(property.name), cause: failure)
    }

    /// Sets a transformable attribute. A value that the transformer does not accept is refused with a reported error.
    final func setTransformedValue(_ value: Any?, at index: Int) {
        let property = _entity.properties[index]
        reporting { try write(try boxed(value, for: property), to: property) }
    }
}

extension PropertyRuntime {
    /// The bytes that the attribute's transformer makes of a value.
    func transformed(_ value: Any, _ context: @autoclosure () -> StrataError.Context) throws -> Data {
        let data: Data?
        if let transformer = try transformer(context()) {
            data = transformer.transformedValue(value) as? Data
        } else {
            do { data = try StandardTransformer(valueType).data(of: value) } catch {
                throw StrataError(
                    .transformation, "The value cannot be encoded.", context: context(), cause: error)
            }
        }
        guard let data else {
            throw StrataError(
                .transformation, "The transformer does not accept a \(Swift.type(of: value)).", context: context())
        }
        return data
    }

    /// The registered transformer that the model names; nil for the standard one.
    func transformer(_ context: @autoclosure () -> StrataError.Context) throws -> ValueTransformer? {
        let name = attribute?.valueTransformerName ?? ""
        let isStandard = StandardTransformer.isMeant(by: name)
        let found = Self.registeredTransformer(name)
        guard found != nil || isStandard else {
            throw StrataError(
                .transformation, "No value transformer is registered as \"\(name)\".", context: context())
        }
        return found
    }

    static func registeredTransformer(_ name: String) -> ValueTransformer? {
        #if canImport(ObjectiveC)
            // Foundation has transformers of its own under these names, for Objective-C's classes alone.
            StandardTransformer.isMeant(by: name) ? nil : ValueTransformer(forName: NSValueTransformerName(name))
        #else
            ValueTransformer.valueTransformer(forName: name)
        #endif
    }
}
