public import Foundation

/// A type whose values can be arguments of a format string, for `%@`, `%d` and the other specifiers.
///
/// Strings, numbers, Booleans, dates, UUIDs, URLs, data, object ids, managed objects, expressions, `NSNull`, optionals,
/// and arrays and sets of them conform. An enum with such a raw value needs only to declare the conformance.
public protocol FetchArgument {
    /// The value as an expression.
    var fetchExpression: FetchExpression { get }
}

extension FetchArgument where Self: RawRepresentable, RawValue: FetchArgument {
    /// The raw value as an expression.
    public var fetchExpression: FetchExpression { rawValue.fetchExpression }
}

extension FetchExpression: FetchArgument {
    /// The expression itself.
    public var fetchExpression: FetchExpression { self }
}

extension AttributeValue: FetchArgument {
    /// The value as a constant.
    public var fetchExpression: FetchExpression { .constant(self) }
}

extension Optional: FetchArgument where Wrapped: FetchArgument {
    /// The wrapped value as an expression, or nil.
    public var fetchExpression: FetchExpression { map(\.fetchExpression) ?? .constant(.null) }
}

// MARK: Numbers

extension FixedWidthInteger {
    /// A whole number, or a decimal if it does not fit into 64 bits.
    fileprivate var expression: FetchExpression {
        .constant(Int64(exactly: self).map(AttributeValue.integer) ?? .decimal(Decimal(string: description) ?? .nan))
    }
}

extension Int: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension Int8: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension Int16: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension Int32: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension Int64: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension UInt: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension UInt8: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension UInt16: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension UInt32: FetchArgument { public var fetchExpression: FetchExpression { expression } }
extension UInt64: FetchArgument { public var fetchExpression: FetchExpression { expression } }

extension Double: FetchArgument { public var fetchExpression: FetchExpression { .constant(.double(self)) } }

extension Float: FetchArgument {
    /// The double with the same decimal representation, which equals this Float when compared with a Float attribute.
    public var fetchExpression: FetchExpression { .constant(.double(Double(description) ?? Double(self))) }
}

extension Decimal: FetchArgument { public var fetchExpression: FetchExpression { .constant(.decimal(self)) } }
extension Bool: FetchArgument { public var fetchExpression: FetchExpression { .constant(.boolean(self)) } }

extension NSNumber: FetchArgument {
    /// The number, Boolean or decimal as a constant.
    public var fetchExpression: FetchExpression {
        if let decimal = self as? NSDecimalNumber { return .constant(.decimal(decimal.decimalValue)) }
        switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "B"): return boolValue.fetchExpression
        // NSNumber stores Booleans as characters.
        case UInt8(ascii: "c") where int8Value == 0 || int8Value == 1: return boolValue.fetchExpression
        case UInt8(ascii: "f"): return floatValue.fetchExpression
        case UInt8(ascii: "d"): return doubleValue.fetchExpression
        case UInt8(ascii: "Q"): return uint64Value.fetchExpression
        default: return int64Value.fetchExpression
        }
    }
}

// MARK: Text and others

extension String: FetchArgument { public var fetchExpression: FetchExpression { .constant(.string(self)) } }
extension Substring: FetchArgument { public var fetchExpression: FetchExpression { .constant(.string(String(self))) } }
extension Character: FetchArgument { public var fetchExpression: FetchExpression { .constant(.string(String(self))) } }
extension Date: FetchArgument { public var fetchExpression: FetchExpression { .constant(.date(self)) } }
extension UUID: FetchArgument { public var fetchExpression: FetchExpression { .constant(.uuid(self)) } }
extension URL: FetchArgument { public var fetchExpression: FetchExpression { .constant(.url(self)) } }
extension Data: FetchArgument { public var fetchExpression: FetchExpression { .constant(.data(self)) } }
extension ObjectID: FetchArgument { public var fetchExpression: FetchExpression { .constant(.objectID(self)) } }
extension NSNull: FetchArgument { public var fetchExpression: FetchExpression { .constant(.null) } }

// MARK: Lists

extension Array: FetchArgument where Element: FetchArgument {
    /// The members as a list.
    public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}

extension ArraySlice: FetchArgument where Element: FetchArgument {
    /// The members as a list.
    public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}

extension Set: FetchArgument where Element: FetchArgument {
    /// The members as a list, in no particular order.
    public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}

extension ClosedRange: FetchArgument where Bound: FetchArgument {
    /// The two bounds as a list, as `BETWEEN` takes them.
    public var fetchExpression: FetchExpression {
        .aggregate([lowerBound.fetchExpression, upperBound.fetchExpression])
    }
}

/// Converts arguments that are typed as `Any`.
enum UntypedArgument {
    /// The value as an expression; nil if its type cannot be an argument.
    static func expression(_ value: Any?) -> FetchExpression? {
        switch value {
        case nil: .constant(.null)
        case let argument as any FetchArgument: argument.fetchExpression
        case let list as [Any?]: aggregate(list)
        case let set as Set<AnyHashable>: aggregate(set.map(\.base))
        default: nil
        }
    }

    private static func aggregate(_ values: [Any?]) -> FetchExpression? {
        var parts: [FetchExpression] = []
        for value in values {
            guard let part = expression(value) else { return nil }
            parts.append(part)
        }
        return .aggregate(parts)
    }
}
